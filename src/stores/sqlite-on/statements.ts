import { readErrorText } from '../../content/app-errors.ts';
import type {
  GrantChange,
  LogEnd,
  LogEntry,
  ThreadClaim,
  ThreadSummary,
} from '../../thread/thread-store.ts';
import { grantTable, type GrantWork, groupGrantWork, createGrantIndex } from '../sql/grants.ts';
import { makeConflictError, makeGrantEndedError } from '../rows/tables.ts';
import {
  toAgentColumn,
  threadIndexes,
  threadTable,
  createThreadIndexes,
} from '../sql/thread-rows.ts';
import { makeInvalidRowError } from '../sql/sql-table.ts';
import type { RequestChange } from '../../thread/thread-store-requests.ts';
import { listRowStatements, makeChangeStatements, requestSchema } from './request-rows.ts';
import type { SqliteDriver, SqliteStatement, SqliteValue, SqliteRow } from './sqlite-driver.ts';

/*
 * The tables have a rowid. `without rowid`, SQLite would load whole rows to compare keys: to find a thread, it would read megabytes of
 * entries of other threads, and to filter by an index, every row.
 */
/** The SQL that creates the tables, for a migration of your own. It may run any number of times. */
export const sqliteSchema = `
create table if not exists holdpoint_entries (
  thread_id text not null,
  revision integer not null,
  entry text not null,
  primary key (thread_id, revision)
) strict;
create table if not exists holdpoint_threads (
  thread_id text primary key not null,
  agent text not null,
  status text not null,
  revision integer not null,
  hash text not null,
  open_requests integer not null,
  failures integer not null,
  next_deadline real,
  updated_at real not null
) strict;
${createThreadIndexes(['deadline', 'time', 'status', 'statusAndTime', 'agent'])}
create table if not exists holdpoint_grants (
  grant_id text primary key not null,
  agent text not null,
  tool_name text not null,
  person text,
  body text not null,
  created_at real not null,
  expires_at real,
  uses_left integer
) strict;
${createGrantIndex}${requestSchema}`;

/** The statements of the schema, one by one. */
export const schemaStatements: readonly SqliteStatement[] = sqliteSchema
  /* A trigger has statements of its own. */
  .split(/;\s*(?=create |$)/)
  .map((text) => ({ text: text.trim(), values: [] }))
  .filter(({ text }) => text !== '');

/** The columns of `holdpoint_threads` beside the thread's id. */
const summaryColumns = [...threadTable.fields.keys()].slice(1);

export const selectThread = `select ${threadTable.columns} from holdpoint_threads where thread_id = ?`;

/** The entry in a row of revision and text. Throws `log-tampered` for an invalid row. */
export function parseSqliteEntry([revision, text]: SqliteRow): LogEntry {
  if (typeof text !== 'string' || !Number.isSafeInteger(revision)) throw makeInvalidRowError();
  return Object.freeze({ revision: Number(revision), text });
}

/* The conditions under which the statements of a batch write: see `appendEntries`. */

/** The condition that a thread has no log. */
const hasNoLog = 'not exists (select 1 from holdpoint_threads where thread_id = ?)';

/** The condition that the log of a thread ends at a revision with a hash. */
const endsAt =
  'exists (select 1 from holdpoint_threads where thread_id = ? and revision = ? and hash = ?)';

/** The values of the condition for this end: those of `hasNoLog` or of `endsAt`. */
function endValues(threadId: string, { revision, hash }: LogEnd): SqliteValue[] {
  return revision === 0 ? [threadId] : [threadId, revision, hash];
}

/** The revision in the row of a snapshot, which no entry has. */
export const snapshotRevision = 0;

/** The revision of a row that is never written. */
const guardRevision = -1;

/** An append that a store is asked for. */
interface Append {
  threadId: string;
  expected: LogEnd;
  entries: readonly LogEntry[];
  summary: ThreadSummary;
  grants?: readonly GrantChange[];
  snapshot?: string;
  requests?: readonly RequestChange[];
  /** The statements of hooks. */
  hooked: readonly SqliteStatement[];
}

