import { z } from 'zod';
import { waitForTimer } from '../../content/waiting.ts';
import type { ClaimNotice, ThreadNotice } from '../../thread/thread-store.ts';
import { Notices } from '../sql/notices.ts';
import { runOnce } from '../sql/thread-rows.ts';
import { channels, type Heard, parseClaimNotice, parseNotice } from './notice-payloads.ts';
import type { PostgresConnection, PostgresPool } from './pool.ts';
import type { RunQuery } from './statement-runner.ts';
import { readTableId } from './statements.ts';

/** Says whether a notice is about the tables of a store. */
type IsOwn = (heard: Pick<Heard<unknown>, 'table'>) => boolean;

/**
 * Tells the notices about a store's own tables from those of stores in other schemas of the database. It reads the id of its own when a notice
 * has one; until then each may be its own.
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
  readonly #threads = new Notices<[heard?: Heard<ThreadNotice>]>();
  readonly #claims = new Notices<[heard: Heard<ClaimNotice>]>();
  #ending = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  /** Returns a function that ends the subscription; for the last one of any kind, it resolves after the connection is closed. */
  addListener(isOwn: IsOwn, listener: (notice?: ThreadNotice) => void): () => Promise<void> {
    return this.#add(() =>
      this.#threads.subscribe((heard) => {
        if (heard === undefined || isOwn(heard)) listener(heard?.notice);
      }),
    );
  }

  /** The same for notices of claims. */
  addClaimListener(isOwn: IsOwn, listener: (notice: ClaimNotice) => void): () => Promise<void> {
    return this.#add(() =>
      this.#claims.subscribe((heard) => {
        if (isOwn(heard)) listener(heard.notice);
      }),
    );
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
        const heard = this.#claims.hasSubscribers ? parseClaimNotice(payload) : undefined;
        if (heard !== undefined) this.#claims.notify(heard);
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
