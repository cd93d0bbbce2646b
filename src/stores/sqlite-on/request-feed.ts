import { makeRandomId } from '../../content/crypto.ts';
import type { FeedChange, ThreadStoreRequests } from '../../thread/thread-store-requests.ts';
import { nameRequestColumns, parseRequestRow, requestColumns } from '../sql/request-rows.ts';
import { makeInvalidRowError } from '../sql/thread-rows.ts';
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
  select changes.position, changes.type, changes.request_id as changed_id, changes.thread_id as changed_in, ${requestColumns
    .split(', ')
    .map((name) => `requests.${name}`)
    .join(', ')}
  from holdpoint_request_changes as changes
  left join holdpoint_requests as requests on requests.request_id = changes.request_id`;

const readChanges = `${selectChanges} where changes.position > ? order by changes.position limit ?`;

/* Consumers that find nothing must neither wait for each other nor wake each other by a write. */
const hasChanges = `
  select 1 from holdpoint_request_changes
  where position > coalesce((select position from holdpoint_request_consumers where name = ?), 0)
    and not exists (select 1 from holdpoint_request_consumers where name = ? and lease_until > ?) limit 1`;

const addConsumer =
  'insert into holdpoint_request_consumers (name, position) values (?, 0) on conflict do nothing';

/* Not if another process has taken and acknowledged them meanwhile: a lease of nothing would keep what comes next from everybody. */
const takeLease = `
  update holdpoint_request_consumers as consumer
  set token = ?, lease_until = ?, taken_to = (
    select max(position) from (
      select position from holdpoint_request_changes where position > consumer.position order by position limit ?))
  where name = ? and (lease_until is null or lease_until <= ?)
    and exists (select 1 from holdpoint_request_changes where position > consumer.position)`;

const readTaken = `
  ${selectChanges}
  join holdpoint_request_consumers as consumer on consumer.name = ? and consumer.token = ?
  where changes.position > consumer.position and changes.position <= consumer.taken_to order by changes.position`;

const endLease = `
  update holdpoint_request_consumers
  set position = max(position, min(taken_to, coalesce(?, taken_to))), token = null, lease_until = null, taken_to = null
  where name = ? and token = ? returning name`;

const countChangesBefore = 'select count(*) from holdpoint_request_changes where made_at < ?';
const deleteChangesBefore = 'delete from holdpoint_request_changes where made_at < ?';

/** The feed of a database, and those who follow it. */
export function makeRequestFeed(
  driver: SqliteDriver,
): Pick<ThreadStoreRequests, 'changes' | 'take' | 'acknowledge' | 'deleteChanges'> {
  return {
    async changes({ after, limit = 100 }) {
      const rows = await driver.query({ text: readChanges, values: [after, limit] });
      return rows.map(parseChangeRow);
    },

    async take({ consumer, leaseMs, at = Date.now(), limit = 100 }) {
      const asked = { text: hasChanges, values: [consumer, consumer, at] };
      if ((await driver.query(asked)).length === 0) return undefined;
      const token = makeRandomId();
      const results = await driver.batch([
        { text: addConsumer, values: [consumer] },
        { text: takeLease, values: [token, at + leaseMs, limit, consumer, at] },
        { text: readTaken, values: [consumer, token] },
      ]);
      const changes = (results.at(-1) ?? []).map(parseChangeRow);
      return changes.length === 0 ? undefined : { changes, token };
    },

    async acknowledge({ consumer, token, position = null }) {
      const statement = { text: endLease, values: [position, consumer, token] };
      const [ended] = await driver.batch([statement]);
      return ended?.length === 1;
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
    /* A row that is not there has no id. */
    ...(type === 'deleted' || row[0] === null
      ? {}
      : { request: parseRequestRow(nameRequestColumns(row)) }),
  };
}

function isChangeType(type: unknown): type is FeedChange['type'] {
  return type === 'opened' || type === 'changed' || type === 'closed' || type === 'deleted';
}
