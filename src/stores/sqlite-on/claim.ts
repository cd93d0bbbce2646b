import type { ThreadClaim, ThreadSummary } from '../../thread/thread-store.ts';
import { agentColumn, threadIndexes } from '../sql/summary-query.ts';
import type { SqliteDriver } from './sqlite-driver.ts';
import { threadColumns, threadOfRow } from './thread-rows.ts';

/* A select and an update, because `update … returning` returns rows in no order. In one transaction both find the same threads. */
export async function claimDue(
  driver: SqliteDriver,
  { agent, dueBefore, until, limit, threadId }: ThreadClaim,
): Promise<ThreadSummary[]> {
  const one = threadId === undefined ? [] : [threadId];
  const from = `
    from holdpoint_threads ${one.length === 0 ? `indexed by ${threadIndexes.deadline}` : ''}
    where agent = ? and next_deadline < ? ${one.length === 0 ? '' : 'and thread_id = ?'}
    order by next_deadline limit ?`;
  const values = [agentColumn(agent), dueBefore, ...one, limit];
  const select = { text: `select ${threadColumns} ${from}`, values };
  /* Workers that find nothing must neither wait for each other nor wake each other by a write. */
  if ((await driver.query(select)).length === 0) return [];
  const [due = []] = await driver.batch([
    select,
    {
      text: `update holdpoint_threads set next_deadline = ? where thread_id in (select thread_id ${from})`,
      values: [until, ...values],
    },
  ]);
  return due.map((row) => ({ ...threadOfRow(row), nextDeadline: until }));
}
