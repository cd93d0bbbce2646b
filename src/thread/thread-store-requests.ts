import type { Risk } from '../content/approval-terms.ts';
import type { requestKinds, requestStates } from '../content/request-state.ts';

/**
 * The kind of a row that needs a person. `approval`, `question`: an open request. `lost-call`: a call was started and its outcome is
 * unknown. `stuck-thread`: too many runs in a row have failed.
 */
export type RequestKind = (typeof requestKinds)[number];

/**
 * `open`, or the way in which it ended: its decision, or `settled` for a lost call that was settled and a stuck thread that was retried.
 */
export type RequestState = (typeof requestStates)[number];

/**
 * A row of a store about what needs a person: one row for each request of a thread, lost call and stuck thread. It is derived from the
 * thread's log, written in the same append, and decides nothing. A sub-agent's request is one row, of the outermost thread; its lost call
 * is one of its own thread, in which it is settled. See ADR 57.
 */
export interface StoredRequest {
  /** The request's id; for a lost call or a stuck thread, an id made from the thread's. */
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
  /** The reason for which the row needs a person. */
  kind: RequestKind;
  /** The tool of the call that it is about; `null` if it is about none. */
  toolName: string | null;
  /**
   * The people who asked, each once; empty if nobody is known. A person is a text: a principal that is one, or an object's `id`, `subject`,
   * `sub` or `email`, or its JSON. The log is without the agent's `principalId`.
   */
  requesters: readonly string[];
  /**
   * The names, roles and teams, one of which must answer, including those to whom it was reassigned. Only the first 256 characters of each.
   * Empty: not limited by name.
   */
  approvers: readonly string[];
  /** The risk of the call; `null` if its rule does not say. */
  risk: Risk | null;
  /** The time of creation, in milliseconds since 1970, like all times here. */
  createdAt: number;
  /** The time when it expires. Absent: never. */
  expiresAt?: number;
  /** The time when its reminder is due, in milliseconds since 1970. Absent: never. */
  remindAt?: number;
  /** The number of people who have approved. */
  votes: number;
  /** The number of people who must approve. */
  quorum: number;
  /** The state: open, or the way in which it ended. */
  state: RequestState;
  /** The person who decided, as a text like `requesters`; `null` while it is open, and if the person is unknown. */
  decidedBy: string | null;
  /** Absent while it is open. */
  decidedAt?: number;
  /**
   * The request as JSON; for a decided one, as it was then; for a lost call or a stuck thread, the facts that a person needs. A store
   * treats it as opaque. `null` after it was erased.
   */
  text: string | null;
}

/**
 * A change that an append makes in the rows of requests. `opened` brings a new row; `changed` and `closed` replace one, or bring it if the
 * store has none yet. A request that opens and closes in one append is only `closed`.
 */
export interface RequestChange {
  /** The kind of change. */
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
  /** Only rows that need a person for this reason. */
  kind?: RequestKind;
  /** Only rows of the agent with this name; `null`: of agents without a name. */
  agent?: string | null;
  /** Only rows of this tenant; `null`: of none. */
  tenant?: string | null;
  /** The strings for which a person answers, such as their name, roles and teams: rows that name one of them, or no approver. */
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

/** The place of a row in every order. A row of a page is one. */
export type RequestPlace = Pick<
  StoredRequest,
  'requestId' | 'createdAt' | 'expiresAt' | 'risk' | 'decidedAt'
>;

/** Selects a page of rows. */
export interface RequestQuery extends RequestFilter {
  /**
   * The order: by `createdAt`, by `expiresAt` (those that never expire last), by risk (the riskiest first, those without a risk last, the
   * oldest first among equals), or by `decidedAt`, the latest first and open rows last. Default `oldest`. Equal rows are in the order of
   * their ids.
   */
  order?: 'oldest' | 'newest' | 'expires' | 'risk' | 'decided';
  /** Only rows after this place in the order: the last row of a page, for the next one. It need not exist any longer. */
  after?: RequestPlace | undefined;
  /** Only rows before this place, nearest to it: the first row of a page, for the previous one. Not together with `after`. */
  before?: RequestPlace | undefined;
  /** The maximum number of rows. Default 100. */
  limit?: number;
}

/** The types of changes in the feed: those of requests, and `deleted` for a request whose thread was deleted. */
export const feedChangeTypes = ['opened', 'changed', 'closed', 'deleted'] as const;

/** A change of a request in the feed. */
export interface FeedChange {
  /**
   * Its position, from 1: a later change has a higher one. Positions may have gaps. A change is read only after it and everything with a
   * lower position is durable.
   */
  position: number;
  /** `deleted`: the thread was deleted, and the row with it. */
  type: (typeof feedChangeTypes)[number];
  /** The request that changed. */
  requestId: string;
  /** The thread that has the request. */
  threadId: string;
  /** The row as it is now; absent if it was deleted, and of a `deleted` change. */
  request?: StoredRequest;
}

/** The requests of a store: part of the interface for a database of your own. */
export interface ThreadStoreRequests {
  /** A page of rows. */
  list(query: RequestQuery): Promise<StoredRequest[]>;
  /** Counts the rows that a filter selects. */
  count(filter: RequestFilter): Promise<number>;
  /** The row of a request; `undefined` for an unknown one. */
  get(requestId: string): Promise<StoredRequest | undefined>;
  /**
   * Erases the text of a decided row permanently: no later change, such as of an approval that expires before its call starts, brings it
   * back. The log still has the request. Resolves with false for an open row and for an unknown one.
   */
  erase(requestId: string): Promise<boolean>;
  /** The changes after a position (0: from the beginning), oldest first, at most `limit` (default 100). */
  changes(query: { after: number; limit?: number }): Promise<FeedChange[]>;
  /** Deletes changes that were made before this time, in milliseconds since 1970. Resolves with their number. */
  deleteChanges(query: { before: number }): Promise<number>;
}
