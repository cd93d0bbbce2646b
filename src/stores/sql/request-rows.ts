import { z } from 'zod';
import { risks } from '../../content/approval-terms.ts';
import { requestKinds, requestStates } from '../../content/request-state.ts';
import type { RequestPlace, StoredRequest } from '../../thread/thread-store-requests.ts';
import { makeInvalidRowError, toAgentColumn } from './thread-rows.ts';

/*
 * Requests as rows of SQL stores. No column that a page is ordered by is null, because databases disagree where null belongs: a request that
 * never expires has `never`, one that nobody has decided `undecided`. The approvers of open requests are rows too, for the indexes;
 * those of a closed one are in its own row alone.
 */

/** The columns of `holdpoint_requests`, in the order of `toRequestRow`. */
const columns = [
  'request_id',
  'thread_id',
  'agent',
  'tenant',
  'kind',
  'tool_name',
  'requesters',
  'approvers',
  'risk',
  'created_at',
  'expires_at',
  'remind_at',
  'votes',
  'quorum',
  'state',
  'decided_by',
  'decided_at',
  'body',
] as const;

export const requestColumns = columns.join(', ');

const keptBody = 'case when holdpoint_requests.body is not null then excluded.body end';

/** A `?` for each of `requestColumns`. */
export const requestPlaceholders = columns.map(() => '?').join(', ');

/** The `set` of an upsert, which replaces all of a row, but brings back no text that was erased. */
export const replaceRequest = columns
  .slice(1)
  .map((name) => `${name} = ${name === 'body' ? keptBody : `excluded.${name}`}`)
  .join(', ');

/** The columns of `holdpoint_request_approvers`. Those after the first are the request's own. */
export const approverColumns = 'approver, request_id, agent, tenant, created_at, expires_at, risk';

/** The approver in the row of a request that names none. A name is never empty. */
export const anyApprover = '';

/** The `expires_at` of a request that never expires. Finite, as some drivers send values as JSON, and later than any that an app would mean. */
const never = Number.MAX_VALUE;

/** The `decided_at` of an open request. */
const undecided = -1;

/** By what open requests are ordered. The last columns of each index allow filtering without reading the row. */
const openOrders = {
  time: 'created_at, request_id, expires_at, agent',
  expiry: 'expires_at, request_id, agent',
  risk: 'risk, created_at, request_id, expires_at, agent',
} as const;

type OpenOrder = keyof typeof openOrders;

function nameIndexes(prefix: string): Record<OpenOrder, string> {
  return {
    time: `${prefix}_by_time`,
    expiry: `${prefix}_by_expiry`,
    risk: `${prefix}_by_risk`,
  };
}

export const requestIndexes = {
  /* Of open requests. */
  open: nameIndexes('holdpoint_requests'),
  openOfTenant: nameIndexes('holdpoint_requests_of_tenant'),
  openOfAgent: 'holdpoint_requests_by_agent',
  named: nameIndexes('holdpoint_request_approvers'),
  namedOfTenant: nameIndexes('holdpoint_request_approvers_of_tenant'),
  /* Of all others. */
  decision: 'holdpoint_requests_by_decision',
  decisionOfAgent: 'holdpoint_requests_of_agent_by_decision',
  /* Of all. */
  creation: 'holdpoint_requests_by_creation',
  thread: 'holdpoint_requests_by_thread',
} as const;

/** The column types of a database. */
interface ColumnTypes {
  text: string;
  /** Of a time in milliseconds. */
  time: string;
  /** Of a number of people, which a rule may choose as large as it likes, and of a position in the feed. */
  count: string;
  /** What follows a table's columns. */
  suffix: string;
  /** What follows those of `holdpoint_request_approvers`, whose rows are small and found by their key. Default `suffix`. */
  suffixOfApprovers?: string;
  /** What follows the type of a row's `thread_id`, and that of an approver's `request_id`. */
  ofThread: string;
  ofRequest: string;
}

