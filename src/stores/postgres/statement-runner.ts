import { waitForTimer } from '../../content/waiting.ts';
import { runOnce } from '../sql/thread-rows.ts';
import { postgresSchema } from './statements.ts';
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

/** Runs the statements of a store. */
export interface StatementRunner {
  /** Runs a statement after the tables exist, until no concurrent write keeps it from being made. */
  run: RunQuery;
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
  const prepareTables = isCreating ? runOnce(async () => createMissing(pool)) : async () => {};
  const sendBy = (send: Send): StatementRunner => ({
    async run({ name, text, values: own }, values = own ?? []) {
      await prepareTables();
      const isPrepared = prepare && name !== undefined;
      const query = isPrepared ? { name, text, values } : { text, values };
      return repeatConflicts(async () => send(query).catch(awaitPool));
    },
    sending: sendBy,
  });
  return sendBy(async (query) => pool.query(query));
}

/*
 * `if not exists` fails if two sessions create at once. One statement, so that the lock is held until everything is committed. Who had to wait
 * for it creates nothing: `create index if not exists` alone would lock tables that appends already use. Reading from a table, unlike waiting,
 * makes the session notice what was created.
 */
async function createMissing(pool: PostgresPool): Promise<void> {
  const isMissing = `to_regclass('holdpoint_threads') is null`;
  const { rows } = await pool.query({ text: `select ${isMissing} as missing` });
  if (rows[0]?.['missing'] !== true) return;
  await pool.query({
    text: `do $holdpoint$ begin
      perform pg_advisory_xact_lock(7163384705);
      perform from pg_class limit 0;
      if ${isMissing} then ${postgresSchema} end if;
    end $holdpoint$`,
  });
}
