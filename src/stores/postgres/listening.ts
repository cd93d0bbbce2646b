import { z } from 'zod';
import { waitForTimer } from '../../content/waiting.ts';
import type { StoreNotice } from '../../thread/thread-store.ts';
import { Notices } from '../rows/notices.ts';
import { runOnce } from '../sql/thread-rows.ts';
import { noticeChannel, type Heard, parseNotice } from './notice-payloads.ts';
import type { PostgresConnection, PostgresPool } from './pool.ts';
import type { RunQuery } from './statement-runner.ts';
import { readTableId } from './statements.ts';

/** Checks whether a notice is about the tables of a store. */
type IsOwn = (heard: Heard) => boolean;

/**
 * Makes a filter for the notices about a store's own tables, as stores in other schemas of the database send them too. It reads the store's
 * own id when a notice has one; until then each may be its own.
 */
export function makeNoticeFilter(run: RunQuery): IsOwn {
  let own: string | undefined;
  const learn = runOnce(async () => {
    const [row] = (await run(readTableId)).rows;
    own = z.string().parse(row?.['id']);
  });
  return ({ table }) => {
    if (table === undefined) return true;
    if (own === undefined) void learn().catch(() => {});
    return own === undefined || own === table;
  };
}

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
  readonly #notices = new Notices<[heard?: Heard]>();
  #ending = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  /** Returns a function that ends the subscription; for the last one, it resolves after the connection is closed. */
  addListener(isOwn: IsOwn, listener: (notice?: StoreNotice) => void): () => Promise<void> {
    if (!this.#notices.hasSubscribers) this.#start();
    const unsubscribe = this.#notices.subscribe((heard) => {
      if (heard === undefined || isOwn(heard)) listener(heard?.notice);
    });
    return async () => {
      unsubscribe();
      if (this.#notices.hasSubscribers) return;
      this.#ending.abort();
      await this.#ended;
    };
  }

  #start(): void {
    this.#ending = new AbortController();
    const listener: Listener = {
      onConnect: () => this.#notices.notify(),
      onNotification: (payload) => this.#notices.notify(parseNotice(payload)),
    };
    this.#ended = keepListening(this.#pool, listener, this.#ending.signal);
  }
}

/** The callbacks of a listening connection. */
interface Listener {
  /** Called after every connect, as earlier notices were missed. */
  onConnect(): void;
  onNotification(payload: string | undefined): void;
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
    connection.on('notification', ({ payload }) => {
      if (!ending.aborted) listener.onNotification(payload);
    });
    if (ending.aborted) return;
    await Promise.race([connection.query({ text: `listen ${noticeChannel}` }), over]);
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
