import { HoldpointError } from '../errors.ts';
import { agentColumn, filterPart, noticeOf, pagePart } from './sql/summary-query.ts';
import { entryOfRow, summaryOfRow } from './sql/stored-rows.ts';
import type {
  LogEnd,
  LogEntry,
  ThreadNotice,
  ThreadStore,
  ThreadSummary,
} from '../thread/thread-store.ts';
import { payloadOf } from './postgres/notice-payload.ts';
import type { PostgresPool, PostgresQuery, PostgresResult } from './postgres/postgres-pool.ts';
import { listeningOn } from './postgres/shared-listening.ts';
import {
  appendFirst,
  appendNext,
  claimDue,
  claimThread,
  countThreads,
  createSchema,
  deleteThread,
  listThreads,
  readClock,
  readEntries,
  readThread,
  schemaIsMissing,
} from './postgres/statements.ts';

export type {
  PostgresConnection,
  PostgresPool,
  PostgresQuery,
  PostgresResult,
} from './postgres/postgres-pool.ts';
export { postgresSchema } from './postgres/statements.ts';

/** How a Postgres database is used. */
export interface PostgresStoreOptions {
  /** Whether the first use creates the tables where they are missing. Default true; see `postgresSchema`. */
  createSchema?: boolean;
  /**
   * Whether statements are prepared, once for each connection; an append is then two to four times as fast. Default
   * false, as not every pooler in transaction mode can do it.
   */
  prepare?: boolean;
  /** For `subscribe`, where `pool` reaches the server through a pooler that can't LISTEN. Default: `pool`. */
  listenPool?: PostgresPool;
}

/** A store in one Postgres database. The pool is yours to end. */
export interface PostgresStore extends ThreadStore {
  /**
   * Listens on one connection, which all subscribers of all stores on the pool share and which is renewed when it drops; whenever it has begun to listen
   * (again), listeners are called without a notice. They must not throw. Throws a `TypeError` where `pool` has a `max` of 1 and
   * there is no `listenPool`: no connection would be left for queries.
   */
  subscribe(listener: (notice?: ThreadNotice) => void): () => Promise<void>;
  /**
   * Removes the thread. Its rows stay in the server's files until a vacuum has removed them and their space is used again, and in its
   * write-ahead log, replicas and backups for as long as those are kept.
   */
  delete(threadId: string, expected: LogEnd): Promise<void>;
  /** The server's clock, so that machines whose clocks differ measure leases alike. */
  now(): Promise<number>;
}

/** What Postgres says of a write that came second: `unique_violation`, `serialization_failure`. */
const conflictCodes: readonly unknown[] = ['23505', '40001'];

/**
 * Threads in Postgres, through a `Pool` of `pg`, for any number of machines. It works behind a pooler in transaction mode:
 * every append is one statement, which keeps nothing in a session. Give the pool an `error` listener, as `pg` asks: without
 * one, an idle connection that drops ends the process.
 *
 * @example
 * const agent = createAgent({ model, tools, store: postgresStore(new Pool({ connectionString })) });
 */
export function postgresStore(
  pool: PostgresPool,
  options: PostgresStoreOptions = {},
): PostgresStore {
  const run = statementRunner(pool, options);
  const { listenPool = pool } = options;
  const listening = listeningOn(listenPool);
  return {
    async read(threadId, afterRevision = 0) {
      return (await run(readEntries, [threadId, afterRevision])).rows.map(entryOfRow);
    },

    async append(threadId, expected, entries, summary) {
      const values = appendedValues(threadId, entries, summary);
      const appending =
        expected.revision === 0
          ? run(appendFirst, values)
          : run(appendNext, [...values, expected.revision, expected.hash]);
      const { rowCount } = await appending.catch(nothingIfLate);
      if (rowCount !== entries.length) throw conflict(threadId, expected);
    },

    async head(threadId) {
      return (await run(readThread, [threadId])).rows.map(summaryOfRow)[0];
    },

    async list(query) {
      return (await run(listThreads(pagePart(query)))).rows.map(summaryOfRow);
    },

    async count(filter) {
      const [row] = (await run(countThreads(filterPart(filter)))).rows;
      return Number(row?.['threads']);
    },

    async delete(threadId, expected) {
      const values = [threadId, expected.revision, expected.hash];
      const { rows } = await run(deleteThread, values).catch(nothingIfLate);
      if (rows[0]?.['deleted'] !== true) throw conflict(threadId, expected);
    },

    async claim({ agent, dueBefore, until, limit, threadId }) {
      const values = [agentColumn(agent), dueBefore, until, limit];
      const claiming =
        threadId === undefined ? run(claimDue, values) : run(claimThread, [...values, threadId]);
      return (await claiming.catch(nothingIfLate)).rows.map(summaryOfRow);
    },

    subscribe(listener) {
      if (listenPool === pool) refuseTooSmall(pool);
      return listening.add(listener);
    },

    async now() {
      const [row] = (await run(readClock)).rows;
      return Number(row?.['now']);
    },
  };
}

type Run = (query: PostgresQuery, values?: unknown[]) => Promise<PostgresResult>;

/** Runs statements once the tables are there. */
function statementRunner(
  pool: PostgresPool,
  { createSchema: isCreating = true, prepare = false }: PostgresStoreOptions,
): Run {
  const schema = isCreating ? onceDone(async () => createMissingSchema(pool)) : async () => {};
  return async ({ name, text, values: own }, values = own ?? []) => {
    await schema();
    const isPrepared = prepare && name !== undefined;
    return pool.query(isPrepared ? { name, text, values } : { text, values });
  };
}

async function createMissingSchema(pool: PostgresPool): Promise<void> {
  const { rows } = await pool.query({ text: schemaIsMissing });
  if (rows[0]?.['missing'] === true) await pool.query({ text: createSchema });
}

/** Work that is done once; again only when it failed. */
function onceDone(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return async () => {
    done ??= work().catch((error: unknown) => {
      done = undefined;
      throw error;
    });
    return done;
  };
}

function appendedValues(
  threadId: string,
  entries: readonly LogEntry[],
  summary: ThreadSummary,
): unknown[] {
  const { agent, status, openRequests, failures, nextDeadline = null, updatedAt } = summary;
  const revisions = entries.map(({ revision }) => revision);
  const texts = entries.map(({ text }) => text);
  const thread = [agentColumn(agent), status, summary.revision, openRequests, failures];
  const notice = noticeOf({ ...summary, threadId });
  const payload = notice === undefined ? null : payloadOf(notice);
  return [threadId, revisions, texts, ...thread, nextDeadline, updatedAt, payload, summary.hash];
}

function refuseTooSmall({ options }: PostgresPool): void {
  if (options?.max === undefined || options.max >= 2) return;
  throw new TypeError(
    `subscribe holds one connection of the pool, and this pool opens ${options.max}. ` +
      'Create it with a max of 2 or more, pass another pool as listenPool, or leave subscribe out of the store, so that workers poll.',
  );
}

function conflict(threadId: string, { revision }: LogEnd): HoldpointError {
  return new HoldpointError(
    'revision-conflict',
    `The log of thread ${threadId} does not end where revision ${revision} was expected.`,
  );
}

function nothingIfLate(error: unknown): PostgresResult {
  if (conflictCodes.includes(Reflect.get(Object(error), 'code'))) return { rows: [], rowCount: 0 };
  throw error;
}
