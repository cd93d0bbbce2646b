import type { Risk } from '../content/approval-terms.ts';
import type { requestKinds, requestStates } from '../content/request-state.ts';

/**
 * What needs a person. `approval`, `question`: an open request. `lost-call`: a call was started and its outcome is unknown. `stuck-thread`:
 * too many runs in a row have failed.
 */
export type RequestKind = (typeof requestKinds)[number];

/** `open`, or how it ended: as its decision says, or `settled` for a lost call that was settled and a stuck thread that was retried. */
export type RequestState = (typeof requestStates)[number];

/**
 * What needs a person, as a store keeps it: one row for each request of a thread, lost call and stuck thread. It is derived from the thread's
 * log, written in the same append, and decides nothing. A sub-agent's request is one row, of the outermost thread; its lost call is one of its
 * own thread, in which it is settled.
 */
export interface StoredRequest {
  /** The request's id; for a lost call or a stuck thread, an id made of the thread's. */
  requestId: string;
  /** The thread that has the request. */
  threadId: string;
  /** The name of the agent that the thread belongs to; `null` for an agent without a name. */
  agent: string | null;
  /**
   * The `tenant` of the principal for whom the agent works, if it is a string of at most 256 characters, without NUL and lone surrogates;
   * otherwise `null`.
   */
  tenant: string | null;
  /** What it is that needs a person. */
  kind: RequestKind;
  /** The tool of the call that it is about; `null` if it is about none. */
  toolName: string | null;
  /**
   * Who asked, each once; nobody if nobody is known. A person is a text: a principal that is one, or an object's `id`, `subject`, `sub` or
   * `email`, or its JSON. The log is without the agent's `principalId`.
   */
  requesters: readonly string[];
  /** The names, roles and teams of which one must answer, those to whom it was reassigned included. Only the first 256 characters of each. Empty: not limited by name. */
  approvers: readonly string[];
  /** How risky the call is; `null` if its rule does not say. */
  risk: Risk | null;
  /** In milliseconds since 1970, like all times here. */
  createdAt: number;
  /** Absent: never. */
  expiresAt?: number;
  /** When its reminder is due, in milliseconds since 1970. Absent: never. */
  remindAt?: number;
  /** How many people have approved. */
  votes: number;
  /** How many must. */
  quorum: number;
  /** Whether it is open, and if not, how it ended. */
  state: RequestState;
  /** Who decided, as a text like `requesters`; `null` while it is open, and where nobody is known. */
  decidedBy: string | null;
  /** Absent while it is open. */
  decidedAt?: number;
  /**
   * The request as JSON, as it was when it was decided if it is; of a lost call and a stuck thread what a person needs to know. A store
   * treats it as opaque. `null` after it was erased.
   */
  text: string | null;
}

/**
 * What an append changes in the rows of requests. `opened` brings a new row; `changed` and `closed` replace one, or bring it if the store has
 * none yet. A request that opens and closes in one append is `closed` alone.
 */
export interface RequestChange {
  /** What became of the request. */
  type: 'opened' | 'changed' | 'closed';
  /** Its row after the change. */
  request: StoredRequest;
}

/** Selects rows. Conditions combine with "and"; without any, all rows are selected. */
export interface RequestFilter {
  /** `open` leaves out what has expired at `at`; `decided` selects all that are not open in the log. */
  state?: RequestState | 'decided';
  /** The time for `state: 'open'`, in milliseconds since 1970. Default: the store's clock. */
  at?: number;
  /** Only what needs a person for this reason. */
  kind?: RequestKind;
  /** Of the agent of this name; `null`: of agents without a name. */
  agent?: string | null;
  /** Of this tenant; `null`: of none. */
  tenant?: string | null;
  /** The strings for which a person answers, such as their name, roles and teams: rows that name one of them, or nobody. */
  approver?: readonly string[];
  /** Only requests about calls of this tool. */
  toolName?: string;
  /** Only calls of this risk. */
  risk?: Risk;
  /** Rows that have this text among their requesters. */
  requester?: string;
  /** Only the requests of this thread. */
  threadId?: string;
}

/** Where a row stands in every order. A row of a page is one. */
export type RequestPlace = Pick<
  StoredRequest,
  'requestId' | 'createdAt' | 'expiresAt' | 'risk' | 'decidedAt'
>;

/** Selects a page of rows. */
export interface RequestQuery extends RequestFilter {
  /**
   * By `createdAt`, by `expiresAt` (those that never expire last), by risk (the riskiest first, those without a risk last, the oldest first
   * among equals), or by `decidedAt`, the latest first and open rows last. Default `oldest`. Equal rows are in the order of their ids.
   */
  order?: 'oldest' | 'newest' | 'expires' | 'risk' | 'decided';
  /** Only rows after this place in the order: the last row of a page, for the next one. It need not exist any more. */
  after?: RequestPlace | undefined;
  /** Only rows before this place, nearest to it: the first row of a page, for the previous one. Not together with `after`. */
  before?: RequestPlace | undefined;
  /** The maximum number of rows. Default 100. */
  limit?: number;
}

/** A change of a request in the feed. */
export interface FeedChange {
  /**
   * Its position, from 1: a later change has a higher one. Positions may have gaps. A change is read only after it and everything with a lower
   * position is durable.
   */
  position: number;
  /** `deleted`: the thread was deleted, and the row with it. */
  type: RequestChange['type'] | 'deleted';
  /** The request that changed. */
  requestId: string;
  /** The thread that has the request. */
  threadId: string;
  /** The row as it is now; absent if it was deleted, and of a `deleted` change. */
  request?: StoredRequest;
}

/** Changes that one consumer holds, until it acknowledges them or its lease ends. */
export interface TakenChanges {
  /** The changes, in the order in which they became durable. */
  changes: FeedChange[];
  /** For `acknowledge`. */
  token: string;
}

/** The requests of a store: part of the interface for a database of your own. */
export interface ThreadStoreRequests {
  /** A page of rows. */
  list(query: RequestQuery): Promise<StoredRequest[]>;
  /** How many rows a filter selects. */
  count(filter: RequestFilter): Promise<number>;
  /** The row of a request; `undefined` for an unknown one. */
  get(requestId: string): Promise<StoredRequest | undefined>;
  /**
   * Erases the text of a decided row, for good: no later change, such as of an approval that expires before its call starts, brings it
   * back. The log still has the request. Resolves with false for an open row and for an unknown one.
   */
  erase(requestId: string): Promise<boolean>;
  /** The changes after a position (0: from the beginning), oldest first, at most `limit` (default 100). */
  changes(query: { after: number; limit?: number }): Promise<FeedChange[]>;
  /**
   * Takes the next changes for a consumer, the first time from the beginning of the feed, unless another process holds them. They are its
   * own for `leaseMs` milliseconds; what is not acknowledged by then is taken again. `undefined` if there are none, or another process holds
   * them. `at` is now, in milliseconds since 1970. Default: the store's clock, so that no process takes what another holds because their
   * clocks differ.
   */
  take(query: {
    consumer: string;
    leaseMs: number;
    at?: number;
    limit?: number;
  }): Promise<TakenChanges | undefined>;
  /**
   * Acknowledges what was taken with `token`, so that it is not taken again. With `position`, only up to there; the rest is free at once.
   * Resolves with false, and changes nothing, if the lease has gone to another process.
   */
  acknowledge(query: { consumer: string; token: string; position?: number }): Promise<boolean>;
  /** Deletes changes that were made before this time, in milliseconds since 1970, taken or not. Resolves with how many. */
  deleteChanges(query: { before: number }): Promise<number>;
}