/* Checks whether this append has inserted its first entry: until its last statement, the log ends before its entries. */
const hasEntryAfter =
  'exists (select 1 from holdpoint_entries where thread_id = ? and revision > ?)';
const hasUses = `
  (select count(*) from json_each(?) as wanted join holdpoint_grants on grant_id = wanted.value ->> 'grantId'
  where (expires_at is null or expires_at > ?) and (uses_left is null or uses_left >= wanted.value ->> 'count')) = ?`;
const readEnd = 'select revision, hash from holdpoint_threads where thread_id = ?';

const firstAppend = makeAppendStatements(
  hasNoLog,
  `insert into holdpoint_threads (${summaryColumns.join(', ')}, thread_id)
   select ${summaryColumns.map(() => '?').join(', ')}, ? where ${hasNoLog}`,
);
const nextAppend = makeAppendStatements(
  endsAt,
  `update holdpoint_threads set ${summaryColumns.map((name) => `${name} = ?`).join(', ')}
   where thread_id = ? and revision = ? and hash = ?`,
);

function makeAppendStatements(isAtEnd: string, writeThread: string) {
  const insertEntry =
    'insert into holdpoint_entries (thread_id, revision, entry) select ?, ?, ? where';
  const hasBegun = `${isAtEnd} and ${hasEntryAfter}`;
  return {
    firstEntry: `${insertEntry} ${isAtEnd}`,
    firstEntryWithUses: `${insertEntry} ${isAtEnd} and ${hasUses}`,
    furtherEntry: `${insertEntry} ${hasBegun}`,
    keepSnapshot: `
      insert into holdpoint_entries (thread_id, revision, entry) select ?, ${snapshotRevision}, ? where ${hasBegun}
      on conflict (thread_id, revision) do update set entry = excluded.entry`,
    /* Fails, and with it the whole batch, unless this append has begun: see `isNotBegun`. */
    requireBegun: `
      insert into holdpoint_entries (thread_id, revision, entry) select ?, ${guardRevision}, null where not (${hasBegun})`,
    requests: makeChangeStatements(hasBegun),
    createGrant: `insert into holdpoint_grants (${grantTable.columns}) select ${grantTable.placeholders} where ${hasBegun}`,
    useGrant: `
      update holdpoint_grants set uses_left = uses_left - ? where grant_id = ? and uses_left is not null and ${hasBegun}`,
    revokeGrant: `delete from holdpoint_grants where grant_id = ? and ${hasBegun}`,
    deleteUsedUp: `delete from holdpoint_grants where grant_id = ? and uses_left = 0 and ${hasBegun}`,
    writeThread: `${writeThread} and ${hasEntryAfter} returning revision`,
  };
}

/**
 * Appends in one batch, because some databases run several statements in one transaction only in this way, without code in between that
 * could decide: each statement has the condition under which it writes. The first entry is inserted if the log ends at `expected` and the
 * standing approvals have the uses; every other statement takes effect only if it was. The thread's row comes last, as the conditions
 * compare it.
 */
export async function appendEntries(driver: SqliteDriver, asked: Append): Promise<void> {
  const { threadId, expected, grants } = asked;
  const work = grants === undefined ? noWork : groupGrantWork(grants);
  const results = await runBatch(driver, asked, work);
  if (results.at(-1)?.length === 1) return;
  if (work.used.length === 0) throw makeConflictError(threadId, expected);
  const [revision, hash] = results[0]?.[0] ?? [0, ''];
  const isAsExpected = revision === expected.revision && hash === expected.hash;
  throw isAsExpected ? makeGrantEndedError(work.used) : makeConflictError(threadId, expected);
}

