import type { UIMessage } from 'ai';
import { z } from 'zod';
import { isForeign } from '../../../browser/lost-connection.ts';
import type { PageState } from './page-state.ts';
import { readRights } from './read-rights.ts';
import { type ThreadChatOptions, ThreadRoute } from './thread-route.ts';

/** A thread in the response to `GET`. */
export type StoredThread = z.infer<typeof storedSchema>;

const messageSchema = z.custom<UIMessage>(
  (value) =>
    z.looseObject({ id: z.string(), parts: z.array(z.unknown()) }).safeParse(value).success,
);

const storedSchema = z.object({
  messages: z.array(messageSchema),
  /** Absent in responses of an app's own route: its thread is not followed. */
  revision: z.number().optional(),
  status: z.string(),
  viewer: z.string().optional(),
  rights: z.unknown().default([]).transform(readRights),
  failure: z.object({ text: z.string() }).optional(),
});

const stateSchema = z.object({ revision: z.number(), status: z.string() });

/** Writes a thread's state in the form that the route compares. */
export function renderState({ revision, status }: z.infer<typeof stateSchema>): string {
  return `${revision}.${status}`;
}

/* The time after which a held request is given up: longer than a server holds it by default. */
const longestHeldMs = 27_000;

/** The part of a page that reading its thread uses. */
interface ReadingPage {
  route: ThreadRoute;
  page: PageState;
  wait: NonNullable<ThreadChatOptions['wait']>;
  /** Aborted when the page is closed. */
  signal: () => AbortSignal;
  /** Checks whether no stream is under way. */
  isIdle: () => boolean;
  /** The thread's state as the page shows it; `undefined` while it shows none. */
  seen: () => string | undefined;
  show: (stored: StoredThread) => void;
  /** Called when the server refuses to let the page read the thread. */
  onUnread: (status: number, refused: string) => void;
  /** Called when the server has read the thread for another person than the one for whom the page was loaded. */
  onOtherViewer: () => void;
}

/** Reads a thread again for its page: now, or after the current stream, once at a time. */
export class ThreadReader {
  readonly #page: ReadingPage;
  #reading: Promise<void> | undefined;
  /** True if the page may show less than the server has. */
  isStale = false;

  constructor(page: ReadingPage) {
    this.#page = page;
  }

  /** Opens the reader again for a page that was closed. */
  async open(): Promise<void> {
    this.#reading = undefined;
    await this.refresh();
  }

  async refresh(): Promise<void> {
    this.isStale = true;
    const reading = (this.#reading ??= this.#catchUp(this.#page.signal()));
    await reading;
    if (this.#reading === reading) this.#reading = undefined;
  }

  async refreshLater(milliseconds: number): Promise<void> {
    const signal = this.#page.signal();
    if (milliseconds > 0) await this.#page.wait(milliseconds, signal);
    else await new Promise((resolve) => setTimeout(resolve));
    if (!signal.aborted) await this.refresh();
  }

  /**
   * Finds out whether the thread has changed since the page saw it, and if so, reads it again. `isHeld`: waits at the server for the next
   * change. `busy`: the page has nothing to compare, or gets its changes from a stream.
   */
  async look(
    turn: AbortSignal,
    { isHeld }: { isHeld: boolean },
  ): Promise<'busy' | 'same' | 'changed' | 'failed'> {
    const { isIdle, page, route } = this.#page;
    const seen = this.#page.seen();
    const signal = AbortSignal.any([turn, this.#page.signal()]);
    /* A page that sends or streams can't notice a dead connection in another way. */
    const isTold = !isIdle() && route.connection.isReachable;
    if (seen === undefined || isTold || signal.aborted) return 'busy';
    try {
      const state = await this.#compare(seen, signal, isHeld);
      if (signal.aborted || !isIdle()) return 'busy';
      if (state === 'same' && !page.isUnread) return 'same';
      await this.refresh();
      return page.isUnread ? 'failed' : 'changed';
    } catch {
      return signal.aborted ? 'busy' : 'failed';
    }
  }

  /** Checks whether the thread is as the page saw it. If a held request fails to tell, one that isn't held asks again. */
  async #compare(
    seen: string,
    signal: AbortSignal,
    isHeld: boolean,
  ): Promise<'same' | 'different'> {
    const { route } = this.#page;
    const held = isHeld ? await this.#hold(seen, signal) : undefined;
    const state = held ?? (await readState(await route.get(seen, signal), seen));
    return state === seen ? 'same' : 'different';
  }

  /** Waits for the thread's next state; `undefined` if the connection is lost before. */
  async #hold(seen: string, signal: AbortSignal): Promise<string | undefined> {
    const { route, wait } = this.#page;
    const ended = new AbortController();
    const cut = (): void => ended.abort();
    void wait(longestHeldMs, AbortSignal.any([signal, ended.signal])).then(cut, cut);
    try {
      const response = await route.hold(seen, AbortSignal.any([signal, ended.signal]));
      return response && (await readState(response, seen));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof TypeError || ended.signal.aborted) return undefined;
      throw error;
    } finally {
      cut();
    }
  }

  async read(): Promise<StoredThread | undefined> {
    const { route, page, onUnread, onOtherViewer } = this.#page;
    const { viewer } = page.state;
    const signal = this.#page.signal();
    const response = await route.get();
    const body = await response.text();
    if (signal.aborted) return undefined;
    if (!response.ok) {
      onUnread(response.status, body);
      return undefined;
    }
    const stored = storedSchema.parse(JSON.parse(body));
    if (viewer === undefined || viewer === stored.viewer) return stored;
    onOtherViewer();
    return undefined;
  }

  async #catchUp(signal: AbortSignal): Promise<void> {
    const { page, isIdle, show } = this.#page;
    while (this.isStale && isIdle() && !signal.aborted) {
      this.isStale = false;
      try {
        const stored = await this.read();
        if (signal.aborted) return;
        /* A stream that has begun meanwhile is newer. */
        if (!isIdle()) this.isStale = true;
        else if (stored !== undefined) show(stored);
      } catch {
        if (!signal.aborted) page.showUnreadable(500, '');
      }
    }
  }
}

/** The state in a response to a page that has seen one; `undefined` if there is none. */
async function readState(response: Response, seen: string): Promise<string | undefined> {
  if (response.status === 204) return seen;
  const text = await response.text();
  if (!response.ok || isForeign(response)) return undefined;
  const { data } = stateSchema.safeParse(JSON.parse(text));
  return data && renderState(data);
}
