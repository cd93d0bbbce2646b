import type { Pool } from 'pg';
import { eventsIn } from '../support/events-in.ts';
import type { PayingOffice } from './paying-office.ts';
import { threadsBelow } from './paying-staff.ts';

/* How many of a thread's latest events are described. */
const latest = 10;

/** Where threads and those below them stand: what the store and the log say, what is asked, and the latest events with their times. */
export async function describeThreads(
  office: PayingOffice,
  threadIds: readonly string[],
): Promise<string> {
  const below = await Promise.all(threadIds.map(async (id) => threadsBelow(office, id)));
  const described = below.flat().map(async ({ id, status, nextDeadline, activeRequests }) => {
    const [row, events] = await Promise.all([office.store.head(id), eventsIn(office.store, id)]);
    const asked = activeRequests.map(({ requestId, text }) => `${requestId}: ${text}`);
    return [
      `Thread ${id}: ${status}, nextDeadline ${nextDeadline}, asks [${asked.join('; ')}], in the store: ${JSON.stringify(row)}`,
      ...events.slice(-latest).map((event) => {
        const { type, at, ...others } = event;
        return `  ${new Date(at).toISOString()} ${type} ${JSON.stringify(others).slice(0, 200)}`;
      }),
    ].join('\n');
  });
  return [`It is ${new Date().toISOString()}.`, ...(await Promise.all(described))].join('\n');
}

/** What each process that has given the database its name has asked it for last. */
export async function describeConnections(pool: Pool): Promise<string> {
  const { rows } = await pool.query(
    `select application_name, state, wait_event, query_start, left(query, 80) as query
     from pg_stat_activity where datname = current_database() and application_name <> '' order by 1, 4`,
  );
  return rows.map((row) => `  ${JSON.stringify(row)}`).join('\n');
}
