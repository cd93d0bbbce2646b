import type { RequestChange, ThreadStoreRequests } from './thread-store-requests.ts';

/**
 * One append as a store keeps it: the events that became durable together, as one JSON text. A store treats the text as opaque;
 * `eventsOf` of `holdpoint/schemas` decodes it.
 */
export interface LogEntry {
  /** The number of events of the thread after this append, which is the number of the entry's last event, from 1. */
  readonly revision: number;
  /** The text to store, byte for byte. Column types that rewrite JSON, such as `jsonb`, make the log unreadable. */
  readonly text: string;
}

/** The end of a log, which the next entry must follow. */
export interface LogEnd {
  /** The number of events in the log; 0 for a thread that was never written. */
  readonly revision: number;
  /** The hash of its last entry; `''` for a thread that was never written. */
  readonly hash: string;
}

/** The statuses of threads. */
export const threadStatuses = [
  'idle',
  'waiting',
  'due',
  'running',
  'indeterminate',
  'stuck',
] as const;

/**
 * The status of a thread. `idle`: ready for a message. `waiting`: for an answer, or for a result from outside. `due`: it waits for nobody,
 * and its next step needs a run, at once or, after a failed run, at `nextDeadline`. `running`: a run holds it. `indeterminate`: a call was
 * started and its outcome is unknown. `stuck`: too many runs in a row have failed, and the run is not retried.
 */
export type ThreadStatus = (typeof threadStatuses)[number];

/** The facts that a store has about a thread without reading its log, for inboxes and workers. */
export interface ThreadSummary extends LogEnd {
  /** The id of the thread. */
  threadId: string;
  /** The name of the agent that the thread belongs to; absent for an agent without a name. */
  agent?: string;
  /** The status as of the last append. Leases and requests expire without a write: compare `nextDeadline` with the current time. */
  status: ThreadStatus;
  /** The number of open requests. */
  openRequests: number;
  /** The number of runs in a row that have failed; 0 if the last one succeeded. */
  failures: number;
  /**
   * The time when the thread needs a run, in milliseconds since 1970; 0 means now. Absent while it waits only for people or the app. It is
   * the earliest time at which a lease, a request or a deferred call expires, a failed run is retried, or a lost call is recovered.
   */
  nextDeadline?: number;
  /**
   * The time of the last append, in milliseconds since 1970. While a run holds the thread, a store may keep the time when its present lease
   * began.
   */
  updatedAt: number;
}

/** Selects threads. Conditions combine with "and"; without any, all threads are selected. */
export interface ThreadFilter {
  /** Only threads of this status. */
  status?: ThreadStatus;
  /** Threads of the agent of this name; `null`: threads of agents without a name. */
  agent?: string | null;
  /** Threads whose `nextDeadline` is before this, in milliseconds since 1970. */
  dueBefore?: number;
  /** Threads whose `updatedAt` is before this, in milliseconds since 1970. */
  updatedBefore?: number;
}

/** Selects a page of summaries. */
export interface ThreadQuery extends ThreadFilter {
  /** The order: by thread id (the default), or by `updatedAt`, where threads that change move between pages. */
  order?: 'id' | 'newest' | 'oldest';
  /** Only summaries after this one in the order: the last summary of the previous page. */
  after?: Pick<ThreadSummary, 'threadId' | 'updatedAt'>;
  /** The maximum number of summaries. Default 100. */
  limit?: number;
}

/** Selects due threads for a worker to claim. */
export interface ThreadClaim {
  /** Threads of the agent of this name; `null`: threads of agents without a name. */
  agent: string | null;
  /** Threads whose `nextDeadline` is before this, in milliseconds since 1970. */
  dueBefore: number;
  /** The time until which other claims don't return these threads, in milliseconds since 1970. */
  until: number;
  /** The maximum number of threads. */
  limit: number;
  /** Only the thread with this id. */
  threadId?: string;
}

/** Notifies a subscriber of an append. */
export interface ThreadNotice {
  /** The type of a notice about an append. */
  type: 'thread';
  /** The id of the thread. */
  threadId: string;
  /** The name of the agent that the thread belongs to. */
  agent?: string;
  /** The thread's `nextDeadline` after the append. */
  nextDeadline?: number;
  /** The ids of the requests that were opened, changed or closed. Absent: none. */
  requestIds?: readonly string[];
}

