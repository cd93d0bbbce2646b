import { waitForTimer } from '../../content/waiting.ts';
import type { ClaimNotice, ThreadNotice } from '../../thread/thread-store.ts';
import { Notices } from '../sql/notices.ts';
import { channels, parseClaimNotice, parseNotice } from './notice-payloads.ts';
import type { PostgresConnection, PostgresPool } from './pool.ts';

const listenings = new WeakMap<PostgresPool, SharedListening>();

/** The listening connection of a pool. All stores on the pool share it, so that listening never uses up the pool. */
export function shareListening(pool: PostgresPool): SharedListening {
  const listening = listenings.get(pool) ?? new SharedListening(pool);
  listenings.set(pool, listening);
  return listening;
}

/** A listening connection that is open while there are subscribers. */
class SharedListening {
  readonly #pool: PostgresPool;
  readonly #threads = new Notices();
  readonly #claims = new Notices<[notice: ClaimNotice]>();
  #ending = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  /** Returns a function that ends the subscription; for the last one of any kind, it resolves after the connection is closed. */
  addListener(listener: (notice?: ThreadNotice) => void): () => Promise<void> {
    return this.#add(() => this.#threads.subscribe(listener));
  }

  /** The same for notices of claims. */
  addClaimListener(listener: (notice: ClaimNotice) => void): () => Promise<void> {
    return this.#add(() => this.#claims.subscribe(listener));
  }

  get #hasSubscribers(): boolean {
    return this.#threads.hasSubscribers || this.#claims.hasSubscribers;
  }

  #add(subscribe: () => () => void): () => Promise<void> {
    if (!this.#hasSubscribers) this.#start();
    const unsubscribe = subscribe();
    return async () => {
      unsubscribe();
      if (this.#hasSubscribers) return;
      this.#ending.abort();
      await this.#ended;
    };
  }

  #start(): void {
    this.#ending = new AbortController();
    const listener: Listener = {
      onConnect: () => this.#threads.notify(),
      onNotification: (channel, payload) => {
        if (channel !== channels.claims) return this.#threads.notify(parseNotice(payload));
        const notice = this.#claims.hasSubscribers ? parseClaimNotice(payload) : undefined;
        if (notice !== undefined) this.#claims.notify(notice);
      },
    };
    this.#ended = keepListening(this.#pool, listener, this.#ending.signal);
  }
}

/** What a listening connection calls. */
interface Listener {
  /** After every connect, as earlier notices were missed. */
  onConnect(): void;
  onNotification(channel: string | undefined, payload: string | undefined): void;
}

/** Calls `listener` with each notification from the server until `ending` aborts. */
async function keepListening(
  pool: PostgresPool,
  listener: Listener,
  ending: AbortSignal,
): Promise<void> {
  let failures = 0;
  while (!ending.aborted) {
    try {
      await listenOnce(pool, listener, ending);
      failures = 0;
    } catch {
      failures += 1;
    }
    const delay = Math.min(100 * 2 ** failures, 10_000);
    await waitForTimer(delay, ending);
  }
}

/** Listens until the connection drops or `ending` aborts. An abort does not wait for an unreachable server. */
async function listenOnce(
  pool: PostgresPool,
  listener: Listener,
  ending: AbortSignal,
): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  const end = () => resolve(undefined);
  ending.addEventListener('abort', end);
  const connecting = pool.connect();
  try {
    const connection = await Promise.race([connecting, over]);
    if (connection === undefined) return;
    connection.on('error', end);
    connection.on('end', end);
    connection.on('notification', ({ channel, payload }) => {
      if (!ending.aborted) listener.onNotification(channel, payload);
    });
    if (ending.aborted) return;
    const text = `listen ${channels.threads}; listen ${channels.claims}`;
    await Promise.race([connection.query({ text }), over]);
    if (!ending.aborted) listener.onConnect();
    await over;
  } finally {
    ending.removeEventListener('abort', end);
    void destroy(connecting);
  }
}

async function destroy(connecting: Promise<PostgresConnection>): Promise<void> {
  try {
    /* Destroyed, because a connection that is returned to the pool would keep listening. */
    (await connecting).release(true);
  } catch {
    /* It never connected. */
  }
}
