import { waitForTimer } from '../../content/waiting.ts';
import { runOnce } from '../sql/thread-rows.ts';
import { postgresSchema } from './statements.ts';
import { type PostgresPool, type PostgresQuery, type PostgresResult } from './pool.ts';

const uniqueViolation = '23505';

const serializationFailure = '40001';

/** Checks whether an error is that of a row whose key is in the table. */
export function isUniqueViolation(error: unknown): boolean {
  return readSqlState(error) === uniqueViolation;
}

/**
 * Retries a statement that fails because of a concurrent write. With a stricter isolation than the default, that can happen to every
 * statement, also to one that only reads.
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
 * Lets the pool notice its other connections first, if one has ended during a statement: all may have ended, and a retry at once would get
 * the next of them.
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

/* The parsers, by the id of a type in the server's catalog; everything else that the store reads is a text. */
const parsers = new Map<number, (text: string) => unknown>([
  [16, (text) => text === 't'],
  ...[20, 21, 23, 700, 701].map((id) => [id, parseNumber] as const),
]);

/* With `extra_float_digits` of 0 or less, the server rounds the largest number up, beyond the largest number. */
function parseNumber(text: string): number {
  return Math.min(Number(text), Number.MAX_VALUE);
}

/** The store's own parsers, in place of those that the app has set for all of `pg`. */
const types: PostgresQuery['types'] = {
  getTypeParser: (typeId) => parsers.get(typeId) ?? String,
};

/** Runs a statement. Values that are not given are those of the query. */
export type RunQuery = (query: PostgresQuery, values?: unknown[]) => Promise<PostgresResult>;

/** Sends a statement to the server. */
export type Send = (query: PostgresQuery) => Promise<PostgresResult>;

/** Runs the statements of a store. */
export interface StatementRunner {
  /** Runs a statement once the tables exist, and retries it after concurrent writes. */
  run: RunQuery;
  /** Makes the same runner with another way of sending statements. */
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
      const query = isPrepared ? { name, text, values, types } : { text, values, types };
      return repeatConflicts(async () => send(query).catch(awaitPool));
    },
    sending: sendBy,
  });
  return sendBy(async (query) => pool.query(query));
}

/*
 * `if not exists` fails if two sessions create at once. One statement, so that the lock is held until everything is committed. A session
 * that had to wait for it creates nothing: `create index if not exists` alone would lock tables that appends already use. Reading from a
 * table, unlike waiting, makes the session notice what was created.
 */
async function createMissing(pool: PostgresPool): Promise<void> {
  const isMissing = `to_regclass('holdpoint_threads') is null`;
  const { rows } = await pool.query({ text: `select ${isMissing} as missing`, types });
  if (rows[0]?.['missing'] !== true) return;
  await pool.query({
    text: `do $holdpoint$ begin
      perform pg_advisory_xact_lock(7163384705);
      perform from pg_class limit 0;
      if ${isMissing} then ${postgresSchema} end if;
    end $holdpoint$`,
  });
}
