import { checkMethods } from '../content/check-settings.ts';
import type { ThreadStoreRequests } from '../thread/thread-store-requests.ts';
import type {
  ClaimNotice,
  LogEnd,
  StoreNotice,
  ThreadStore,
  ThreadSummary,
} from '../thread/thread-store.ts';
import { type Append, makeAppendQuery } from './postgres/append.ts';
import { makePostgresDeletion } from './postgres/deletion.ts';
import { type PostgresTransaction, sendAfterHooks } from './postgres/hooks.ts';
import { makeNoticeFilter, shareListening } from './postgres/listening.ts';
import { stringifyNotice } from './postgres/notice-payloads.ts';
import { shareSender } from './postgres/notice-sender.ts';
import type { PostgresPool, PostgresResult } from './postgres/pool.ts';
import { makePostgresRequests } from './postgres/requests.ts';
import {
  isUniqueViolation,
  makeStatementRunner,
  type StatementRunner,
} from './postgres/statement-runner.ts';
import {
  claimDue,
  claimThread,
  countThreads,
  listThreads,
  numberParameters,
  readClock,
  readEntries,
  readSnapshot,
  readThread,
} from './postgres/statements.ts';
import { type GrantStatement, groupGrantWork, makeSqlGrants } from './sql/grants.ts';
import { makeConflictError, makeGrantEndedError } from './rows/tables.ts';
import { type AppendHooks, listHookCalls, refuseUnusedHook } from './sql/hooks.ts';
import { makeNotice } from './rows/notices.ts';
import { deleteOneThread, parseEntryRow, threadTable, toAgentColumn } from './sql/thread-rows.ts';

export type { PostgresPool } from './postgres/pool.ts';
export { postgresSchema } from './postgres/statements.ts';

type Hooks = Required<AppendHooks<PostgresTransaction>>;

/** Called before an append, in its transaction. If it throws or rejects, nothing is appended. */
export type OnWake = Hooks['onWake'];

/** Called before an append that changes requests, in its transaction. If it throws or rejects, nothing is appended. */
type OnRequests = Hooks['onRequests'];

/** Options of `postgresStore`. */
interface PostgresStoreOptions {
  /**
   * True if the first use creates the tables of a database that has none. Default true. To create them in a migration, see
   * `postgresSchema`.
   */
  createSchema?: boolean;
  /**
   * True to prepare statements, once for each connection, which makes appends two to four times as fast. Default false, because not every
   * pooler in transaction mode supports it.
   */
  prepare?: boolean;
  /** The pool for `subscribe`, if `pool` reaches the server through a pooler that doesn't support LISTEN. Default: `pool`. */
  listenPool?: PostgresPool;
  /**
   * Called before each append after which no run holds the thread, to wake what runs or awaits it: a job of a queue, a workflow. Its writes
   * through `transaction` become durable with the append, or not at all; if it rejects, nothing is appended. It is called again if the
   * append is repeated after an error. Await no other queries of the pool in it.
   */
  onWake?: OnWake;
  /**
   * Called before each append that opens, changes or closes requests, also while a run holds the thread, to notify people: a row of an
   * outbox, a job that sends a mail. Otherwise like `onWake`, and called before it, in the same transaction.
   */
  onRequests?: OnRequests;
  /** True if open and decided requests are kept as rows, with a feed of their changes. Default true. */
  requests?: boolean;
}

/** A store in a Postgres database. It does not end the pool. */
export interface PostgresStore extends ThreadStore {
  /**
   * Listens on one connection, which all subscribers of all stores on the pool share. After it has connected or reconnected, listeners are
   * called without a notice. Listeners must not throw. Throws a `TypeError` if there is no `listenPool` and `pool` has a `max` of 1 or
   * doesn't say its `max`, because no connection might be left for queries.
   */
  subscribe(listener: (notice?: StoreNotice) => void): () => Promise<void>;
  /**
   * Deletes the thread. Its rows remain in the server's files until a vacuum has removed them and their space is reused, and in the
   * write-ahead log, replicas and backups for as long as those are kept.
   */
  delete(threadId: string, expected: LogEnd): Promise<void>;
  /** The open and decided requests of all threads, and the feed of their changes; absent with `requests: false`. */
  requests?: ThreadStoreRequests;
  /** Sends a worker's notice to all subscribers. */
  send(notice: ClaimNotice): void;
  /** The server's clock, so that machines whose clocks differ agree on leases and deadlines. */
  now(): Promise<number>;
}

/**
 * Keeps threads in Postgres, through a `Pool` of `pg`, for any number of machines. It works behind a pooler in transaction mode: every
 * append is one statement and needs no session state. Add an `error` listener to the pool, as `pg` requires; without one, an idle
 * connection that drops ends the process.
 *
 * @example
 * const pool = new Pool({ connectionString });
 * pool.on('error', console.error);
 * const agent = createAgent({ model, tools, store: postgresStore(pool) });
 */
