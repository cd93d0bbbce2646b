import { setTimeout as pause } from 'node:timers/promises';
import type { ThreadNotice } from '../../thread/thread-store.ts';
import { noticeOfPayload } from './notice-payload.ts';
import type { PostgresConnection, PostgresPool } from './postgres-pool.ts';

/**
 * Calls `listener` with each notice from the server until `ending` aborts. After every connect it calls `listener` without a notice, as
 * earlier notices were missed.
 */
export async function keepListening(
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
      if (!ending.aborted) listener(noticeOfPayload(payload));
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
