import type { LogEntry, ThreadSummary } from '../../thread/thread-store.ts';
import { invalidRow, summaryOfRow } from '../sql/stored-rows.ts';
import { agentColumn } from '../sql/summary-query.ts';
import type { SqliteRow, SqliteValue } from './sqlite-driver.ts';

/** The columns of `holdpoint_threads` beside the thread's id, in the order of `summaryValues`. */
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
export function summaryValues(summary: ThreadSummary): SqliteValue[] {
  const { status, revision, hash, openRequests, failures, nextDeadline, updatedAt } = summary;
  const counts = [openRequests, failures, nextDeadline ?? null, updatedAt];
  return [agentColumn(summary.agent), status, revision, hash, ...counts];
}

const columns = ['thread_id', ...summaryColumns];

/** The columns that `threadOfRow` needs, in its order. */
export const threadColumns = columns.join(', ');

/** The summary in a row of `threadColumns`. Throws `log-tampered` for an invalid row. */
export function threadOfRow(row: SqliteRow): ThreadSummary {
  return summaryOfRow(Object.fromEntries(columns.map((name, index) => [name, row[index]])));
}

/** The entry in a row of revision and text. Throws `log-tampered` for an invalid row. */
export function entryOfRow([revision, text]: SqliteRow): LogEntry {
  if (typeof text !== 'string' || !Number.isSafeInteger(revision)) throw invalidRow();
  return Object.freeze({ revision: Number(revision), text });
}
