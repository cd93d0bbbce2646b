import type { RequestChange, StoredRequest } from '../../thread/thread-store-requests.ts';
import type { KindName } from '../rows/table.ts';
import {
  approverColumns,
  makeRequestSchema,
  replaceRequest,
  requestTable,
  toApproverColumn,
} from '../sql/request-rows.ts';

/* Rows go with their thread, and the approvers of a row with the row, however they are deleted: also by a store that keeps no requests. */
export const requestsSchema = `
${makeRequestSchema({
  text: 'text collate "C"',
  time: 'double precision',
  count: 'bigint',
  suffix: '',
  ofThread: ' references holdpoint_threads on delete cascade',
  ofRequest: ' references holdpoint_requests on delete cascade',
})}
create table if not exists holdpoint_request_changes (
  seq bigint generated always as identity primary key,
  position bigint,
  type text collate "C" not null,
  request_id text collate "C" not null,
  thread_id text collate "C" not null,
  made_at double precision not null
);
create unique index if not exists holdpoint_request_changes_by_position
  on holdpoint_request_changes (position) where position is not null;
create index if not exists holdpoint_request_changes_without_position
  on holdpoint_request_changes (seq) where position is null;
create index if not exists holdpoint_request_changes_by_time
  on holdpoint_request_changes using brin (made_at);
create sequence if not exists holdpoint_request_positions;
`;

/** The types of columns in arrays. */
const arrayTypes: Record<KindName, string> = {
  key: 'text',
  text: 'text',
  agent: 'text',
  optionalAgent: 'text',
  texts: 'text',
  approvers: 'text',
  risk: 'int',
  count: 'int8',
  time: 'float8',
  end: 'float8',
  optionalEnd: 'float8',
  decision: 'float8',
};

const requestColumns = requestTable.columns;
const fields = [...requestTable.fields.values()];

/** The values of `withRequests`: the type of each change, the columns of the rows, and the approvers of the open ones. */
export function listRequestValues(changes: readonly RequestChange[]): unknown[] {
  const requests = changes.map(({ request }) => replaceUnstorable(request));
  const rows = requests.map((request) => requestTable.listValues(request));
  return [
    changes.map(({ type }) => type),
    ...fields.map((_, index) => rows.map((row) => row[index])),
    requests.map((request) => (request.state === 'open' ? toApproverColumn(request) : '[]')),
  ];
}

/** Replaces what Postgres can't store in a text, in the fields that come from people and rules. */
function replaceUnstorable(request: StoredRequest): StoredRequest {
  const { tenant, toolName, decidedBy, requesters, approvers } = request;
  return {
    ...request,
    /* A shortened one could be another tenant's. */
    tenant: tenant === null || tenant.length > longestKey ? null : toStorable(tenant),
    toolName: toolName === null ? null : toStorable(toolName),
    decidedBy: decidedBy === null ? null : toStorable(decidedBy),
    requesters: requesters.map(toStorable),
    approvers: approvers.map(toKey),
  };
}

/* Postgres limits the length of indexed values. No row that a thread makes has a longer key. */
const longestKey = 256;

function toKey(text: string): string {
  return toStorable(text.slice(0, longestKey));
}

/** A text that Postgres can store, also as a part of JSON that it reads. */
export function toStorable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}

/*
 * An array whose length the planner does not see. If it saw it, a plan for these values would seem better than a general one, and a
 * prepared statement would be planned again each time, which takes as long as running it.
 */
export function selectArray(parameter: number, type: string | undefined): string {
  return `(select $${parameter}::${type}[])`;
}

/** Reads these values, from the parameter `first`, as `changed` and, with a row for each approver of an open request, `named`. */
const readValues = (first: number, from: string): string => {
  const arrays = fields.map(({ kind }, index) => selectArray(first + 1 + index, arrayTypes[kind]));
  const [, ...own] = approverColumns.split(', ');
  return `changed as materialized (
    select changed.* from ${from}
      unnest(${selectArray(first, 'text')}, ${arrays.join(', ')}, ${selectArray(first + 1 + fields.length, 'text')}) with ordinality
      as changed (type, ${requestColumns}, names, number)
  ), named as materialized (
    select person.value as approver, ${own.join(', ')} from changed, json_array_elements_text(names::json) as person
  )`;
};

const insertRows = `insert into holdpoint_requests (${requestColumns}) select ${requestColumns} from changed`;
const insertNames = `insert into holdpoint_request_approvers (${approverColumns})`;
const insertChanges =
  'insert into holdpoint_request_changes (type, request_id, thread_id, made_at)';
const now = 'floor(extract(epoch from clock_timestamp()) * 1000)::float8';

/* The columns beside the two of its key. */
const replaceApprover = approverColumns
  .split(', ')
  .slice(2)
  .map((name) => `${name} = excluded.${name}`)
  .join(', ');

/** The part of an append that changes requests. */
export const withRequests = (
  first: number,
): string => `, ${readValues(first, 'thread,')}, requests as (
    ${insertRows}
    on conflict (request_id) do update set ${replaceRequest}
  ), former_approvers as (
    delete from holdpoint_request_approvers as former using changed
    where former.request_id = changed.request_id
      and not exists (select from named where named.request_id = former.request_id and named.approver = former.approver)
  ), approvers as (
    ${insertNames} select * from named
    on conflict (request_id, approver) do update set ${replaceApprover}
  ), told as (
    ${insertChanges} select type, request_id, thread_id, ${now} from changed order by number
  )`;

/** The part of the deletion of a thread that adds its open requests to the feed. */
export const deleteRequests = `, told as (
    ${insertChanges}
    select 'deleted', request_id, requests.thread_id, ${now}
    from holdpoint_requests as requests join thread using (thread_id)
    where state = 'open' order by created_at, request_id
  )`;
