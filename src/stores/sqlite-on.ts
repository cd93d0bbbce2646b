import type {
  ThreadQuery,
  ThreadStore,
  ThreadStoreGrants,
  ThreadStoreSnapshots,
  ThreadSummary,
} from '../thread/thread-store.ts';
import { makeSqlGrants } from './sql/grants.ts';
import { listHookCalls, refuseUnusedHook } from './sql/hooks.ts';
import {
  deleteOneThread,
  filterPart,
  makePageQuery,
  runOnce,
  threadIndexes,
  threadTable,
} from './sql/thread-rows.ts';
import { callHooks, type SqliteHooks } from './sqlite-on/hooks.ts';
import { makeSqliteDeletion } from './sqlite-on/deletion.ts';
import { makeRequests } from './sqlite-on/request-rows.ts';
import type { SqliteDriver } from './sqlite-on/sqlite-driver.ts';
import {
  appendEntries,
  claimDueThreads,
  parseSqliteEntry,
  schemaStatements,
  snapshotRevision,
  selectThread,
} from './sqlite-on/statements.ts';

export {
  bunDriver,
  d1Driver,
  durableObjectDriver,
  libsqlDriver,
  type SqliteDriver,
  type SqliteRow,
  type SqliteStatement,
} from './sqlite-on/sqlite-driver.ts';
export { sqliteSchema } from './sqlite-on/statements.ts';

/** Options of `sqliteStoreOn`. */
interface SqliteStoreOnOptions extends SqliteHooks {
  /** True if the first use creates missing tables. Default true. To create them in a migration, see `sqliteSchema`. */
  createSchema?: boolean;
  /**
   * True if snapshots are kept, from which long threads open faster. A snapshot is one row that is about as large as the whole thread, and
   * some databases limit the size of a row: D1 and Durable Objects to 2 MB. Default false.
   */
  snapshots?: boolean;
  /** True if open and decided requests are kept as rows, with a feed of their changes. Default true. The tables are needed in any case. */
  requests?: boolean;
}

/** A store on a SQLite database that a driver reaches. */
type SqliteStoreOn = ThreadStore & Required<Pick<ThreadStore, 'grants' | 'deletion'>>;

const readEntries =
  'select revision, entry from holdpoint_entries where thread_id = ? and revision > ? order by revision';
const readSnapshot = `select revision, entry from holdpoint_entries where thread_id = ? and revision = ${snapshotRevision}`;

/**
 * Keeps threads in any SQLite database: Bun's, libsql, Cloudflare's D1 or a Durable Object, or through a driver of your own. An append is
 * as durable as the driver's `batch`. It has no `subscribe`, so workers poll. It closes nothing.
 *
 * @example
 * const agent = createAgent({ model, tools, store: sqliteStoreOn(durableObjectDriver(ctx.storage)) });
 */
export function sqliteStoreOn(
  driver: SqliteDriver,
  { createSchema = true, snapshots = false, requests = true, ...hooks }: SqliteStoreOnOptions = {},
): SqliteStoreOn {
  refuseUnusedHook(hooks, requests);
  const ready = createSchema ? createSchemaFirst(driver) : driver;
  const deletion = makeSqliteDeletion(ready);
  const head = async (threadId: string): Promise<ThreadSummary | undefined> => {
    const [row] = await ready.query({ text: selectThread, values: [threadId] });
    return row && threadTable.parse(row);
  };
  return {
    async read(threadId, afterRevision = 0) {
      const rows = await ready.query({ text: readEntries, values: [threadId, afterRevision] });
      return rows.map(parseSqliteEntry);
    },

    grants: makeGrants(ready),

    ...(snapshots ? { snapshots: makeSnapshots(ready) } : {}),

    ...(requests ? { requests: makeRequests(ready) } : {}),

    async append(threadId, expected, entries, summary, beside) {
      const calls = listHookCalls(hooks, { ...summary, threadId }, beside?.requests);
      const hooked = calls.length === 0 ? [] : await callHooks(calls);
      await appendEntries(ready, { threadId, expected, entries, summary, ...beside, hooked });
    },

    head,

    async list(query) {
      const { text, values } = makePageQuery(query);
      const select = `select ${threadTable.columns} from holdpoint_threads ${chooseIndex(query)} ${text}`;
      return (await ready.query({ text: select, values })).map(threadTable.parse);
    },

    async count(filter, { atMost } = {}) {
      const { text, values } = filterPart(filter);
      const from = `from holdpoint_threads ${chooseIndex(filter)} ${text}`;
      const some = `from (select 1 ${from} limit ?)`;
      const [row] = await ready.query(
        atMost === undefined
          ? { text: `select count(*) ${from}`, values }
          : { text: `select count(*) ${some}`, values: [...values, atMost] },
      );
      return Number(row?.[0]);
    },

    delete: async (...deleted) => deleteOneThread({ head, deletion }, ...deleted),
    deletion,
    claim: async (claim) => claimDueThreads(ready, claim),
  };
}

function makeSnapshots(driver: SqliteDriver): ThreadStoreSnapshots {
  return {
    async read(threadId) {
      const [row] = await driver.query({ text: readSnapshot, values: [threadId] });
      return row && parseSqliteEntry(row).text;
    },
  };
}

function makeGrants(driver: SqliteDriver): ThreadStoreGrants {
  return makeSqlGrants(
    async ({ text, values }) => driver.query({ text, values }),
    async ({ text, values }) => (await driver.batch([{ text, values }]))[0] ?? [],
  );
}

/** Creates the tables before the first statement, and again if that failed. */
function createSchemaFirst(driver: SqliteDriver): SqliteDriver {
  const create = runOnce(async () => driver.batch(schemaStatements));
  return {
    query: async (statement) => create().then(() => driver.query(statement)),
    batch: async (statements) => create().then(() => driver.batch(statements)),
  };
}

/* The index is named, as SQLite has no statistics of these tables. It fails to prepare a query that the index doesn't fit. */
function chooseIndex({
  status,
  agent,
  dueBefore,
  updatedBefore,
  order = 'id',
}: ThreadQuery): string {
  if (dueBefore !== undefined) return `indexed by ${threadIndexes.deadline}`;
  if (order !== 'id' || updatedBefore !== undefined) {
    return `indexed by ${status === undefined ? threadIndexes.time : threadIndexes.statusAndTime}`;
  }
  if (status !== undefined) return `indexed by ${threadIndexes.status}`;
  return agent === undefined ? '' : `indexed by ${threadIndexes.agent}`;
}
