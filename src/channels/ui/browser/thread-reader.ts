import type { UIMessage } from 'ai';
import { z } from 'zod';
import type { PageState } from './page-state.ts';
import { readRights } from './read-rights.ts';
import { type ThreadChatOptions, ThreadRoute } from './thread-route.ts';

/** A thread as `GET` returns it. */
export type StoredThread = z.infer<typeof storedSchema>;

const messageSchema = z.custom<UIMessage>(
  (value) =>
    z.looseObject({ id: z.string(), parts: z.array(z.unknown()) }).safeParse(value).success,
);

const storedSchema = z.object({
  messages: z.array(messageSchema),
  status: z.string(),
  viewer: z.string().optional(),
  rights: z.unknown().default([]).transform(readRights),
  failure: z.object({ text: z.string() }).optional(),
});

/** What reading a thread needs from the page that shows it. */
interface ReadingPage {
  route: ThreadRoute;
  page: PageState;
  wait: NonNullable<ThreadChatOptions['wait']>;
  /** Aborted when the page is closed. */
  signal: () => AbortSignal;
  /** Whether no stream is under way. */
  isIdle: () => boolean;
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
  #isPolling = false;
  /** Whether the page may show less than the server has. */
  isStale = false;

  constructor(page: ReadingPage) {
    this.#page = page;
  }

  /** Begins anew, for a page that was closed and is opened again. */
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

  /** Reads the thread again if it has changed since the page saw it. */
  async poll(seen: string | undefined): Promise<void> {
    const signal = this.#page.signal();
    if (seen === undefined || !this.#page.isIdle() || this.#isPolling || signal.aborted) return;
    this.#isPolling = true;
    try {
      const { status } = await this.#page.route.get(seen);
      if (status !== 204 && !signal.aborted) await this.refresh();
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#isPolling = false;
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
