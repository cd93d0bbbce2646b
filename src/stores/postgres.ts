import { HoldpointError } from '../errors.ts';
import { agentColumn, filterPart, noticeOf, pagePart } from './sql/summary-query.ts';
import { grantEnded, grantOfRow, grantWork, type GrantWork, rowOfGrant } from './sql/grant-rows.ts';
import { entryOfRow, summaryOfRow } from './sql/stored-rows.ts';
import type {
  LogEnd,
  LogEntry,
  ThreadNotice,
  ThreadStore,
  ThreadStoreGrants,
  ThreadSummary,
} from '../thread/thread-store.ts';
import { payloadOf } from './postgres/notice-payload.ts';
import type { PostgresPool, PostgresQuery, PostgresResult } from './postgres/postgres-pool.ts';
import { listeningOn } from './postgres/shared-listening.ts';
import {
  appendFirst,
  appendFirstWithGrants,
  appendNext,
  appendNextWithGrants,
  claimDue,
  claimThread,
  countThreads,
  createSchema,
  deleteThread,
  findGrants,
  listGrants,
  listThreads,
  readClock,
  readEntries,
  readThread,
  revokeGrant,
  schemaIsMissing,
} from './postgres/statements.ts';

export type {
  PostgresConnection,
  PostgresPool,
  PostgresQuery,
  PostgresResult,
} from './postgres/postgres-pool.ts';
export { postgresSchema } from './postgres/statements.ts';

/** Options of `postgresStore`. */
export interface PostgresStoreOptions {
  /** Whether the first use creates missing tables. Default true. To create them in a migration, see `postgresSchema`. */
  createSchema?: boolean;
  /**
   * Whether to prepare statements, once for each connection, which makes appends two to four times as fast. Default false, because not
   * every pooler in transaction mode supports it.
   */
  prepare?: boolean;
  /** The pool for `subscribe`, if `pool` reaches the server through a pooler that doesn't support LISTEN. Default: `pool`. */
  listenPool?: PostgresPool;
}

/** A store in a Postgres database. It does not end the pool. */
export interface PostgresStore extends ThreadStore {
  /**
   * Listens on one connection, which all subscribers of all stores on the pool share. After it has connected or reconnected, listeners are
   * called without a notice. Listeners must not throw. Throws a `TypeError` if `pool` has a `max` of 1 and there is no `listenPool`, because
   * no connection would be left for queries.
   */
  subscribe(listener: (notice?: ThreadNotice) => void): () => Promise<void>;
  /**
   * Deletes the thread. Its rows remain in the server's files until a vacuum has removed them and their space is reused, and in the
   * write-ahead log, replicas and backups for as long as those are kept.
   */
  delete(threadId: string, expected: LogEnd): Promise<void>;
  /** The server's clock, so that machines whose clocks differ agree on leases and deadlines. */
  now(): Promise<number>;
}

/** The error codes of a concurrent write: `unique_violation` and `serialization_failure`. */
const conflictCodes: readonly unknown[] = ['23505', '40001'];

/**
 * Keeps threads in Postgres, through a `Pool` of `pg`, for any number of machines. It works behind a pooler in transaction mode: every append
 * is one statement and needs no session state. Add an `error` listener to the pool, as `pg` requires; without one, an idle connection that
 * drops ends the process.
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

    grants: postgresGrants(run),

    async append(threadId, expected, entries, summary, changes) {
      const values = appendedValues(threadId, entries, summary);
      const isFirst = expected.revision === 0;
      const after = isFirst ? [] : [expected.revision, expected.hash];
      if (changes === undefined) {
        const query = isFirst ? appendFirst : appendNext;
        const { rowCount } = await run(query, [...values, ...after]).catch(nothingOnConflict);
        if (rowCount !== entries.length) throw conflict(threadId, expected);
        return;
      }
      const query = isFirst ? appendFirstWithGrants : appendNextWithGrants;
      const work = grantWork(changes);
      const all = [...values, ...after, ...grantValues(work)];
      const { rowCount } = await run(query, all).catch(nothingOnConflict);
      if (rowCount === entries.length) return;
      const [end] = (await run(readThread, [threadId])).rows.map(summaryOfRow);
      const { revision, hash } = end ?? { revision: 0, hash: '' };
      const isAtEnd = revision === expected.revision && hash === expected.hash;
      throw isAtEnd && work.used.length > 0 ? grantEnded(work.used) : conflict(threadId, expected);
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
      const { rows } = await run(deleteThread, values).catch(nothingOnConflict);
      if (rows[0]?.['deleted'] !== true) throw conflict(threadId, expected);
    },

    async claim({ agent, dueBefore, until, limit, threadId }) {
      const values = [agentColumn(agent), dueBefore, until, limit];
      const claiming =
        threadId === undefined ? run(claimDue, values) : run(claimThread, [...values, threadId]);
      return (await claiming.catch(nothingOnConflict)).rows.map(summaryOfRow);
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

/** The standing approvals of the database. */
function postgresGrants(run: Run): ThreadStoreGrants {
  return {
    async find({ agent, toolName, person, at }) {
      const values = [agentColumn(agent), toolName, person, at];
      return (await run(findGrants, values)).rows.map(grantOfRow);
    },

    async list({ agent, after = '', limit = 100 }) {
      const name = agent === undefined ? null : agentColumn(agent);
      return (await run(listGrants, [name, after, limit])).rows.map(grantOfRow);
    },

    async revoke(grantId) {
      return (await run(revokeGrant, [grantId])).rowCount === 1;
    },
  };
}

function grantValues({ used, created, at }: GrantWork): unknown[] {
  const rows = created.map(rowOfGrant);
  const columns = Array.from({ length: 8 }, (_, index) => rows.map((row) => row[index]));
  return [used.map(({ grantId }) => grantId), used.map(({ count }) => count), at, ...columns];
}

/** Runs statements after the tables exist. */
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

/** Runs work once, and again only if it failed. */
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
    `The log of thread ${threadId} does not end at the expected revision ${revision}, or was replaced.`,
  );
}

function nothingOnConflict(error: unknown): PostgresResult {
  if (conflictCodes.includes(Reflect.get(Object(error), 'code'))) return { rows: [], rowCount: 0 };
  throw error;
}