/** Creates the tables but that of the feed, which databases number in ways of their own, and the indexes. Can be run again. */
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
create table if not exists holdpoint_request_consumers (
  name ${text} primary key not null,
  position ${count} not null,
  taken_to ${count},
  token ${text},
  lease_until ${time}
)${suffix};
`;
}

function createOpenIndexes(
  names: Record<OpenOrder, string>,
  table: string,
  first: string,
  where: string,
): string {
  const create = (order: OpenOrder): string =>
    createIndex(names[order], `${table} (${first}${openOrders[order]}) ${where}`);
  return [create('time'), create('expiry'), create('risk')].join('\n');
}

function createIndex(name: string, on: string): string {
  return `create index if not exists ${name} on ${on};`;
}

/** A request as the values of a row, in the order of `requestColumns`. */
export function toRequestRow(request: StoredRequest): (string | number | null)[] {
  const { requestId, threadId, tenant, kind, toolName, votes, quorum, state } = request;
  const place = toPlaceColumns(request);
  return [
    requestId,
    threadId,
    toAgentColumn(request.agent),
    tenant,
    kind,
    toolName,
    JSON.stringify(request.requesters),
    JSON.stringify(request.approvers),
    place.risk,
    place.created_at,
    place.expires_at,
    request.remindAt ?? null,
    votes,
    quorum,
    state,
    request.decidedBy,
    place.decided_at,
    request.text,
  ];
}

/** The values of the columns that pages are ordered by. In ascending order of `risk` the riskiest comes first. */
export function toPlaceColumns({ requestId, createdAt, expiresAt, risk, decidedAt }: RequestPlace) {
  return {
    request_id: requestId,
    created_at: createdAt,
    expires_at: expiresAt ?? never,
    risk: toRiskColumn(risk),
    decided_at: decidedAt ?? undecided,
  };
}

/** 0 for none, then -1 for the lowest, so that a risk above the others can be added. */
export function toRiskColumn(risk: StoredRequest['risk']): number {
  return risk === null ? 0 : -1 - risks.indexOf(risk);
}

/** The approvers by whom an open request is found, each once, as JSON. */
export function toApproverColumn({ approvers }: Pick<StoredRequest, 'approvers'>): string {
  return JSON.stringify(approvers.length === 0 ? [anyApprover] : [...new Set(approvers)]);
}

const textsSchema = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue('This is no JSON.');
      return z.NEVER;
    }
  })
  .pipe(z.array(z.string()));

const rowSchema = z.object({
  request_id: z.string(),
  thread_id: z.string(),
  agent: z.string(),
  tenant: z.string().nullable(),
  kind: z.enum(requestKinds),
  tool_name: z.string().nullable(),
  requesters: textsSchema,
  approvers: textsSchema,
  risk: z.coerce.number(),
  created_at: z.coerce.number(),
  expires_at: z.coerce.number(),
  remind_at: z.coerce.number().nullable(),
  votes: z.coerce.number(),
  quorum: z.coerce.number(),
  state: z.enum(requestStates),
  decided_by: z.string().nullable(),
  decided_at: z.coerce.number(),
  body: z.string().nullable(),
});

/** The request in a row. Throws `log-tampered` for an invalid row. */
export function parseRequestRow(row: unknown): StoredRequest {
  const { success, data } = rowSchema.safeParse(row);
  if (!success) throw makeInvalidRowError();
  return {
    requestId: data.request_id,
    threadId: data.thread_id,
    agent: data.agent === '' ? null : data.agent,
    tenant: data.tenant,
    kind: data.kind,
    toolName: data.tool_name,
    requesters: data.requesters,
    approvers: data.approvers,
    risk: risks[-1 - data.risk] ?? null,
    createdAt: data.created_at,
    ...(data.expires_at === never ? {} : { expiresAt: data.expires_at }),
    ...(data.remind_at === null ? {} : { remindAt: data.remind_at }),
    votes: data.votes,
    quorum: data.quorum,
    state: data.state,
    decidedBy: data.decided_by,
    ...(data.decided_at === undecided ? {} : { decidedAt: data.decided_at }),
    text: data.body,
  };
}

/** The request in a row that is an array, in the order of `requestColumns`. */
export function nameRequestColumns(row: readonly unknown[]): object {
  return Object.fromEntries(columns.map((name, index) => [name, row[index]]));
}
