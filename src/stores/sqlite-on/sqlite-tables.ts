import { createGrantIndex } from '../sql/grant-rows.ts';
import { toAgentColumn, createThreadIndexes } from '../sql/summary-query.ts';
import type { SqliteRow, SqliteStatement, SqliteValue } from './sqlite-driver.ts';
import type { LogEntry, ThreadSummary } from '../../thread/thread-store.ts';
import { makeInvalidRowError, parseSummaryRow } from '../sql/stored-rows.ts';

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
${createThreadIndexes}
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
${createGrantIndex}
`;

/** The statements of the schema, one by one. */
export const schemaStatements: readonly SqliteStatement[] = sqliteSchema
  .split(';')
  .map((text) => ({ text: text.trim(), values: [] }))
  .filter(({ text }) => text !== '');

/** The columns of `holdpoint_threads` beside the thread's id, in the order of `listSummaryValues`. */
export const summaryColumns = [
  'agent',
  'status',
  'revision',
  'hash',
  'open_requests',
  'failures',
  'next_deadline',
  'updated_at',
];

/** A summary as the values of `summaryColumns`. */
export function listSummaryValues(summary: ThreadSummary): SqliteValue[] {
  const { status, revision, hash, openRequests, failures, nextDeadline, updatedAt } = summary;
  const counts = [openRequests, failures, nextDeadline ?? null, updatedAt];
  return [toAgentColumn(summary.agent), status, revision, hash, ...counts];
}

const columns = ['thread_id', ...summaryColumns];

/** The columns that `parseThreadRow` needs, in its order. */
export const threadColumns = columns.join(', ');

/** The summary in a row of `threadColumns`. Throws `log-tampered` for an invalid row. */
export function parseThreadRow(row: SqliteRow): ThreadSummary {
  return parseSummaryRow(Object.fromEntries(columns.map((name, index) => [name, row[index]])));
}

/** The entry in a row of revision and text. Throws `log-tampered` for an invalid row. */
export function parseSqliteEntry([revision, text]: SqliteRow): LogEntry {
  if (typeof text !== 'string' || !Number.isSafeInteger(revision)) throw makeInvalidRowError();
  return Object.freeze({ revision: Number(revision), text });
}
