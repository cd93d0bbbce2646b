import type { InboxEntry } from './inbox-api.ts';

/* How long a claim lasts that is not renewed. */
const lastsMs = 300_000;

/* More people than this do not look at requests at once through one process. */
const mostClaims = 1_000;

/* So many changes of claims are kept for streams that have not told them yet. */
const mostChanges = 200;

/** A request by its ids. */
export interface RequestIds {
  requestId: string;
  threadId: string;
}

/** Who claims. */
interface Claimant {
  /** Tells one person from another. */
  viewer: string;
  /** As others read it. */
  name: string;
}

interface Claim extends RequestIds {
  viewer: string;
  by: string;
  until: number;
}

/**
 * Who is looking at which request, in the memory of this process: a hint, which ends by itself and keeps nobody from answering. The oldest go first
 * where there are too many.
 */
export class Claims {
  readonly #claims = new Map<string, Claim>();
  readonly #changes: RequestIds[] = [];
  readonly #listeners = new Set<() => void>();
  #count = 0;

  /** How many changes there were. */
  get count(): number {
    return this.#count;
  }

  /** The claim of a request, as one person sees it. */
  find(requestId: string, { viewer }: Pick<Claimant, 'viewer'>, now: number): InboxEntry['claim'] {
    const claim = this.#claims.get(requestId);
    if (claim === undefined || claim.until <= now) return undefined;
    return { by: claim.by, isMine: claim.viewer === viewer, until: claim.until };
  }

  /** Claims a request, unless somebody else has. */
  claim({ requestId, threadId }: RequestIds, { viewer, name }: Claimant, now: number): void {
    const held = this.#claims.get(requestId);
    if (held !== undefined && held.until > now && held.viewer !== viewer) return;
    this.#claims.delete(requestId);
    const until = now + lastsMs;
    this.#claims.set(requestId, { requestId, threadId, viewer, by: name, until });
    const [oldest] = this.#claims.keys();
    if (this.#claims.size > mostClaims && oldest !== undefined) this.#claims.delete(oldest);
    this.#announce({ requestId, threadId });
  }

  /** Releases one's own claim. */
  release({ requestId, threadId }: RequestIds, { viewer }: Pick<Claimant, 'viewer'>): void {
    if (this.#claims.get(requestId)?.viewer !== viewer) return;
    this.#claims.delete(requestId);
    this.#announce({ requestId, threadId });
  }

  /** The requests whose claims changed after a count; `undefined` if there were more than are kept. */
  changesAfter(count: number): RequestIds[] | undefined {
    const added = this.#count - count;
    if (added === 0) return [];
    return added > this.#changes.length ? undefined : this.#changes.slice(-added);
  }

  /** Calls `listener` after each change. Returns a function that ends it. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #announce(ids: RequestIds): void {
    this.#count += 1;
    this.#changes.push(ids);
    if (this.#changes.length > mostChanges) this.#changes.shift();
    for (const listener of this.#listeners) listener();
  }
}
