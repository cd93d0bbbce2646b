import type { FeedChange, StoredRequest } from '../../thread/thread-store-requests.ts';

type KeptChange = Omit<FeedChange, 'request'> & { madeAt: number };

/** The changes of requests in a store in memory; it has no content of requests. */
export class RequestFeed {
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