/** A worker's notice to the other workers of its agent about its claims, so that one of them claims a due thread. */
export interface ClaimNotice {
  /** The type of a notice from a worker. */
  type: 'claim';
  /** The name of the agent whose threads the worker runs; absent for an agent without a name. */
  agent?: string;
  /** The id of the worker. */
  worker: string;
  /** The thread that it has claimed, or has tried to claim. Absent when the worker begins or ends, or when only `isFree` has changed. */
  threadId?: string;
  /** True if the worker can claim another thread now. */
  isFree: boolean;
}

/** The notices that a store sends to its subscribers. */
export type StoreNotice = ThreadNotice | ClaimNotice;

/**
 * A store of threads: the interface to implement for a database of your own, unless `deriveStore` of `holdpoint/stores/derive` makes it from
 * your four functions. `append` must be an atomic compare-and-swap: that makes a call start at most once. `storeConformance` of
 * `holdpoint/testing/store` tests an implementation.
 */
export interface ThreadStore {
  /** Entries with a revision above `afterRevision` (default 0), oldest first; `[]` for an unknown thread. */
  read(threadId: string, afterRevision?: number): Promise<LogEntry[]>;
  /**
   * Appends all of `entries` and replaces the summary, atomically; both are durable when it resolves. There is one entry, except
   * when a whole thread is restored. Throws a `HoldpointError` with code `revision-conflict`, and writes nothing, unless the log ends at
   * `expected`. Compare both revision and hash with the stored summary: another thread may have been created under the id of a deleted one.
   *
   * `beside` is absent for most appends. It is written in the same transaction, and only has fields for the parts that the store has.
   *
   * Throws a `HoldpointError` with code `grant-ended`, and writes nothing at all, if the log ends at `expected` but a grant of
   * `beside.grants` that is to be used does not exist, has expired, or has no use left, or a grant to be revoked does not exist.
   */
  append(
    threadId: string,
    expected: LogEnd,
    entries: readonly LogEntry[],
    summary: ThreadSummary,
    beside?: AppendedBeside,
  ): Promise<void>;
  /** The standing approvals that are wider than one thread. Without this property, only those for one thread can be made. */
  grants?: ThreadStoreGrants;
  /** Snapshots, from which long threads open faster. Without this property, threads are read whole. */
  snapshots?: ThreadStoreSnapshots;
  /** The open and decided requests of all threads, and the feed of their changes. Without this property, they are only found by thread. */
  requests?: ThreadStoreRequests;
  /** The deletion of many threads at once. Without this property, `deleteThreads` is refused. */
  deletion?: ThreadStoreDeletion;
  /** The summary of a thread; `undefined` for an unknown one. */
  head(threadId: string): Promise<ThreadSummary | undefined>;
  /** A page of summaries, for inboxes and operators. */
  list(query: ThreadQuery): Promise<ThreadSummary[]>;
  /**
   * Counts the threads that a filter selects. With `atMost`, no more than that are counted, which is quick however many there are: for a
   * badge that says "1,000 or more".
   */
  count(filter: ThreadFilter, options?: { atMost?: number }): Promise<number>;
  /**
   * Deletes the log, the summary and the requests of a thread, after which its id can be used again. Throws a `HoldpointError` with code
   * `revision-conflict`, and deletes nothing, unless the log ends at `expected`.
   */
  delete(threadId: string, expected: LogEnd): Promise<void>;
  /**
   * Claims due threads for one worker, most overdue first, by setting their `nextDeadline` to `until`; the next append overwrites it.
   * Other claims don't return them before then. A claim only keeps workers from reading the same logs. That a thread has one run at a
   * time is ensured by the lease in its log.
   */
  claim(claim: ThreadClaim): Promise<ThreadSummary[]>;
  /**
   * Calls `listener` after every append, by any process, to a thread that has a `nextDeadline` and is not `running`, and after every append
   * that changes requests. A notice may be lost, for example if a process ends right after its append. It is called without a notice when
   * any thread may have changed, and with what is passed to `send`. Returns a function that ends the subscription. If the store can't
   * listen, it throws, or the returned function rejects at its first call. Without this method, workers and pages that follow a thread
   * poll.
   */
  subscribe?(listener: (notice?: StoreNotice) => void): () => Promise<void>;
  /**
   * Sends a worker's notice to every subscriber, in this and other processes. Does not wait, and ignores errors; notices may be lost.
   * Without this method, every idle worker claims each thread that `subscribe` reports.
   */
  send?(notice: ClaimNotice): void;
  /**
   * The store's clock, in milliseconds since 1970. Stores that several machines share should have it: leases and deadlines are then
   * safe from differing clocks. Without this method, each process uses its own clock.
   */
  now?(): Promise<number>;
}