/* The statements of hooks have no condition, so the whole batch fails if the append is not made. The first result is the end of the log. */
async function runBatch(
  driver: SqliteDriver,
  asked: Append,
  work: GrantWork,
): Promise<readonly (readonly SqliteRow[])[]> {
  try {
    return await driver.batch(appendStatements(asked, work));
  } catch (error) {
    if (asked.hooked.length === 0 || !isNotBegun(error)) throw error;
    const end = await driver.query({ text: readEnd, values: [asked.threadId] });
    return [end, []];
  }
}

/** Checks whether the statement `requireBegun` has failed. */
function isNotBegun(error: unknown): boolean {
  return readErrorText(error).includes('NOT NULL constraint failed: holdpoint_entries.entry');
}

const noWork: GrantWork = { created: [], used: [], at: 0 };

/* The last one returns a row if the append was made. The first one reads the end of the log, if standing approvals are used. */
function appendStatements(
  { threadId, expected, entries: [first, ...further], summary, snapshot, requests, hooked }: Append,
  { created, used, at }: GrantWork,
): SqliteStatement[] {
  const sql = expected.revision === 0 ? firstAppend : nextAppend;
  const isAtEnd = endValues(threadId, expected);
  const hasBegun = [...isAtEnd, threadId, expected.revision];
  const statements: SqliteStatement[] = [];
  const add = (text: string, ...values: SqliteValue[]): number => statements.push({ text, values });
  if (used.length > 0) add(readEnd, threadId);
  if (first !== undefined) {
    const values = [threadId, first.revision, first.text, ...isAtEnd];
    if (used.length === 0) add(sql.firstEntry, ...values);
    else add(sql.firstEntryWithUses, ...values, JSON.stringify(used), at, used.length);
  }
  for (const { revision, text } of further) {
    add(sql.furtherEntry, threadId, revision, text, ...hasBegun);
  }
  if (hooked.length > 0) {
    add(sql.requireBegun, threadId, ...hasBegun);
    statements.push(...hooked);
  }
  for (const change of requests ?? []) {
    statements.push(...listRowStatements(sql.requests, change, hasBegun));
  }
  if (snapshot !== undefined) add(sql.keepSnapshot, threadId, snapshot, ...hasBegun);
  for (const grant of created) add(sql.createGrant, ...grantTable.listValues(grant), ...hasBegun);
  for (const { grantId, count } of used) {
    if (count === 0) add(sql.revokeGrant, grantId, ...hasBegun);
    else {
      add(sql.useGrant, count, grantId, ...hasBegun);
      add(sql.deleteUsedUp, grantId, ...hasBegun);
    }
  }
  const inserted = expected.revision === 0 ? [threadId] : [];
  add(
    sql.writeThread,
    ...threadTable.listValues(summary, summaryColumns),
    ...inserted,
    ...hasBegun,
  );
  return statements;
}

/* A select and an update, because `update … returning` returns rows in no order. In one transaction both find the same threads. */
export async function claimDueThreads(
  driver: SqliteDriver,
  { agent, dueBefore, until, limit, threadId }: ThreadClaim,
): Promise<ThreadSummary[]> {
  const one = threadId === undefined ? [] : [threadId];
  const from = `
    from holdpoint_threads ${one.length === 0 ? `indexed by ${threadIndexes.deadline}` : ''}
    where agent = ? and next_deadline < ? ${one.length === 0 ? '' : 'and thread_id = ?'}
    order by next_deadline limit ?`;
  const values = [toAgentColumn(agent), dueBefore, ...one, limit];
  const select = { text: `select ${threadTable.columns} ${from}`, values };
  /* Workers that find nothing must neither wait for each other nor wake each other by a write. */
  if ((await driver.query(select)).length === 0) return [];
  const [due = []] = await driver.batch([
    select,
    {
      text: `update holdpoint_threads set next_deadline = ? where thread_id in (select thread_id ${from})`,
      values: [until, ...values],
    },
  ]);
  return due.map((row) => ({ ...threadTable.parse(row), nextDeadline: until }));
}
