import type { ThreadEvent } from './thread-event.ts';
import type { ThreadStatus } from './thread-state.ts';

/** What a store knows of a thread without reading its events; for inboxes and workers. */
export interface ThreadSummary {
  threadId: string;
  /** As of the last append; leases and requests run out without a write. */
  status: ThreadStatus;
  /** How many events the thread has. */
  revision: number;
  /** How many requests wait for an answer. */
  openRequests: number;
  /**
   * When somebody has to look after the thread, in milliseconds since 1970: the next lease or request runs out, or, at once, a
   * run is owed (an answer was recorded by `respond`, or a run ended before the model had spoken).
   */
  nextDeadline?: number;
  /** When the last event was appended, in milliseconds since 1970. */
  updatedAt: number;
}

/** Which summaries to list. They come in the order of thread ids. */
export interface ThreadQuery {
  status?: ThreadStatus;
  /** Only threads whose `nextDeadline` is before this, in milliseconds since 1970. */
  dueBefore?: number;
  /** Only threads whose id comes after this one: the last of the page before. */
  after?: string;
  /** How many at the most. Default 100. */
  limit?: number;
}

/**
 * Where threads are kept. The one write is a compare-and-swap, and that is what makes a call start at most once:
 * a store without an atomic `append` can't be one. Keep events as the text of `encodeEvent`; `jsonb` and its
 * like change bytes.
 */
export interface ThreadStore {
  /** Events after `afterRevision` (default 0), oldest first; `[]` for a thread that was never written. */
  read(threadId: string, afterRevision?: number): Promise<ThreadEvent[]>;
  /**
   * Appends all of `events` or none, and `summary` in the same transaction; durable when it resolves.
   * Throws a `HoldpointError` `revision-conflict` unless the thread is at `expectedRevision`.
   */
  append(
    threadId: string,
    expectedRevision: number,
    events: readonly ThreadEvent[],
    summary: ThreadSummary,
  ): Promise<void>;
  /** The summary alone. */
  head(threadId: string): Promise<ThreadSummary | undefined>;
  /** Summaries, for inboxes and workers, in pages. */
  list(query: ThreadQuery): Promise<ThreadSummary[]>;
  /**
   * Wakes `listener` when somebody, in any process, has appended to a thread and does not leave it `running`, with its id; and
   * without one when anything may have changed. For stores that can; others are polled. Gives back what ends it.
   */
  subscribe?(listener: (threadId?: string) => void): () => Promise<void>;
}
