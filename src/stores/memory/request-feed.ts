import { makeRandomId } from '../../content/crypto.ts';
import type {
  FeedChange,
  StoredRequest,
  TakenChanges,
  ThreadStoreRequests,
} from '../../thread/thread-store-requests.ts';

type KeptChange = Omit<FeedChange, 'request'> & { madeAt: number };

/** How far a consumer has come, and who holds what comes next. */
interface Consumer {
  position: number;
  lease?: { token: string; until: number; takenTo: number };
}

/** The changes of requests in a store in memory, and its consumers. It has no content of requests. */
export class RequestFeed {
  #changes: KeptChange[] = [];
  /* Counted apart, because a position isn't used again after its change was deleted. */
  #lastPosition = 0;
  readonly #consumers = new Map<string, Consumer>();
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

  /** Deletes changes that were made before this time; returns how many. */
  deleteBefore(time: number): number {
    const kept = this.#changes.filter(({ madeAt }) => madeAt >= time);
    const deleted = this.#changes.length - kept.length;
    this.#changes = kept;
    return deleted;
  }

  take({
    consumer: name,
    leaseMs,
    at = Date.now(),
    limit = 100,
  }: Parameters<ThreadStoreRequests['take']>[0]): TakenChanges | undefined {
    const { position, lease } = this.#consumers.get(name) ?? { position: 0 };
    if (lease !== undefined && lease.until > at) return undefined;
    const changes = this.read(position, limit);
    const last = changes.at(-1);
    if (last === undefined) return undefined;
    const token = makeRandomId();
    this.#consumers.set(name, {
      position,
      lease: { token, until: at + leaseMs, takenTo: last.position },
    });
    return { changes, token };
  }

  acknowledge({
    consumer: name,
    token,
    position = Infinity,
  }: Parameters<ThreadStoreRequests['acknowledge']>[0]): boolean {
    const consumer = this.#consumers.get(name);
    if (consumer?.lease?.token !== token) return false;
    /* Neither back, nor past changes that were not taken. */
    const reached = Math.max(consumer.position, Math.min(position, consumer.lease.takenTo));
    this.#consumers.set(name, { position: reached });
    return true;
  }
}
