import { setTimeout as pause } from 'node:timers/promises';
import type { PostgresPool } from './postgres-pool.ts';

/** Calls `listener` with the thread ids of notifications until `ending` is aborted, and without one whenever it has begun to listen. */
export async function keepListening(
  pool: PostgresPool,
  listener: (threadId?: string) => void,
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

/** Listens until the connection drops or `ending` is aborted. */
async function listenOnce(
  pool: PostgresPool,
  listener: (threadId?: string) => void,
  ending: AbortSignal,
): Promise<void> {
  const connection = await pool.connect();
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  connection.on('error', end);
  connection.on('end', end);
  ending.addEventListener('abort', end);
  connection.on('notification', ({ payload }) => {
    if (!ending.aborted) listener(payload);
  });
  try {
    if (ending.aborted) return;
    await connection.query('listen holdpoint');
    if (!ending.aborted) listener();
    await over;
  } finally {
    ending.removeEventListener('abort', end);
    /* Destroyed: given back, it would go on listening in other hands. */
    connection.release(true);
  }
}
