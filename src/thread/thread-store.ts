import type { ThreadStatus } from './thread-status.ts';

/**
 * One append as a store keeps it: the events that became durable together, as one JSON text. A store keeps the text as it is and
 * never looks inside; `eventsOf` of `holdpoint/schemas` reads it.
 */
export interface LogEntry {
  /** The number of the entry's last event, counted from 1: how many events the thread has after this append. */
  readonly revision: number;
  /** The text, to be kept to the letter. `jsonb` and its like change it, and the log then no longer opens. */
  readonly text: string;
}

/** Where a log ends: what the next entry must follow. */
export interface LogEnd {
  /** How many events the log has; 0 for a thread that was never written. */
  readonly revision: number;
  /** The hash of its last entry; `''` for a thread that was never written. */
  readonly hash: string;
}

/** What a store knows about a thread without reading its log; for inboxes and workers. */
export interface ThreadSummary extends LogEnd {
  threadId: string;
  /** The name of the agent that the thread belongs to; absent for a thread of an agent without a name. */
  agent?: string;
  /** As of the last append. Leases and requests expire without a write, so compare `nextDeadline` with the time. */
  status: ThreadStatus;
  /** How many requests wait for an answer. */
  openRequests: number;
  /** How many runs in a row have failed; 0 when the last one did not. */
  failures: number;
  /**
   * When the thread needs a run, in milliseconds since 1970; 0 means at once. Absent while only people or the app can move
   * it. It is the earliest of: the lease runs out, a request expires, a failed run is retried, a tool is asked again about a lost call.
   */
  nextDeadline?: number;
  /** When the last event was appended, in milliseconds since 1970. */
  updatedAt: number;
}

/** Which threads are meant. Filters combine with "and"; without any, all threads are. */
export interface ThreadFilter {
  status?: ThreadStatus;
  /** Threads of the agent of this name; `null`: threads of agents without a name. */
  agent?: string | null;
  /** Threads whose `nextDeadline` is before this, in milliseconds since 1970. */
  dueBefore?: number;
  /** Threads whose last event is older than this, in milliseconds since 1970. */
  updatedBefore?: number;
}

/** Which summaries to list, and in which order. */
export interface ThreadQuery extends ThreadFilter {
  /** By thread id (the default), or by `updatedAt`. Threads that change while you page through them move in the latter two. */
  order?: 'id' | 'newest' | 'oldest';
  /** Only what comes after this summary in the order: the last one of the page before. */
  after?: Pick<ThreadSummary, 'threadId' | 'updatedAt'>;
  /** How many at most. Default 100. */
  limit?: number;
}

/** Which due threads a worker wants to have for itself for a while. */
export interface ThreadClaim {
  /** Threads of the agent of this name; `null`: threads of agents without a name. */
  agent: string | null;
  /** Threads whose `nextDeadline` is before this, in milliseconds since 1970. */
  dueBefore: number;
  /** Until when no other claim is given the same threads, in milliseconds since 1970. */
  until: number;
  /** How many at most. */
  limit: number;
  /** Only the thread of this id. */
  threadId?: string;
}

/** What a subscriber is told about an append. */
export interface ThreadNotice {
  threadId: string;
  /** The name of the agent that the thread belongs to. */
  agent?: string;
  /** The thread's `nextDeadline` after the append. */
  nextDeadline?: number;
}

/**
 * Where threads are kept. The one write is a compare-and-swap, and that is what makes a call start at most once:
 * a store without an atomic `append` is not possible. `storeConformance` of `holdpoint/testing/store` checks an implementation.
 */
export interface ThreadStore {
  /** Entries after `afterRevision` (default 0), oldest first; `[]` for a thread that was never written. */
  read(threadId: string, afterRevision?: number): Promise<LogEntry[]>;
  /**
   * Appends all of `entries` and replaces the summary, or does nothing; durable when it resolves. There is one entry, but for a
   * thread that is restored whole. Throws a `HoldpointError` `revision-conflict` unless the log ends at `expected`: revision and
   * hash must be equal, as a thread may have been deleted and begun anew under its id. The summary of the last append has them.
   */
  append(
    threadId: string,
    expected: LogEnd,
    entries: readonly LogEntry[],
    summary: ThreadSummary,
  ): Promise<void>;
  /** The summary alone. */
  head(threadId: string): Promise<ThreadSummary | undefined>;
  /** Summaries in pages, for inboxes and operators. */
  list(query: ThreadQuery): Promise<ThreadSummary[]>;
  /** How many threads there are. */
  count(filter: ThreadFilter): Promise<number>;
  /**
   * Removes the thread, its log and its summary. Throws `revision-conflict` unless the log ends at `expected`. The id is free again
   * afterwards.
   */
  delete(threadId: string, expected: LogEnd): Promise<void>;
  /**
   * Gives due threads to one worker: no other claim returns them before `until`, or before their next append. Only a
   * courtesy between workers, so that they don't read the same logs; the lease in the log is what keeps two from running one
   * thread. The store does it by setting `nextDeadline` to `until`, which the next append overwrites. Most overdue first.
   */
  claim(claim: ThreadClaim): Promise<ThreadSummary[]>;
  /**
   * Calls `listener` when anybody, in any process, appended to a thread that has a deadline and is not `running`; and
   * without a notice when anything may have changed. Without this method workers poll. Returns what ends the subscription. Throws, or
   * rejects at the first call, where the store can't listen.
   */
  subscribe?(listener: (notice?: ThreadNotice) => void): () => Promise<void>;
  /**
   * The store's own clock, in milliseconds since 1970, for stores that several machines share: leases and deadlines are measured
   * by it, so that clocks which differ do no harm. Without this method each process goes by its own clock.
   */
  now?(): Promise<number>;
}
