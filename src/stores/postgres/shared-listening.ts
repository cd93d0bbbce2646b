import type { ThreadNotice } from '../../thread/thread-store.ts';
import { keepListening } from './keep-listening.ts';
import type { PostgresPool } from './postgres-pool.ts';

type Listener = (notice?: ThreadNotice) => void;

const listenings = new WeakMap<PostgresPool, SharedListening>();

/** The listening connection of a pool. All stores on the pool share it, so that listening never uses up the pool. */
export function listeningOn(pool: PostgresPool): SharedListening {
  const listening = listenings.get(pool) ?? new SharedListening(pool);
  listenings.set(pool, listening);
  return listening;
}

/** A listening connection that is open while there are subscribers. */
class SharedListening {
  readonly #pool: PostgresPool;
  readonly #listeners = new Set<{ call: Listener }>();
  #ending = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  /** Returns a function that ends the subscription; for the last one, it resolves after the connection is closed. */
  add(listener: Listener): () => Promise<void> {
    const added = { call: listener };
    this.#listeners.add(added);
    if (this.#listeners.size === 1) this.#start();
    return async () => {
      const isLast = this.#listeners.delete(added) && this.#listeners.size === 0;
      if (!isLast) return;
      this.#ending.abort();
      await this.#ended;
    };
  }

  #start(): void {
    this.#ending = new AbortController();
    const notifyAll = (notice?: ThreadNotice): void => {
      for (const { call } of this.#listeners) call(notice);
    };
    this.#ended = keepListening(this.#pool, notifyAll, this.#ending.signal);
  }
}
