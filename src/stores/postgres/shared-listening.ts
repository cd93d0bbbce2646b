import type { ThreadNotice } from '../../thread/thread-store.ts';
import { Notices } from '../sql/notices.ts';
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
  readonly #notices = new Notices();
  #ending = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  /** Returns a function that ends the subscription; for the last one, it resolves after the connection is closed. */
  add(listener: Listener): () => Promise<void> {
    if (!this.#notices.hasSubscribers) this.#start();
    const unsubscribe = this.#notices.subscribe(listener);
    return async () => {
      unsubscribe();
      if (this.#notices.hasSubscribers) return;
      this.#ending.abort();
      await this.#ended;
    };
  }

  #start(): void {
    this.#ending = new AbortController();
    const notify = (notice?: ThreadNotice): void => this.#notices.notify(notice);
    this.#ended = keepListening(this.#pool, notify, this.#ending.signal);
  }
}
