import { makeHookError, type ThreadWake } from '../sql/hooks.ts';
import { isUniqueViolation, type Send } from './statement-runner.ts';
import type { PostgresConnection, PostgresPool, PostgresResult } from './pool.ts';

/** The transaction of an append. It begins with its first query. */
interface PostgresTransaction {
  /** Await it in the hook: what comes later is refused. */
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
}

/** Called before an append, in its transaction. If it throws or rejects, nothing is appended. */
export type OnWake = (wake: ThreadWake, transaction: PostgresTransaction) => unknown;

/**
 * Calls `onWake` and then sends the statement of the append, in one transaction if `onWake` uses it. The statement comes last: had a query
 * of `onWake` failed after it, the commit would undo it without an error.
 */
export function sendAndWake(pool: PostgresPool, onWake: OnWake, wake: ThreadWake): Send {
  return async (query) => {
    const connection = await callHook(pool, async (transaction) => onWake(wake, transaction));
    if (connection === undefined) return pool.query(query);
    return finishTransaction(connection, async () => {
      const result = await connection.query(query);
      const end = connection.query({ text: result.rowCount === 0 ? 'rollback' : 'commit' });
      await end.catch(refuseUnique);
      return result;
    });
  };
}

/* The append's own statement has succeeded. What the commit still checks is a deferred constraint of a table of the hook. */
function refuseUnique(error: unknown): never {
  throw isUniqueViolation(error) ? makeHookError('onWake', error) : error;
}

/** Calls the hook; resolves with the connection of the transaction that it has begun, or with `undefined` if it needed none. */
async function callHook(
  pool: PostgresPool,
  hook: (transaction: PostgresTransaction) => unknown,
): Promise<PostgresConnection | undefined> {
  let begun: Promise<PostgresConnection> | undefined;
  let isOver = false;
  const query: PostgresTransaction['query'] = async (text, values = []) => {
    if (isOver) throw new Error('The transaction is over. Await every query in onWake.');
    begun ??= begin(pool);
    return (await begun).query({ text, values });
  };
  try {
    await hook({ query });
  } catch (cause) {
    await begun?.then(rollTransactionBack, () => {});
    throw makeHookError('onWake', cause);
  } finally {
    isOver = true;
  }
  return begun;
}

async function begin(pool: PostgresPool): Promise<PostgresConnection> {
  const connection = await pool.connect();
  ignoreErrors(connection);
  try {
    await connection.query({ text: 'begin' });
    return connection;
  } catch (error) {
    connection.release(true);
    throw error;
  }
}

/** Does the last work of a transaction, and gives the connection back. */
async function finishTransaction<RESULT>(
  connection: PostgresConnection,
  work: () => Promise<RESULT>,
): Promise<RESULT> {
  try {
    const result = await work();
    connection.release(false);
    return result;
  } catch (error) {
    await rollTransactionBack(connection);
    throw error;
  }
}

async function rollTransactionBack(connection: PostgresConnection): Promise<void> {
  const isBroken = await connection.query({ text: 'rollback' }).then(
    () => false,
    () => true,
  );
  connection.release(isBroken);
}

/* An error of a connection that is in use also fails its query. Without a listener it would end the process. */
const ignored = new WeakSet<PostgresConnection>();

function ignoreErrors(connection: PostgresConnection): void {
  if (ignored.has(connection)) return;
  ignored.add(connection);
  connection.on('error', () => {});
}
