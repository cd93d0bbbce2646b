import type {
  GrantChange,
  LogEnd,
  LogEntry,
  ThreadNotice,
  ThreadStore,
  ThreadSummary,
} from '../thread/thread-store.ts';
import { shareListening, stringifyNotice } from './postgres/listening.ts';
import {
  appendFirst,
  appendFirstWithSnapshot,
  appendFirstWithGrants,
  appendNext,
  appendNextWithGrants,
  appendNextWithSnapshot,
  claimDue,
  claimThread,
  countThreads,
  deleteThreadQuery,
  listThreads,
  numberParameters,
  readClock,
  readEntries,
  readSnapshot,
  readThread,
} from './postgres/statements.ts';
import {
  ignoreConflict,
  isSerializationFailure,
  makeStatementRunner,
  type RunQuery,
  type StatementRunner,
} from './postgres/statement-runner.ts';
import type { PostgresPool, PostgresResult } from './postgres/pool.ts';
import { type OnWake, sendAndWake } from './postgres/wake.ts';
import {
  type GrantStatement,
  type GrantWork,
  groupGrantWork,
  makeGrantEndedError,
  makeSqlGrants,
  toGrantRow,
} from './sql/grants.ts';
import { makeWake, type ThreadWake } from './sql/hooks.ts';
import { makeNotice } from './sql/notices.ts';
import {
  filterPart,
  makeConflictError,
  makePageQuery,
  parseEntryRow,
  parseSummaryRow,
  toAgentColumn,
} from './sql/thread-rows.ts';

export type { PostgresPool } from './postgres/pool.ts';
export type { OnWake } from './postgres/wake.ts';
export { postgresSchema } from './postgres/statements.ts';