export function postgresStore(
  pool: PostgresPool,
  options: PostgresStoreOptions = {},
): PostgresStore {
  const { listenPool = pool, requests: keepsRequests = true } = options;
  checkMethods(
    pool,
    ['query', 'connect'],
    'postgresStore needs a Pool of pg, such as new Pool({ connectionString })',
  );
  checkMethods(listenPool, ['connect'], 'listenPool must be a Pool of pg');
  const runner = makeStatementRunner(pool, options);
  const { run } = runner;
  const runOnGrants = async (statement: GrantStatement): Promise<PostgresResult['rows']> =>
    (await run(numberParameters(statement))).rows;
  refuseUnusedHook(options, keepsRequests);
  const deletion = makePostgresDeletion(runner);
  const head = async (threadId: string): Promise<ThreadSummary | undefined> =>
    (await run(readThread, [threadId])).rows.map(threadTable.parse)[0];
  const listening = shareListening(listenPool);
  const sender = shareSender(pool, options);
  const isOwn = makeNoticeFilter(run);
  return {
    async read(threadId, afterRevision = 0) {
      return (await run(readEntries, [threadId, afterRevision])).rows.map(parseEntryRow);
    },

    grants: makeSqlGrants(runOnGrants, runOnGrants),

    ...(keepsRequests ? { requests: makePostgresRequests(runner) } : {}),

    snapshots: {
      async read(threadId) {
        return (await run(readSnapshot, [threadId])).rows.map(parseEntryRow)[0]?.text;
      },
    },

    async append(threadId, expected, entries, summary, { grants, snapshot, requests } = {}) {
      const hooks = listHookCalls(options, { ...summary, threadId }, requests);
      const appending = hooks.length === 0 ? runner : runner.sending(sendAfterHooks(pool, hooks));
      const beside = {
        ...(grants === undefined ? {} : { grants: groupGrantWork(grants) }),
        ...(snapshot === undefined ? {} : { snapshot }),
        ...(requests === undefined ? {} : { requests }),
      };
      await append(runner, appending, { threadId, expected, entries, summary, beside });
      const notice = makeNotice({ ...summary, threadId }, requests);
      if (notice === undefined) return;
      const sending = sender.send(stringifyNotice(notice) ?? '');
      /* A function that answers and is then stopped has notified the workers. */
      if (notice.nextDeadline === 0) await sending;
    },

    head,

    async list(query) {
      return (await run(listThreads(query))).rows.map(threadTable.parse);
    },

    async count(filter, { atMost } = {}) {
      const [row] = (await run(countThreads(filter, atMost))).rows;
      return Number(row?.['threads']);
    },

    deletion,

    delete: async (...deleted) => deleteOneThread({ head, deletion }, ...deleted),

    async claim({ agent, dueBefore, until, limit, threadId }) {
      const values = [toAgentColumn(agent), dueBefore, until, limit];
      const claiming =
        threadId === undefined ? run(claimDue, values) : run(claimThread, [...values, threadId]);
      return (await claiming).rows.map(threadTable.parse);
    },

    subscribe(listener) {
      if (listenPool === pool) refuseTooSmall(pool);
      return listening.addListener(isOwn, listener);
    },

    send(notice) {
      const payload = stringifyNotice(notice);
      if (payload !== undefined) void sender.send(payload);
    },

    async now() {
      const [row] = (await run(readClock)).rows;
      return Number(row?.['now']);
    },
  };
}

/**
 * Appends in one statement. Throws `grant-ended` if the log ends where it was expected to, so that a standing approval is the reason why
 * nothing was written, and `revision-conflict` otherwise.
 */
async function append(
  runner: StatementRunner,
  appending: StatementRunner,
  asked: Append,
): Promise<void> {
  const { threadId, expected, entries, beside } = asked;
  const { rowCount } = await appending.run(makeAppendQuery(asked)).catch((error: unknown) => {
    if (isUniqueViolation(error)) return { rowCount: 0 };
    throw error;
  });
  if (rowCount === entries.length) return;
  const used = beside.grants?.used ?? [];
  if (used.length > 0 && rowCount === 0) {
    const [end] = (await runner.run(readThread, [threadId])).rows.map(threadTable.parse);
    const { revision, hash } = end ?? { revision: 0, hash: '' };
    const isAtEnd = revision === expected.revision && hash === expected.hash;
    if (isAtEnd) throw makeGrantEndedError(used);
  }
  throw makeConflictError(threadId, expected);
}

/* Without a second connection, every query would wait for the one that listens, silently and forever. */
function refuseTooSmall({ options: { max } = {} }: PostgresPool): void {
  if (max !== undefined && max >= 2) return;
  const size =
    max === undefined
      ? 'this one has no options.max that says how many it opens'
      : `this pool opens ${max}`;
  throw new TypeError(
    `subscribe holds one connection of the pool, and ${size}. ` +
      'Create it with a max of 2 or more (an object of your own around a Pool needs its options), pass another pool as listenPool, or leave subscribe out of the store, so that workers poll.',
  );
}
