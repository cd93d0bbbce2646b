import { type HookCall, makeHookError } from '../sql/hooks.ts';
import type { PostgresConnection, PostgresPool, PostgresResult } from './pool.ts';
import { isUniqueViolation, type Send } from './statement-runner.ts';

/** The transaction of an append. It begins with its first query. */
export interface PostgresTransaction {
  /** Await it in the hook: later queries are refused. */
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
}

/**
 * Calls hooks and then sends the statement of the append, in one transaction if a hook uses it. The statement comes last: had a query
 * of a hook failed after it, the commit would undo it without an error.
 */
export function sendAfterHooks(
  pool: PostgresPool,
  hooks: readonly HookCall<PostgresTransaction>[],
): Send {
  const names = hooks.map(({ name }) => name).join(' or ');
  /* The append's own statement has succeeded. The commit only still checks deferred constraints of a hook's table. */
  const refuseUnique = (error: unknown): never => {
    throw isUniqueViolation(error) ? makeHookError(names, error) : error;
  };
  return async (query) => {
    const connection = await callHooks(pool, hooks);
    if (connection === undefined) return pool.query(query);
    return finishTransaction(connection, async () => {
      const result = await connection.query(query);
      const end = connection.query({ text: result.rowCount === 0 ? 'rollback' : 'commit' });
      await end.catch(refuseUnique);
      return result;
    });
  };
}

/** Calls the hooks; resolves with the connection of the transaction that they have begun, or with `undefined` if they needed none. */
async function callHooks(
  pool: PostgresPool,
  hooks: readonly HookCall<PostgresTransaction>[],
): Promise<PostgresConnection | undefined> {
  let begun: Promise<PostgresConnection> | undefined;
  const connect = async (): Promise<PostgresConnection> => (begun ??= begin(pool));
  try {
    for (const hook of hooks) await callHook(hook, connect);
  } catch (error) {
    await begun?.then(rollTransactionBack, () => {});
    throw error;
  }
  return begun;
}

async function callHook(
  hook: HookCall<PostgresTransaction>,
  connect: () => Promise<PostgresConnection>,
): Promise<void> {
  let isOver = false;
  const query: PostgresTransaction['query'] = async (text, values = []) => {
    if (isOver) throw new Error(`The transaction is over. Await every query in ${hook.name}.`);
    return (await connect()).query({ text, values });
  };
  try {
    await hook.call({ query });
  } catch (cause) {
    throw makeHookError(hook.name, cause);
  } finally {
    isOver = true;
  }
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
