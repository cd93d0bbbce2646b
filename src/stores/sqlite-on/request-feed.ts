import type { FeedChange, ThreadStoreRequests } from '../../thread/thread-store-requests.ts';
import { requestTable } from '../sql/request-rows.ts';
import { makeInvalidRowError } from '../sql/sql-table.ts';
import type { SqliteDriver, SqliteRow } from './sqlite-driver.ts';

/*
 * The feed of changes of requests. A SQLite database has one writer at a time, so that positions come in the order of commits, and
 * `autoincrement` uses none twice, also when the last changes were deleted.
 */

export const feedSchema = `
create table if not exists holdpoint_request_changes (
  position integer primary key autoincrement,
  type text not null,
  request_id text not null,
  thread_id text not null,
  made_at real not null
) strict;
create index if not exists holdpoint_request_changes_by_time on holdpoint_request_changes (made_at);
`;

/* No two columns have one name, as some drivers return rows as objects. */
const selectChanges = `
  select changes.position, changes.type, changes.request_id as changed_id, changes.thread_id as changed_in, ${requestTable.columnsOf('requests')}
  from holdpoint_request_changes as changes
  left join holdpoint_requests as requests on requests.request_id = changes.request_id`;

const readChanges = `${selectChanges} where changes.position > ? order by changes.position limit ?`;

const countChangesBefore = 'select count(*) from holdpoint_request_changes where made_at < ?';
const deleteChangesBefore = 'delete from holdpoint_request_changes where made_at < ?';

/** The feed of a database. */
export function makeRequestFeed(
  driver: SqliteDriver,
): Pick<ThreadStoreRequests, 'changes' | 'deleteChanges'> {
  return {
    async changes({ after, limit = 100 }) {
      const rows = await driver.query({ text: readChanges, values: [after, limit] });
      return rows.map(parseChangeRow);
    },

    async deleteChanges({ before }) {
      const [counted] = await driver.batch([
        { text: countChangesBefore, values: [before] },
        { text: deleteChangesBefore, values: [before] },
      ]);
      return Number(counted?.[0]?.[0]);
    },
  };
}

function parseChangeRow([position, type, requestId, threadId, ...row]: SqliteRow): FeedChange {
  if (!Number.isSafeInteger(position) || !isChangeType(type)) throw makeInvalidRowError();
  return {
    position: Number(position),
    type,
    requestId: String(requestId),
    threadId: String(threadId),
    /* A missing row has no id. */
    ...(type === 'deleted' || row[0] === null ? {} : { request: requestTable.parse(row) }),
  };
}

function isChangeType(type: unknown): type is FeedChange['type'] {
  return type === 'opened' || type === 'changed' || type === 'closed' || type === 'deleted';
}
