/** The parts of a browser that a page which follows a thread uses. Each may be missing: without a `document` the page counts as visible. */
export interface PageBrowser {
  document?: {
    readonly visibilityState: string;
    addEventListener(type: 'visibilitychange', listener: () => void): void;
    removeEventListener(type: 'visibilitychange', listener: () => void): void;
  };
  navigator?: { readonly onLine?: boolean; readonly locks?: PageLocks };
  BroadcastChannel?: new (name: string) => PageChannel;
  addEventListener?(type: 'online' | 'offline', listener: () => void): void;
  removeEventListener?(type: 'online' | 'offline', listener: () => void): void;
}

/** The locks that the tabs of a browser share. */
interface PageLocks {
  request(name: string, options: { steal: true }, hold: () => Promise<unknown>): Promise<unknown>;
}

/** The event of a message, whose `data` is what was said. */
interface Said {
  readonly type: string;
  readonly data?: unknown;
}

/** What the tabs of a browser hear of each other. */
interface PageChannel {
  postMessage(message: string): void;
  addEventListener(type: 'message', listener: (event: Said) => void): void;
  close(): void;
}

/** Whether the page can be seen. */
export function isVisible({ document }: PageBrowser): boolean {
  return document === undefined || document.visibilityState === 'visible';
}

/** Calls `listener` when the page is shown or hidden, and when the browser goes online or offline, until the signal aborts. */
export function watchBrowser(
  browser: PageBrowser,
  listener: (what: 'visibility' | 'online' | 'offline') => void,
  signal: AbortSignal,
): void {
  const changed = (): void => listener('visibility');
  const online = (): void => listener('online');
  const offline = (): void => listener('offline');
  const { document } = browser;
  document?.addEventListener('visibilitychange', changed);
  browser.addEventListener?.('online', online);
  browser.addEventListener?.('offline', offline);
  const end = (): void => {
    document?.removeEventListener('visibilitychange', changed);
    browser.removeEventListener?.('online', online);
    browser.removeEventListener?.('offline', offline);
  };
  signal.addEventListener('abort', end, { once: true });
}

/**
 * Calls `act` while no other tab of the browser does, and aborts its signal when another one takes its turn. Resolves when `act` has
 * ended. A browser without such locks, and a page that has no others beside it, is not limited.
 */
export async function takeTurn(
  { navigator, document }: PageBrowser,
  name: string,
  act: (taken: AbortSignal) => Promise<void>,
): Promise<void> {
  const taken = new AbortController();
  /* Node has locks too, which its pages would share. Browsers refuse them to a page without an origin. */
  if (document === undefined || navigator?.locks === undefined) return act(taken.signal);
  let acting: Promise<void> | undefined;
  const hold = async (): Promise<void> => (acting = act(taken.signal));
  await navigator.locks.request(name, { steal: true }, hold).catch(() => taken.abort());
  await (acting ?? act(new AbortController().signal));
}

/** Calls `listener` with what other tabs of the browser say, until the signal aborts. Returns the function that says something to them. */
export function joinTabs(
  { document, BroadcastChannel }: PageBrowser,
  name: string,
  listener: (said: unknown) => void,
  signal: AbortSignal,
): (text: string) => void {
  /* As with the locks, pages in Node would hear each other. */
  if (document === undefined || BroadcastChannel === undefined) return () => {};
  const channel = new BroadcastChannel(name);
  channel.addEventListener('message', ({ data }) => listener(data));
  signal.addEventListener('abort', () => channel.close(), { once: true });
  return (text) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no target: it stays within its origin.
    if (!signal.aborted) channel.postMessage(text);
  };
}
