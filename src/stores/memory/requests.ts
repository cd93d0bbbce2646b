import type {
  FeedChange,
  RequestChange,
  RequestFilter,
  RequestQuery,
  StoredRequest,
  TakenChanges,
  ThreadStoreRequests,
} from '../../thread/thread-store-requests.ts';
import { RequestFeed } from './request-feed.ts';
import { isSelected, requestOrders } from './request-order.ts';
import { takePage } from './take-page.ts';

/** The requests of a store in memory. Its rows are frozen, and replaced as a whole. */
export class MemoryRequests implements ThreadStoreRequests {
  readonly #rows = new Map<string, StoredRequest>();
  readonly #openRows = new Map<string, StoredRequest>();
  readonly #ofThreads = new Map<string, Map<string, StoredRequest>>();
  readonly #feed = new RequestFeed((requestId) => this.#rows.get(requestId));

  /** Makes the changes of an append. */
  apply(changes: readonly RequestChange[]): void {
    for (const { type, request } of changes) {
      this.#keep(request);
      this.#feed.add(type, request);
    }
  }

  /** Deletes the rows of a thread, and tells the feed of those that were open. */
  deleteOf(threadId: string): void {
    for (const row of this.#ofThreads.get(threadId)?.values() ?? []) {
      this.#remove(row);
      if (row.state === 'open') this.#feed.add('deleted', row);
    }
  }

  async list({
    order = 'oldest',
    after,
    before,
    limit = 100,
    ...filter
  }: RequestQuery): Promise<StoredRequest[]> {
    const rows = this.#select(filter);
    const compare = requestOrders[order];
    if (before === undefined) return takePage(rows, { compare, after, limit });
    const page = { compare: flip(compare), after: before, limit };
    return takePage(rows, page).toReversed();
  }

  async count(filter: RequestFilter): Promise<number> {
    return [...this.#select(filter)].length;
  }

  async get(requestId: string): Promise<StoredRequest | undefined> {
    return this.#rows.get(requestId);
  }

  async erase(requestId: string): Promise<boolean> {
    const row = this.#rows.get(requestId);
    if (row === undefined || row.state === 'open') return false;
    this.#keep({ ...row, text: null });
    return true;
  }

  async changes({
    after,
    limit = 100,
  }: Parameters<ThreadStoreRequests['changes']>[0]): Promise<FeedChange[]> {
    return this.#feed.read(after, limit);
  }

  async take(query: Parameters<ThreadStoreRequests['take']>[0]): Promise<TakenChanges | undefined> {
    return this.#feed.take(query);
  }

  async acknowledge(query: Parameters<ThreadStoreRequests['acknowledge']>[0]): Promise<boolean> {
    return this.#feed.acknowledge(query);
  }

  async deleteChanges({ before }: { before: number }): Promise<number> {
    return this.#feed.deleteBefore(before);
  }

  *#select(filter: RequestFilter): Generator<StoredRequest> {
    const now = Date.now();
    for (const row of this.#findNearest(filter)) if (isSelected(row, filter, now)) yield row;
  }

  /** The fewest rows known to include those that a filter selects. */
  #findNearest({ threadId, state }: RequestFilter): Iterable<StoredRequest> {
    if (threadId !== undefined) return this.#ofThreads.get(threadId)?.values() ?? [];
    return (state === 'open' ? this.#openRows : this.#rows).values();
  }

  #keep(request: StoredRequest): void {
    const { requestId, threadId } = request;
    const before = this.#rows.get(requestId);
    /* An approval that is erased may still be closed, if its call has not started. */
    const row = sealRow(before?.text === null ? { ...request, text: null } : request);
    if (before !== undefined) this.#remove(before);
    this.#rows.set(requestId, row);
    if (row.state === 'open') this.#openRows.set(requestId, row);
    const ofThread = this.#ofThreads.get(threadId) ?? new Map<string, StoredRequest>();
    this.#ofThreads.set(threadId, ofThread.set(requestId, row));
  }

  #remove({ requestId, threadId }: StoredRequest): void {
    this.#rows.delete(requestId);
    this.#openRows.delete(requestId);
    const ofThread = this.#ofThreads.get(threadId);
    ofThread?.delete(requestId);
    if (ofThread?.size === 0) this.#ofThreads.delete(threadId);
  }
}

function sealRow({ requesters, approvers, ...row }: StoredRequest): StoredRequest {
  return Object.freeze({
    ...row,
    requesters: Object.freeze([...requesters]),
    approvers: Object.freeze([...approvers]),
  });
}

function flip<PLACE>(
  compare: (one: PLACE, other: PLACE) => number,
): (one: PLACE, other: PLACE) => number {
  return (one, other) => compare(other, one);
}