/** Options of `postgresStore`. */
export interface PostgresStoreOptions {
  /**
   * Whether the first use creates missing tables; that of standing approvals is created when the first one is searched for or made. Default
   * true. To create them in a migration, see `postgresSchema`.
   */
  createSchema?: boolean;
  /**
   * Whether to prepare statements, once for each connection, which makes appends two to four times as fast. Default false, because not
   * every pooler in transaction mode supports it.
   */
  prepare?: boolean;
  /** The pool for `subscribe`, if `pool` reaches the server through a pooler that doesn't support LISTEN. Default: `pool`. */
  listenPool?: PostgresPool;
  /**
   * Called before each append after which no run holds the thread, to wake who runs it or waits for it: a job of a queue, a workflow. What it
   * writes through `transaction` becomes durable with the append, or not at all; if it rejects, nothing is appended. It is
   * called again if the append is repeated after an error. Await no other queries of the pool in it.
   */
  onWake?: OnWake;
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
  const runner = makeStatementRunner(pool, options);
  const { run } = runner;
  const runOnGrants = async (statement: GrantStatement): Promise<PostgresResult['rows']> =>
    (await runner.runOnGrants(numberParameters(statement))).rows;
  const { listenPool = pool, onWake } = options;
  const listening = shareListening(listenPool);
  const appenderOf = (wake: ThreadWake | undefined): StatementRunner =>
    onWake === undefined || wake === undefined
      ? runner
      : runner.sending(sendAndWake(pool, onWake, wake));
  return {
    async read(threadId, afterRevision = 0) {
      return (await run(readEntries, [threadId, afterRevision])).rows.map(parseEntryRow);
    },

    grants: makeSqlGrants(runOnGrants, runOnGrants),

    snapshots: {
      async read(threadId) {
        return (await run(readSnapshot, [threadId])).rows.map(parseEntryRow)[0]?.text;
      },
    },

    async append(threadId, expected, entries, summary, { grants: changes, snapshot } = {}) {
      const isFirst = expected.revision === 0;
      const after = isFirst ? [] : [expected.revision, expected.hash];
      const values = [...listAppendValues(threadId, entries, summary), ...after];
      if (snapshot !== undefined) values.push(snapshot);
      const first = snapshot === undefined ? appendFirst : appendFirstWithSnapshot;
      const next = snapshot === undefined ? appendNext : appendNextWithSnapshot;
      const appending = appenderOf(makeWake({ ...summary, threadId }));
      const { rowCount } =
        changes === undefined
          ? await appending.run(isFirst ? first : next, values).catch(ignoreConflict)
          : await appendWithGrants(run, appending, { threadId, expected, values, changes });
      if (rowCount !== entries.length) throw makeConflictError(threadId, expected);
    },

    async head(threadId) {
      return (await run(readThread, [threadId])).rows.map(parseSummaryRow)[0];
    },

    async list(query) {
      return (await run(listThreads(makePageQuery(query)))).rows.map(parseSummaryRow);
    },

    async count(filter) {
      const [row] = (await run(countThreads(filterPart(filter)))).rows;
      return Number(row?.['threads']);
    },

    async delete(threadId, expected) {
      const values = [threadId, expected.revision, expected.hash];
      const { rows } = await run(deleteThreadQuery, values).catch(ignoreConflict);
      if (rows[0]?.['deleted'] !== true) throw makeConflictError(threadId, expected);
    },

    async claim({ agent, dueBefore, until, limit, threadId }) {
      const values = [toAgentColumn(agent), dueBefore, until, limit];
      const claiming =
        threadId === undefined ? run(claimDue, values) : run(claimThread, [...values, threadId]);
      return (await claiming.catch(ignoreConflict)).rows.map(parseSummaryRow);
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

function listAppendValues(
  threadId: string,
  entries: readonly LogEntry[],
  summary: ThreadSummary,
): unknown[] {
  const { agent, status, openRequests, failures, nextDeadline = null, updatedAt } = summary;
  const revisions = entries.map(({ revision }) => revision);
  const texts = entries.map(({ text }) => text);
  const thread = [toAgentColumn(agent), status, summary.revision, openRequests, failures];
  const notice = makeNotice({ ...summary, threadId });
  const payload = notice === undefined ? null : stringifyNotice(notice);
  return [threadId, revisions, texts, ...thread, nextDeadline, updatedAt, payload, summary.hash];
}

/** An append, the values of its statement, and its changes of standing approvals. */
interface GrantAppend {
  threadId: string;
  expected: LogEnd;
  values: unknown[];
  changes: readonly GrantChange[];
}

/**
 * Appends, and changes standing approvals, in one statement. Its result has no rows after a concurrent append. Throws `grant-ended` if the
 * log ends where it was expected to, so that a standing approval is the reason.
 */
async function appendWithGrants(
  run: RunQuery,
  appending: StatementRunner,
  { threadId, expected, values, changes }: GrantAppend,
): Promise<PostgresResult> {
  const query = expected.revision === 0 ? appendFirstWithGrants : appendNextWithGrants;
  const work = groupGrantWork(changes);
  for (;;) {
    let isToRetry = false;
    const allValues = [...values, ...listGrantValues(work)];
    const result = await appending.runOnGrants(query, allValues).catch((error: unknown) => {
      isToRetry = isSerializationFailure(error);
      return ignoreConflict(error);
    });
    if (result.rowCount !== 0) return result;
    const [end] = (await run(readThread, [threadId])).rows.map(parseSummaryRow);
    const { revision, hash } = end ?? { revision: 0, hash: '' };
    if (revision !== expected.revision || hash !== expected.hash) return result;
    /* Another thread used or revoked the same grant, in a database whose transactions are isolated more than by default. */
    if (isToRetry) continue;
    if (work.used.length === 0) return result;
    throw makeGrantEndedError(work.used);
  }
}

function listGrantValues({ used, created, at }: GrantWork): unknown[] {
  const rows = created.map(toGrantRow);
  const columns = Array.from({ length: 8 }, (_, index) => rows.map((row) => row[index]));
  return [used.map(({ grantId }) => grantId), used.map(({ count }) => count), at, ...columns];
}

function refuseTooSmall({ options }: PostgresPool): void {
  if (options?.max === undefined || options.max >= 2) return;
  throw new TypeError(
    `subscribe holds one connection of the pool, and this pool opens ${options.max}. ` +
      'Create it with a max of 2 or more, pass another pool as listenPool, or leave subscribe out of the store, so that workers poll.',
  );
}
