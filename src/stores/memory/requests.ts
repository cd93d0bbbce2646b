import type {
  FeedChange,
  RequestChange,
  RequestFilter,
  RequestQuery,
  StoredRequest,
  ThreadStoreRequests,
} from '../../thread/thread-store-requests.ts';
import { findReader } from '../rows/table.ts';
import {
  type KeptChange,
  listRequestConditions,
  makeRequestPage,
  requests,
} from '../rows/tables.ts';
import { countMet, takePage } from '../rows/take-rows.ts';

const findRequestReader = (column: string) => findReader(requests, column);

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

  /** Deletes the rows of a thread, and adds to the feed that the open ones are gone. */
  deleteOf(threadId: string): void {
    for (const row of this.#ofThreads.get(threadId)?.values() ?? []) {
      this.#remove(row);
      if (row.state === 'open') this.#feed.add('deleted', row);
    }
  }

  async list(query: RequestQuery): Promise<StoredRequest[]> {
    const where = listRequestConditions(query, Date.now());
    const found = { where, ...makeRequestPage(query) };
    const page = takePage(this.#findNearest(query), found, findRequestReader);
    return query.before === undefined ? page : page.toReversed();
  }

  async count(filter: RequestFilter): Promise<number> {
    const where = listRequestConditions(filter, Date.now());
    return countMet(this.#findNearest(filter), where, findRequestReader);
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

  async deleteChanges({ before }: { before: number }): Promise<number> {
    return this.#feed.deleteBefore(before);
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

/** The changes of requests in a store in memory; it has no content of requests. */
class RequestFeed {
  #changes: KeptChange[] = [];
  /* Counted separately, because a position isn't used again after its change was deleted. */
  #lastPosition = 0;
  readonly #findRow: (requestId: string) => StoredRequest | undefined;

  constructor(findRow: (requestId: string) => StoredRequest | undefined) {
    this.#findRow = findRow;
  }

  add(type: FeedChange['type'], { requestId, threadId }: StoredRequest): void {
    this.#lastPosition += 1;
    const position = this.#lastPosition;
    this.#changes.push({ position, type, requestId, threadId, madeAt: Date.now() });
  }

  read(after: number, limit: number): FeedChange[] {
    const start = this.#changes.findLastIndex(({ position }) => position <= after) + 1;
    return this.#changes.slice(start, start + limit).map(({ madeAt: _, ...change }) => {
      const request = change.type === 'deleted' ? undefined : this.#findRow(change.requestId);
      return { ...change, ...(request === undefined ? {} : { request }) };
    });
  }

  /** Deletes changes that were made before this time; returns their number. */
  deleteBefore(time: number): number {
    const kept = this.#changes.filter(({ madeAt }) => madeAt >= time);
    const deleted = this.#changes.length - kept.length;
    this.#changes = kept;
    return deleted;
  }
}
