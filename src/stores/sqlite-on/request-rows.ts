import {
  feedChangeTypes,
  type FeedChange,
  type RequestChange,
  type StoredRequest,
  type ThreadStoreRequests,
} from '../../thread/thread-store-requests.ts';
import { makeRequestReads, type RequestDialect } from '../sql/request-queries.ts';
import {
  approverColumns,
  listOwnValues,
  makeRequestSchema,
  replaceRequest,
  requestTable,
  toApproverColumn,
} from '../sql/request-rows.ts';
import type { SqliteDriver, SqliteRow, SqliteStatement, SqliteValue } from './sqlite-driver.ts';
import { makeInvalidRowError } from '../sql/sql-table.ts';

/* The rows of requests in SQLite, and their changes by appends and deletions. */

const rowTables = makeRequestSchema({
  text: 'text',
  time: 'real',
  count: 'integer',
  suffix: ' strict',
  suffixOfApprovers: ' strict, without rowid',
  ofThread: '',
  ofRequest: '',
});

const feedSchema = `
create table if not exists holdpoint_request_changes (
  position integer primary key autoincrement,
  type text not null,
  request_id text not null,
  thread_id text not null,
  made_at real not null
) strict;
create index if not exists holdpoint_request_changes_by_time on holdpoint_request_changes (made_at);
`;

/* Rows go with their thread, however it is deleted: also by a store that keeps no requests. */
const deletion = `
create trigger if not exists holdpoint_requests_deletion after delete on holdpoint_threads
begin
  insert into holdpoint_request_changes (type, request_id, thread_id, made_at)
    select 'deleted', request_id, thread_id, round((julianday('now') - 2440587.5) * 86400000)
    from holdpoint_requests where thread_id = old.thread_id and state = 'open' order by created_at, request_id;
  delete from holdpoint_request_approvers
    where request_id in (select request_id from holdpoint_requests where thread_id = old.thread_id);
  delete from holdpoint_requests where thread_id = old.thread_id;
end;
`;

export const requestSchema = `${rowTables}${feedSchema}${deletion}`;

const dialect: RequestDialect = {
  eachText: (json, alias) => `json_each(${json}) as ${alias}`,
  /* A subquery in a `from` can't use the items before it, but the argument of `json_each` can. */
  eachRow: (query, alias) =>
    `json_each((select json_group_array(request_id) from (${query}))) as ${alias}`,
  /* Named, as SQLite has no statistics of these tables. It fails to prepare a query that the index doesn't fit. */
  useIndex: (name) => `indexed by ${name}`,
  readClock: () => ({ text: '?', values: [Date.now()] }),
};

/** The statements that change a row, each under a condition. */
export interface ChangeStatements {
  clearApprovers: string;
  addApprovers: string;
  tellFeed: string;
  writeRow: string;
}

export function makeChangeStatements(condition: string): ChangeStatements {
  return {
    clearApprovers: `delete from holdpoint_request_approvers where request_id = ? and ${condition}`,
    addApprovers: `
      insert or replace into holdpoint_request_approvers (${approverColumns})
      select approver.value, ?, ?, ?, ?, ?, ? from json_each(?) as approver where ${condition}`,
    tellFeed: `
      insert into holdpoint_request_changes (type, request_id, thread_id, made_at) select ?, ?, ?, ? where ${condition}`,
    writeRow: `
      insert into holdpoint_requests (${requestTable.columns}) select ${requestTable.placeholders} where ${condition}
      on conflict (request_id) do update set ${replaceRequest}`,
  };
}

/**
 * Lists the statements that write a request, if the condition with these values is fulfilled; without a type, nothing is added to the feed.
 * The row comes last, as the condition may query it.
 */
export function listRowStatements(
  sql: ChangeStatements,
  { type, request }: { type?: RequestChange['type'] | undefined; request: StoredRequest },
  condition: readonly SqliteValue[],
): SqliteStatement[] {
  const { requestId, threadId } = request;
  const statements: SqliteStatement[] = [];
  const add = (text: string, ...values: SqliteValue[]): number =>
    statements.push({ text, values: [...values, ...condition] });
  if (type === 'changed' || type === 'closed') add(sql.clearApprovers, requestId);
  if (request.state === 'open') {
    add(sql.addApprovers, ...listOwnValues(request), toApproverColumn(request));
  }
  if (type !== undefined) add(sql.tellFeed, type, requestId, threadId, Date.now());
  add(sql.writeRow, ...requestTable.listValues(request));
  return statements;
}

/* A text of the same length is written in place: see the deletion of a thread. */
const overwriteBody =
  'update holdpoint_requests set body = substr(hex(zeroblob(octet_length(body) / 2 + 1)), 1, octet_length(body)) where';

/** Overwrites the rows of threads that are about to be deleted, selected by a condition. */
export const overwriteRowsOf = (threads: string): string =>
  `${overwriteBody} body is not null and thread_id ${threads}`;

/** The requests of a database. */
export function makeRequests(driver: SqliteDriver): ThreadStoreRequests {
  return {
    ...makeRequestReads(async (statement) => driver.query(statement), dialect),

    ...makeRequestFeed(driver),

    async erase(requestId) {
      const isDecided = "request_id = ? and state <> 'open'";
      const [, erased] = await driver.batch([
        { text: `${overwriteBody} ${isDecided} and body is not null`, values: [requestId] },
        {
          text: `update holdpoint_requests set body = null where ${isDecided} returning request_id`,
          values: [requestId],
        },
      ]);
      return erased?.length === 1;
    },
  };
}

/* No two columns have one name, as some drivers return rows as objects. */
const selectChanges = `
  select changes.position, changes.type, changes.request_id as changed_id, changes.thread_id as changed_in, ${requestTable.columnsOf('requests')}
  from holdpoint_request_changes as changes
  left join holdpoint_requests as requests on requests.request_id = changes.request_id`;

const readChanges = `${selectChanges} where changes.position > ? order by changes.position limit ?`;

const countChangesBefore = 'select count(*) from holdpoint_request_changes where made_at < ?';
const deleteChangesBefore = 'delete from holdpoint_request_changes where made_at < ?';

/**
 * The feed of the changes of requests. A SQLite database has one writer at a time, so that positions come in the order of commits, and
 * `autoincrement` uses none twice, also when the last changes were deleted.
 */
function makeRequestFeed(
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
  return feedChangeTypes.some((each) => each === type);
}
