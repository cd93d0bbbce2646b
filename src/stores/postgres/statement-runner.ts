import { runOnce } from '../sql/thread-rows.ts';
import { grantsSchema, postgresSchema } from './statements.ts';
import { type PostgresPool, type PostgresQuery, type PostgresResult } from './pool.ts';

const uniqueViolation = '23505';

const serializationFailure = '40001';

/** An empty result after an error that a concurrent write caused. Throws any other error again. */
export function ignoreConflict(error: unknown): PostgresResult {
  if (isSerializationFailure(error) || isUniqueViolation(error)) {
    return { rows: [], rowCount: 0 };
  }
  throw error;
}

/** Whether an error is that of a transaction which may succeed when it is run again. */
export function isSerializationFailure(error: unknown): boolean {
  return readSqlState(error) === serializationFailure;
}

/** Whether an error is that of a row whose key is in the table. */
export function isUniqueViolation(error: unknown): boolean {
  return readSqlState(error) === uniqueViolation;
}

function readSqlState(error: unknown): unknown {
  return Reflect.get(Object(error), 'code');
}

/** Runs a statement. Values that are not given are those of the query. */
export type RunQuery = (query: PostgresQuery, values?: unknown[]) => Promise<PostgresResult>;

/** Sends a statement to the server. */
export type Send = (query: PostgresQuery) => Promise<PostgresResult>;

/** Runs the statements of a store. */
export interface StatementRunner {
  /** Runs a statement after the tables exist. */
  run: RunQuery;
  /**
   * Runs a statement about standing approvals after their table exists too. A database of an older version lacks it, and its role may not
   * create any: who uses no standing approvals must not need the table.
   */
  runOnGrants: RunQuery;
  /** The same runner, which sends statements otherwise. */
  sending(send: Send): StatementRunner;
}

/** Options of a runner, as in `PostgresStoreOptions`. */
interface RunnerOptions {
  createSchema?: boolean;
  prepare?: boolean;
}

export function makeStatementRunner(
  pool: PostgresPool,
  { createSchema: isCreating = true, prepare = false }: RunnerOptions,
): StatementRunner {
  const created = (table: string, schema: string): (() => Promise<unknown>) =>
    isCreating ? runOnce(async () => createMissing(pool, table, schema)) : async () => {};
  const threads = created('holdpoint_threads', postgresSchema);
  const grants = created('holdpoint_grants', grantsSchema);
  const runnerOf = (send: Send): StatementRunner => {
    const run: RunQuery = async ({ name, text, values: own }, values = own ?? []) => {
      await threads();
      const isPrepared = prepare && name !== undefined;
      return send(isPrepared ? { name, text, values } : { text, values });
    };
    return {
      run,
      async runOnGrants(query, values) {
        await threads();
        await grants();
        return run(query, values);
      },
      sending: runnerOf,
    };
  };
  return runnerOf(async (query) => pool.query(query));
}

/* `if not exists` fails if two sessions create at once. Sent as one text, so that the lock is held until everything is committed. */
async function createMissing(pool: PostgresPool, table: string, schema: string): Promise<void> {
  const { rows } = await pool.query({ text: `select to_regclass('${table}') is null as missing` });
  if (rows[0]?.['missing'] !== true) return;
  await pool.query({ text: `select pg_advisory_xact_lock(7163384705);${schema}` });
}
