import { waitForTimer } from '../../content/waiting.ts';
import { runOnce } from '../sql/thread-rows.ts';
import { requestsSchema } from './request-rows.ts';
import { dropFormerIndexes, formerIndexes, grantsSchema, postgresSchema } from './statements.ts';
import { type PostgresPool, type PostgresQuery, type PostgresResult } from './pool.ts';

const uniqueViolation = '23505';

const serializationFailure = '40001';

/** Whether an error is that of a row whose key is in the table. */
export function isUniqueViolation(error: unknown): boolean {
  return readSqlState(error) === uniqueViolation;
}

/**
 * Runs a statement again as long as a concurrent write keeps it from being made. In a database whose transactions are isolated more than by
 * default, that can happen to each, also to one that only reads.
 */
async function repeatConflicts(work: () => Promise<PostgresResult>): Promise<PostgresResult> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (readSqlState(error) !== serializationFailure) throw error;
    }
  }
}

/* Longer than a pool takes to notice that its connections have ended, in milliseconds. */
const noticeMs = 50;

/**
 * Lets the pool notice its other connections first, if one has ended under a statement: all may have, and a statement that is sent again at once
 * would get the next of them.
 */
async function awaitPool(error: unknown): Promise<never> {
  const isOfServer = Reflect.get(Object(error), 'severity') !== undefined;
  const isShutdown = String(readSqlState(error)).startsWith('57P');
  if (!isOfServer || isShutdown) await waitForTimer(noticeMs);
  throw error;
}

function readSqlState(error: unknown): unknown {
  return Reflect.get(Object(error), 'code');
}

/** Runs a statement. Values that are not given are those of the query. */
export type RunQuery = (query: PostgresQuery, values?: unknown[]) => Promise<PostgresResult>;

/** Sends a statement to the server. */
export type Send = (query: PostgresQuery) => Promise<PostgresResult>;

/** The tables that a database of an older version lacks, by what they are for. */
const laterTables = {
  grants: { table: 'holdpoint_grants', schema: grantsSchema },
  requests: { table: 'holdpoint_requests', schema: requestsSchema },
};

type LaterTables = keyof typeof laterTables;

/** Runs the statements of a store. */
export interface StatementRunner {
  /** Runs a statement after the tables exist, until no concurrent write keeps it from being made. */
  run: RunQuery;
  /**
   * A runner whose statements use these tables too, and come after they exist. A database of an older version lacks them, and its role may not
   * create any: who uses no standing approvals must not need their table.
   */
  using(...tables: readonly LaterTables[]): StatementRunner;
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
  const threads = isCreating ? runOnce(async () => prepareThreads(pool)) : async () => {};
  const later = {
    grants: created(laterTables.grants.table, laterTables.grants.schema),
    requests: created(laterTables.requests.table, laterTables.requests.schema),
  };
  const runnerOf = (send: Send, tables: readonly LaterTables[]): StatementRunner => ({
    async run({ name, text, values: own }, values = own ?? []) {
      await threads();
      for (const table of tables) await later[table]();
      const isPrepared = prepare && name !== undefined;
      const query = isPrepared ? { name, text, values } : { text, values };
      return repeatConflicts(async () => send(query).catch(awaitPool));
    },
    using: (...more) => runnerOf(send, more),
    sending: (other) => runnerOf(other, tables),
  });
  return runnerOf(async (query) => pool.query(query), []);
}

/** Creates the tables of threads, or takes a database of an older version to this one. */
async function prepareThreads(pool: PostgresPool): Promise<void> {
  const former = formerIndexes.map((name) => `to_regclass('${name}')`).join(', ');
  const { rows } = await pool.query({
    text: `select to_regclass('holdpoint_threads') is null as missing, coalesce(${former}) is not null as former`,
  });
  if (rows[0]?.['missing'] === true) await create(pool, 'holdpoint_threads', postgresSchema);
  if (rows[0]?.['former'] === true) await dropFormer(pool);
}

async function createMissing(pool: PostgresPool, table: string, schema: string): Promise<void> {
  const { rows } = await pool.query({ text: `select to_regclass('${table}') is null as missing` });
  if (rows[0]?.['missing'] === true) await create(pool, table, schema);
}

/*
 * `if not exists` fails if two sessions create at once. One statement, so that the lock is held until everything is committed. Who had to wait
 * for it creates nothing: `create index if not exists` alone would lock tables that appends already use. Reading from a table, unlike waiting,
 * makes the session notice what was created.
 */
async function create(pool: PostgresPool, table: string, schema: string): Promise<void> {
  await pool.query({
    text: `do $holdpoint$ begin
      perform pg_advisory_xact_lock(7163384705);
      perform from pg_class limit 0;
      if to_regclass('${table}') is null then ${schema} end if;
    end $holdpoint$`,
  });
}

/*
 * Drops the indexes that this version does not need. The store works with them too, so that a role that may not drop them is no error, nor a lock
 * that does not come soon: appends wait behind one who waits for it.
 */
async function dropFormer(pool: PostgresPool): Promise<void> {
  const text = `do $holdpoint$ begin
      set local lock_timeout = '500ms';
      ${dropFormerIndexes}
    end $holdpoint$`;
  await pool.query({ text }).catch(() => {});
}