/** The end of the log of a thread. */
export interface ThreadEnd extends LogEnd {
  /** The id of the thread. */
  threadId: string;
}

/** The deletion of many threads at once: part of the interface for a database of your own. */
export interface ThreadStoreDeletion {
  /**
   * The child threads of these threads: those whose id begins with `call-`, the hash of an entry of the thread, and a full stop. The hash
   * is the 43 characters before the last two of the entry's text.
   */
  listChildren(threadIds: readonly string[]): Promise<(ThreadSummary & { parentId: string })[]>;
  /**
   * Deletes threads as `ThreadStore.delete` does, group by group: all threads of a group if the log of each ends as given, and none of them
   * otherwise. Returns the ids of the threads that it has deleted.
   */
  delete(groups: readonly (readonly ThreadEnd[])[]): Promise<string[]>;
}

/** The writes of an append beside the log. */
export interface AppendedBeside {
  /** The standing approvals that are made, used or revoked, for a store that has `grants`. */
  grants?: readonly GrantChange[];
  /**
   * The snapshot, for a store that has `snapshots`: it replaces the thread's earlier one, and is deleted with the thread. It comes only now
   * and then, to a log that has entries or with a whole thread, and never together with `grants`.
   */
  snapshot?: string;
  /** The changes of requests, at most one for each request, in order, for a store that has `requests`. */
  requests?: readonly RequestChange[];
}

/** The snapshots of a store: part of the interface for a database of your own. */
export interface ThreadStoreSnapshots {
  /** The snapshot that was last appended to a thread, byte for byte; `undefined` if there is none. */
  read(threadId: string): Promise<string | undefined>;
  /** The minimum number of events and messages by which a thread grows before the next snapshot. Default 64. */
  every?: number;
}

/** A change of the store's standing approvals, written together with the entries of an append. */
export type GrantChange =
  | {
      /** Adds a standing approval. */
      type: 'create';
      /** The standing approval. */
      grant: StoredGrant;
    }
  | {
      /** Takes one of its uses; the last one deletes it. One append may use it several times. */
      type: 'use';
      /** The id of the standing approval. */
      grantId: string;
      /** The time, in milliseconds since 1970. */
      at: number;
    }
  | {
      /** Deletes it, with any uses that are left. No append revokes one that it creates or uses. */
      type: 'revoke';
      /** The id of the standing approval. */
      grantId: string;
    };

/** A standing approval that is wider than one thread, as a store keeps it. */
export interface StoredGrant {
  /** The id of the standing approval. */
  grantId: string;
  /** The name of the agent; `null` for an agent without a name. */
  agent: string | null;
  /** The tool whose calls it decides. */
  toolName: string;
  /** The person whose calls it decides, as text; `null` for everyone's. */
  person: string | null;
  /** The whole grant as JSON, which a store treats as opaque. */
  text: string;
  /** The time when it was made, in milliseconds since 1970. */
  createdAt: number;
  /** The time when it ends, in milliseconds since 1970. Absent: never. */
  expiresAt?: number;
  /** The number of further calls that it decides, 1 or more. Absent: no limit. */
  usesLeft?: number;
}

/** The standing approvals of a store: part of the interface for a database of your own. */
export interface ThreadStoreGrants {
  /**
   * The grants that could decide a call, oldest first: of this agent and tool, for everyone or for `person`, not expired at `at`
   * (milliseconds since 1970).
   */
  find(query: {
    agent: string | null;
    toolName: string;
    person: string | null;
    at: number;
  }): Promise<StoredGrant[]>;
  /**
   * A page of grants by ascending id, expired ones included: those after the id `after`, at most `limit` (default 100), of all agents
   * without `agent`.
   */
  list(query: { agent?: string | null; after?: string; limit?: number }): Promise<StoredGrant[]>;
  /** Deletes a grant: no later append can use it. Resolves with whether it existed. */
  revoke(grantId: string): Promise<boolean>;
}
