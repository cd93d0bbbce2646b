import type { ThreadStore } from 'holdpoint';
import type { RequestFilter, RequestQuery } from '../../src/thread/thread-store-requests.ts';
import { type Question, seedEntries, seedThreads } from './many-threads.ts';

/** How many requests are open, and how many are decided. */
const requestCount = 100_000;

const counted = `
  with recursive counted (n) as (
    select 1 union all select n + 1 from counted where n < ${requestCount}
  )`;

const never = Number.MAX_VALUE;

/** The rows for `seedRequests`: of each thread of `seedThreads` one open request and one that is decided. */
function seedRows(isOpen: boolean): string {
  const state = isOpen ? "'open', null, -1" : "'approved', 'ada', n";
  return `
  insert into holdpoint_requests (
    request_id, thread_id, agent, tenant, kind, tool_name, requesters, approvers, risk, created_at, expires_at, remind_at,
    votes, quorum, state, decided_by, decided_at, body)
  ${counted}
  select '${isOpen ? 'open' : 'decided'}-' || (n * 7919 % ${requestCount}), 'thread-' || (n * 7919 % ${requestCount}),
    case when n % 1003 = 0 then 'rare' when n % 3 = 0 then 'booking' else '' end,
    case when n % 7 > 0 then 'tenant-' || (n % 49) end, 'approval', 'pay', '["eve"]',
    case when n % 4 = 0 then '[]' when n % 4 = 1 then '["ada"]' else '["finance","legal"]' end,
    -(n % 5), n, case when n % 11 < 4 then ${never} else ${requestCount} + n end, null,
    0, 1, ${state}, '{"a":"short request"}'
  from counted`;
}

function seedApprover(approver: string, approvers: string): string {
  return `
  insert into holdpoint_request_approvers (approver, request_id, agent, tenant, created_at, expires_at, risk)
  select '${approver}', request_id, agent, tenant, created_at, expires_at, risk from holdpoint_requests
  where state = 'open' and approvers = '${approvers}'`;
}

/** Fills a database with requests, in the SQL that the dialects share. */
export const seedRequests: string[] = [
  seedRows(true),
  seedRows(false),
  seedApprover('', '[]'),
  seedApprover('ada', '["ada"]'),
  seedApprover('finance', '["finance","legal"]'),
  seedApprover('legal', '["finance","legal"]'),
  `insert into holdpoint_request_changes (type, request_id, thread_id, made_at)
  select 'opened', request_id, thread_id, created_at from holdpoint_requests where state = 'open'`,
];

/** Fills a Postgres database with a million threads, and with requests of a tenth of them. */
export const seedManyOnPostgres: string[] = [
  seedThreads,
  seedEntries,
  `insert into holdpoint_threads
    (thread_id, agent, status, revision, hash, open_requests, failures, next_deadline, updated_at)
  select 'more-' || n, '', 'idle', 1, 'hash 1', 0, 0, null, n from generate_series(1, 900000) as n`,
  ...seedRequests,
  `update holdpoint_request_changes set position = nextval('holdpoint_request_positions')`,
];

const place = { requestId: 'open-5', createdAt: 50_000, risk: 'low', expiresAt: 150_000 } as const;
const decidedPlace = { ...place, decidedAt: 50_000 };

const places = [{}, { after: place }, { before: place }];

function ask(query: RequestQuery): Question {
  return {
    name: `requests ${JSON.stringify(query)}`,
    ask: async ({ requests }) => requests?.list({ at: 10, ...query }),
  };
}

/** Pages of open requests in each order, from the beginning, after a place and before one. */
function pagesOf(filter: RequestFilter): Question[] {
  return (['oldest', 'newest', 'expires', 'risk'] as const).flatMap((order) =>
    places.map((from) => ask({ state: 'open', order, ...filter, ...from })),
  );
}

const person = { approver: ['ada', 'finance', 'legal'] };

/** Pages that an index has in their order. */
export const orderedRequestPages: Question[] = [
  ...[{}, { tenant: 'tenant-8' }, { tenant: null }, { agent: 'booking' }].flatMap(pagesOf),
  ...[{}, person, { tenant: 'tenant-8' }, { agent: 'booking' }].flatMap((filter) => [
    ask({ state: 'decided', order: 'decided', ...filter }),
    ask({ state: 'approved', order: 'decided', after: decidedPlace, ...filter }),
    ask({ state: 'decided', order: 'newest', ...filter }),
    ask({ order: 'oldest', after: place, ...filter }),
    ask({ order: 'newest', ...filter }),
  ]),
];

/** Pages of those whom a person may answer, found by a scan for each of their names. */
export const approverPages: Question[] = [
  person,
  { ...person, tenant: 'tenant-8' },
  { ...person, agent: 'booking', toolName: 'pay' },
].flatMap(pagesOf);

/** Pages of an agent with a thousandth of the requests, which are sorted. */
export const rareAgentPages: Question[] = [
  ...[{}, { tenant: null }, person, { ...person, tenant: null }].flatMap((filter) =>
    pagesOf({ agent: 'rare', ...filter }),
  ),
  ...(['oldest', 'newest', 'expires', 'risk'] as const).flatMap((order) => [
    ask({ state: 'decided', agent: 'rare', order }),
    ask({ state: 'approved', agent: 'rare', order, after: place }),
  ]),
];

/** Pages of what was decided last for an agent with a thousandth of the requests. */
export const rareDecisionPages: Question[] = [
  ask({ state: 'decided', agent: 'rare', order: 'decided' }),
  ask({ state: 'approved', agent: 'rare', order: 'decided', after: decidedPlace }),
  ask({ state: 'decided', agent: 'rare', order: 'decided', before: decidedPlace, ...person }),
];

/** Pages of one thread, whose rows are sorted. */
export const threadRequestPages: Question[] = [
  ...pagesOf({ threadId: 'thread-77' }),
  ...pagesOf({ threadId: 'thread-77', ...person }),
  ask({ threadId: 'thread-77' }),
];

const count = (filter: RequestFilter): Question => ({
  name: `count requests ${JSON.stringify(filter)}`,
  ask: async ({ requests }) => requests?.count({ at: 10, ...filter }),
});

const asRequests =
  (work: (requests: NonNullable<ThreadStore['requests']>) => Promise<unknown>): Question['ask'] =>
  async ({ requests }) =>
    requests && work(requests);

/** Counts of open requests, and what consumers of the feed and workers do. */
export const requestPoints: Question[] = [
  count({ state: 'open' }),
  count({ state: 'open', ...person }),
  count({ state: 'open', approver: ['nobody'], tenant: 'tenant-8' }),
  count({ state: 'open', tenant: 'tenant-8' }),
  count({ threadId: 'thread-77' }),
  { name: 'get', ask: asRequests(async (requests) => requests.get('open-5')) },
  { name: 'erase', ask: asRequests(async (requests) => requests.erase('decided-5')) },
  { name: 'changes', ask: asRequests(async (requests) => requests.changes({ after: 50_000 })) },
  {
    name: 'delete changes',
    ask: asRequests(async (requests) => requests.deleteChanges({ before: 9 })),
  },
];
