import { runOnce } from '../sql/once-done.ts';
import type { PostgresPool, PostgresQuery, PostgresResult } from './postgres-pool.ts';
import { createGrants, createSchema, grantsAreMissing, schemaIsMissing } from './statements.ts';

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
  const created = (isMissing: string, create: string): (() => Promise<unknown>) =>
    isCreating ? runOnce(async () => createMissing(pool, isMissing, create)) : async () => {};
  const schema = created(schemaIsMissing, createSchema);
  const grants = created(grantsAreMissing, createGrants);
  const runnerOf = (send: Send): StatementRunner => {
    const run: RunQuery = async ({ name, text, values: own }, values = own ?? []) => {
      await schema();
      const isPrepared = prepare && name !== undefined;
      return send(isPrepared ? { name, text, values } : { text, values });
    };
    return {
      run,
      async runOnGrants(query, values) {
        await schema();
        await grants();
        return run(query, values);
      },
      sending: runnerOf,
    };
  };
  return runnerOf(async (query) => pool.query(query));
}

async function createMissing(pool: PostgresPool, isMissing: string, create: string): Promise<void> {
  const { rows } = await pool.query({ text: isMissing });
  if (rows[0]?.['missing'] === true) await pool.query({ text: create });
}
