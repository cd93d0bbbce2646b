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

/** The event of a message from another tab. */
interface Said {
  readonly type: string;
  readonly data?: unknown;
}

/** The channel between the tabs of a browser. */
interface PageChannel {
  postMessage(message: string): void;
  addEventListener(type: 'message', listener: (event: Said) => void): void;
  close(): void;
}

/** Checks whether the page can be seen. */
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
 * Calls `act` while no other tab of the browser does, and aborts its signal when another tab takes its turn. Resolves when `act` has ended.
 * A browser without locks is not limited, nor is a single page.
 */
export async function takeTurn(
  { navigator, document }: PageBrowser,
  name: string,
  act: (taken: AbortSignal) => Promise<void>,
): Promise<void> {
  const taken = new AbortController();
  /* Node has locks too, which would be shared by all pages in it. Browsers refuse them to a page without an origin. */
  if (document === undefined || navigator?.locks === undefined) return act(taken.signal);
  let acting: Promise<void> | undefined;
  const hold = async (): Promise<void> => (acting = act(taken.signal));
  await navigator.locks.request(name, { steal: true }, hold).catch(() => taken.abort());
  await (acting ?? act(new AbortController().signal));
}

/**
 * Calls `listener` with the messages of the browser's other tabs, until the signal aborts. Returns the function that sends them a message.
 */
export function joinTabs(
  { document, BroadcastChannel }: PageBrowser,
  name: string,
  listener: (said: unknown) => void,
  signal: AbortSignal,
): (text: string) => void {
  /* As with the locks, pages in Node would get each other's messages. */
  if (document === undefined || BroadcastChannel === undefined) return () => {};
  const channel = new BroadcastChannel(name);
  channel.addEventListener('message', ({ data }) => listener(data));
  signal.addEventListener('abort', () => channel.close(), { once: true });
  return (text) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no target: it stays within its origin.
    if (!signal.aborted) channel.postMessage(text);
  };
}
