import type { ThreadNotice } from '../../thread/thread-store.ts';
import { Notices } from '../sql/notices.ts';
import type { PostgresConnection, PostgresPool } from './pool.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';

type Listener = (notice?: ThreadNotice) => void;

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

/**
 * Calls `listener` with each notice from the server until `ending` aborts. After every connect it calls `listener` without a notice, as
 * earlier notices were missed.
 */
async function keepListening(
  pool: PostgresPool,
  listener: (notice?: ThreadNotice) => void,
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
    await pause(delay, undefined, { signal: ending }).catch(() => {});
  }
}

/** Listens until the connection drops or `ending` aborts. An abort does not wait for an unreachable server. */
async function listenOnce(
  pool: PostgresPool,
  listener: (notice?: ThreadNotice) => void,
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
      if (!ending.aborted) listener(parseNotice(payload));
    });
    if (ending.aborted) return;
    await Promise.race([connection.query({ text: 'listen holdpoint' }), over]);
    if (!ending.aborted) listener();
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

/* Postgres rejects a payload of 8000 bytes or more, and with it the append. */
const maximumBytes = 7999;

const noticeSchema = z.object({
  threadId: z.string(),
  agent: z.string().optional(),
  nextDeadline: z.number().optional(),
  requestIds: z.array(z.string()).optional(),
});

/** A notice as the payload of a notification. If the notice is too long, the payload is empty: any thread may have changed. */
export function stringifyNotice(notice: ThreadNotice): string {
  const payload = JSON.stringify(notice);
  return new TextEncoder().encode(payload).length > maximumBytes ? '' : payload;
}

/** The notice in a payload; `undefined` for any other text. */
function parseNotice(payload: string | undefined): ThreadNotice | undefined {
  try {
    const { threadId, agent, nextDeadline, requestIds } = noticeSchema.parse(
      JSON.parse(payload ?? ''),
    );
    return {
      threadId,
      ...(agent === undefined ? {} : { agent }),
      ...(nextDeadline === undefined ? {} : { nextDeadline }),
      ...(requestIds === undefined ? {} : { requestIds }),
    };
  } catch {
    return undefined;
  }
}
