import type { Connection } from '../../../browser/connection.ts';
import { isVisible, joinTabs, type PageBrowser, takeTurn, watchBrowser } from './page-browser.ts';
import type { ThreadChatOptions } from './thread-route.ts';
import type { ThreadReader } from './thread-reader.ts';

/** The part of a page that following its thread uses. */
interface FollowingPage {
  /** The thread's id. */
  id: string;
  browser: PageBrowser;
  connection: Connection;
  reader: ThreadReader;
  wait: NonNullable<ThreadChatOptions['wait']>;
  /** Tabs that follow threads at the same route take turns. */
  api: string;
}

/* Each is below the two seconds within which a page shows a change. */
const firstMs = 500;
const longestMs = 1_500;
const turnMs = 1_000;
const longestFailedMs = 10_000;

/**
 * Keeps a page up to date with other people's changes in its thread, while the page is visible. One tab of a browser at a time holds a
 * request open, because browsers allow few: a tab that has waited for a second takes over the turn. It tells the others of a change at
 * once.
 */
export class ThreadFollower {
  readonly #page: FollowingPage;
  #interruption = new AbortController();
  #followed: AbortSignal | undefined;
  #tellTabs: (id: string) => void = () => {};

  constructor(page: FollowingPage) {
    this.#page = page;
  }

  /** Follows the thread until the signal aborts. Does nothing for a signal that has aborted, or by which the thread is followed already. */
  follow(signal: AbortSignal): void {
    if (signal.aborted || signal === this.#followed) return;
    this.#followed = signal;
    const { id, api, browser, connection, reader } = this.#page;
    connection.isWatched = true;
    if (browser.navigator?.onLine === false) connection.report(false);
    const notice = (what: 'visibility' | 'online' | 'offline'): void => {
      /* Only a hint, as a local server can be reached without a network: the next read shows the truth. */
      if (what === 'offline') connection.report(false);
      if (what === 'online') connection.retryNow();
      this.interrupt();
      if (isVisible(browser)) void reader.refresh();
    };
    watchBrowser(browser, notice, signal);
    const hear = (changed: unknown): void => {
      if (changed === id && isVisible(browser)) void reader.look(signal, { isHeld: false });
    };
    this.#tellTabs = joinTabs(browser, `holdpoint ${api}`, hear, signal);
    void this.#run(signal);
  }

  /** Ends the request that is held open, for example because a stream begins, which shows the changes. */
  interrupt(): void {
    const interruption = this.#interruption;
    this.#interruption = new AbortController();
    interruption.abort();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { browser, api, wait } = this.#page;
    while (!signal.aborted) {
      const interrupted = AbortSignal.any([signal, this.#interruption.signal]);
      if (isVisible(browser)) {
        await takeTurn(browser, `holdpoint ${api}`, async (taken) =>
          this.#look(AbortSignal.any([interrupted, taken])),
        );
        if (!interrupted.aborted) await wait(turnMs, interrupted);
      } else await awaitAbort(interrupted);
    }
  }

  /** Polls for changes until the turn ends: less often if there are none, and after failures. */
  async #look(turn: AbortSignal): Promise<void> {
    const { id, reader, wait, connection } = this.#page;
    let delay = firstMs;
    while (!turn.aborted) {
      const seen = await reader.look(turn, { isHeld: connection.isReachable });
      if (seen === 'changed') this.#tellTabs(id);
      if (seen === 'changed' || seen === 'busy') delay = firstMs;
      if (!turn.aborted) await wait(delay, turn);
      delay = Math.min(delay * 2, seen === 'failed' ? longestFailedMs : longestMs);
    }
  }
}

async function awaitAbort(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
