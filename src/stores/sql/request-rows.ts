import type { StoredRequest } from '../../thread/thread-store-requests.ts';
import { listFoundBy } from '../rows/table.ts';
import { requests } from '../rows/tables.ts';
import { makeSqlTable } from './sql-table.ts';

/*
 * Requests as rows of SQL stores. The approvers of open requests are rows too, for the indexes; those of a closed one are only in its own
 * row.
 */

export const requestTable = makeSqlTable(requests);

const keptBody = 'case when holdpoint_requests.body is not null then excluded.body end';

/** The `set` of an upsert, which replaces all of a row, but brings back no text that was erased. */
export const replaceRequest = [...requestTable.fields.keys()]
  .slice(1)
  .map((name) => `${name} = ${name === 'body' ? keptBody : `excluded.${name}`}`)
  .join(', ');

/** The columns of `holdpoint_request_approvers`. Those after the first are the request's own. */
export const approverColumns = 'approver, request_id, agent, tenant, created_at, expires_at, risk';

const ownColumns = approverColumns.split(', ').slice(1);

/** A request's own values in its rows of `holdpoint_request_approvers`. */
export function listOwnValues(request: StoredRequest): (string | number | null)[] {
  return requestTable.listValues(request, ownColumns);
}

/** Writes the approvers by whom an open request is found, each once, as JSON. */
export function toApproverColumn({ approvers }: StoredRequest): string {
  return JSON.stringify([...new Set(listFoundBy(approvers))]);
}

/** The columns of the indexes of open requests, by their order. The last columns of each index allow filtering without reading the row. */
const openColumns = {
  time: 'created_at, request_id, expires_at, agent',
  expiry: 'expires_at, request_id, agent',
  risk: 'risk, created_at, request_id, expires_at, agent',
} as const;

type OpenOrder = keyof typeof openColumns;

function nameIndexes(prefix: string): Record<OpenOrder, string> {
  return {
    time: `${prefix}_by_time`,
    expiry: `${prefix}_by_expiry`,
    risk: `${prefix}_by_risk`,
  };
}

export const requestIndexes = {
  /* The indexes of open requests. */
  open: nameIndexes('holdpoint_requests'),
  openOfTenant: nameIndexes('holdpoint_requests_of_tenant'),
  openOfAgent: 'holdpoint_requests_by_agent',
  named: nameIndexes('holdpoint_request_approvers'),
  namedOfTenant: nameIndexes('holdpoint_request_approvers_of_tenant'),
  /* The indexes of all others. */
  decision: 'holdpoint_requests_by_decision',
  decisionOfAgent: 'holdpoint_requests_of_agent_by_decision',
  /* The indexes of all requests. */
  creation: 'holdpoint_requests_by_creation',
  thread: 'holdpoint_requests_by_thread',
} as const;

/** The column types of a database. */
interface ColumnTypes {
  text: string;
  /** The type of a time in milliseconds. */
  time: string;
  /** The type of a number of people, which a rule may choose as large as it likes, and of a position in the feed. */
  count: string;
  /** The SQL after a table's columns. */
  suffix: string;
  /** The SQL after those of `holdpoint_request_approvers`, whose rows are small and found by their key. Default `suffix`. */
  suffixOfApprovers?: string;
  /** The SQL after the type of a row's `thread_id`, and that of an approver's `request_id`. */
  ofThread: string;
  ofRequest: string;
}

/** Creates the indexes and the tables, except that of the feed, which databases number in different ways. Can be run again. */
export function makeRequestSchema({
  text,
  time,
  count,
  suffix,
  suffixOfApprovers = suffix,
  ofThread,
  ofRequest,
}: ColumnTypes): string {
  return `
create table if not exists holdpoint_requests (
  request_id ${text} primary key not null,
  thread_id ${text} not null${ofThread},
  agent ${text} not null,
  tenant ${text},
  kind ${text} not null,
  tool_name ${text},
  requesters text not null,
  approvers text not null,
  risk integer not null,
  created_at ${time} not null,
  expires_at ${time} not null,
  remind_at ${time},
  votes ${count} not null,
  quorum ${count} not null,
  state ${text} not null,
  decided_by text,
  decided_at ${time} not null,
  body text
)${suffix};
${createOpenIndexes(requestIndexes.open, 'holdpoint_requests', '', "where state = 'open'")}
${createOpenIndexes(requestIndexes.openOfTenant, 'holdpoint_requests', 'tenant, ', "where state = 'open' and tenant is not null")}
${createIndex(requestIndexes.openOfAgent, "holdpoint_requests (agent) where state = 'open'")}
${createIndex(requestIndexes.decision, "holdpoint_requests (decided_at desc, request_id) where state <> 'open'")}
${createIndex(requestIndexes.decisionOfAgent, "holdpoint_requests (agent, decided_at desc, request_id, state) where state <> 'open'")}
${createIndex(requestIndexes.thread, 'holdpoint_requests (thread_id)')}
${createIndex(requestIndexes.creation, 'holdpoint_requests (created_at, request_id)')}
create table if not exists holdpoint_request_approvers (
  approver ${text} not null,
  request_id ${text} not null${ofRequest},
  agent ${text} not null,
  tenant ${text},
  created_at ${time} not null,
  expires_at ${time} not null,
  risk integer not null,
  primary key (request_id, approver)
)${suffixOfApprovers};
${createOpenIndexes(requestIndexes.named, 'holdpoint_request_approvers', 'approver, ', '')}
${createOpenIndexes(requestIndexes.namedOfTenant, 'holdpoint_request_approvers', 'tenant, approver, ', 'where tenant is not null')}
`;
}

function createOpenIndexes(
  names: Record<OpenOrder, string>,
  table: string,
  first: string,
  where: string,
): string {
  const create = (order: OpenOrder): string =>
    createIndex(names[order], `${table} (${first}${openColumns[order]}) ${where}`);
  return [create('time'), create('expiry'), create('risk')].join('\n');
}

function createIndex(name: string, on: string): string {
  return `create index if not exists ${name} on ${on};`;
}
