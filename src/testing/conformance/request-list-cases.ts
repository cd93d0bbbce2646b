import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { risks } from '../../content/approval-terms.ts';
import { requestKinds } from '../../content/request-state.ts';
import type { ThreadStore } from '../../thread/thread-store.ts';
import type {
  RequestFilter,
  RequestQuery,
  RequestState,
  StoredRequest,
  ThreadStoreRequests,
} from '../../thread/thread-store-requests.ts';
import type { StoreConformanceCase } from './conformance-case.ts';
import {
  makeApproved,
  change,
  close,
  listRequestIds,
  makeRow,
  open,
  requestCase,
  write,
} from './requests-in-case.ts';

const at = 40;

/** The element at a place of a list that repeats. */
function pick<ITEM>(items: readonly [ITEM, ...ITEM[]], place: number): ITEM {
  return items[place % items.length] ?? items[0];
}

/* Many rows are equal in an order, so that their place depends on the id. Some have expired, some never do, a third is decided. */
function makeRows(): StoredRequest[] {
  return Array.from({ length: 42 }, (_, place) => {
    const risk = pick([null, ...risks], place);
    const expiresAt = pick([undefined, at - 1, at, at + 1, 90], place * 3);
    const row = makeRow(`r${10 + ((place * 17) % 42)}`, {
      threadId: `t${place % 5}`,
      agent: pick([null, 'booking', 'billing'], place),
      tenant: pick([null, 'acme', 'acme 2'], Math.floor(place / 3)),
      kind: pick(requestKinds, place),
      toolName: pick(['pay', null, 'book', 'pay'], Math.floor(place / 2)),
      requesters: pick([[], ['ada'], ['bob', 'ada'], ['eve']], place),
      approvers: pick([[], ['ada'], ['finance', 'bob'], ['ada', 'finance']], place * 5),
      risk,
      createdAt: Math.floor(((place * 11) % 42) / 4),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    });
    if (place % 3 !== 0) return row;
    const state = pick<RequestState>(['rejected', 'approved', 'expired', 'settled'], place / 3);
    return { ...makeApproved(row, Math.floor(place / 6)), state };
  });
}

async function fill(store: ThreadStore): Promise<StoredRequest[]> {
  const rows = makeRows();
  await write(store, open(...rows.filter(({ state }) => state === 'open')));
  await write(store, close(...rows.filter(({ state }) => state !== 'open')));
  return rows;
}

const filters: RequestFilter[] = [
  {},
  ...(
    [
      { state: 'open', at },
      { state: 'open', at: 90 },
      { state: 'decided' },
      { state: 'approved' },
      { state: 'invalidated' },
    ] as const
  ).flatMap((states): RequestFilter[] => [
    states,
    { ...states, approver: ['ada'] },
    { ...states, approver: ['finance', 'ada', 'ada'], tenant: 'acme' },
    { ...states, tenant: 'acme' },
    { ...states, agent: 'booking' },
    { ...states, threadId: 't3' },
  ]),
  ...([null, 'booking', 'nobody'] as const).map((agent) => ({ agent })),
  ...([null, 'acme', 'acm'] as const).map((tenant) => ({ tenant })),
  ...([[], ['bob', 'eve'], ['ADA'], ['']] as const).map((approver) => ({ approver })),
  ...risks.map((risk) => ({ risk })),
  { kind: 'question' },
  { toolName: 'pay' },
  { requester: 'ada' },
  { threadId: 't1', requester: 'eve' },
  {
    state: 'open',
    at,
    kind: 'approval',
    agent: null,
    approver: ['finance'],
    toolName: 'pay',
    risk: 'high',
  },
];

function matches(row: StoredRequest, filter: RequestFilter): boolean {
  const { state, at: time = 0, kind, agent, tenant, approver, toolName, risk } = filter;
  const isOpen = row.state === 'open' && (row.expiresAt === undefined || row.expiresAt > time);
  if (state === 'open' && !isOpen) return false;
  if (state === 'decided' && row.state === 'open') return false;
  if (state !== undefined && state !== 'open' && state !== 'decided' && state !== row.state)
    return false;
  if (kind !== undefined && kind !== row.kind) return false;
  if (agent !== undefined && agent !== row.agent) return false;
  if (tenant !== undefined && tenant !== row.tenant) return false;
  if (toolName !== undefined && toolName !== row.toolName) return false;
  if (risk !== undefined && risk !== row.risk) return false;
  if (filter.requester !== undefined && !row.requesters.includes(filter.requester)) return false;
  if (filter.threadId !== undefined && filter.threadId !== row.threadId) return false;
  if (approver === undefined || row.approvers.length === 0) return true;
  return row.approvers.some((name) => approver.includes(name));
}

/** The numbers by which rows are ordered, the lowest first, before their id. */
const ranks: Record<NonNullable<RequestQuery['order']>, (row: StoredRequest) => number[]> = {
  oldest: ({ createdAt }) => [createdAt],
  newest: ({ createdAt }) => [-createdAt],
  expires: ({ expiresAt }) => [expiresAt ?? 1e9],
  risk: ({ risk, createdAt }) => [risk === null ? 1 : -risks.indexOf(risk), createdAt],
  decided: ({ decidedAt }) => [decidedAt === undefined ? 1 : -decidedAt],
};

function sort(rows: readonly StoredRequest[], order: keyof typeof ranks): StoredRequest[] {
  return rows.toSorted((one, other) => {
    const [first, second] = [ranks[order](one), ranks[order](other)];
    const place = first.findIndex((rank, index) => rank !== second[index]);
    if (place === -1) return one.requestId < other.requestId ? -1 : 1;
    return (first[place] ?? 0) - (second[place] ?? 0);
  });
}

/** All pages, from the first one on, or from the last one back. */
async function readPages(
  requests: ThreadStoreRequests,
  query: RequestQuery,
  end?: StoredRequest,
): Promise<StoredRequest[]> {
  const all = end === undefined ? [] : [end];
  for (;;) {
    const [first, last] = [all[0], all.at(-1)];
    const from = end === undefined ? last && { after: last } : first && { before: first };
    const page = await requests.list({ ...query, ...from });
    if (page.length === 0) return all;
    if (end === undefined) all.push(...page);
    else all.unshift(...page);
  }
}

/** Requirements for listing and counting requests. A store without `requests` meets them. */
export const requestListCases: readonly StoreConformanceCase[] = [
  ...(['oldest', 'newest', 'expires', 'risk', 'decided'] as const).map((order) =>
    requestCase(
      `requests by ${order} are each listed once that match the filter, at once and in pages of both directions`,
      async ({ store, reopen }) => {
        const rows = await fill(store);
        const { requests } = reopen();
        for (const filter of filters) {
          const matching = sort(
            rows.filter((row) => matches(row, filter)),
            order,
          );
          deepStrictEqual(await requests.list({ ...filter, order }), matching);
          const query = { ...filter, order, limit: 5 };
          deepStrictEqual(await readPages(requests, query), matching);
          const last = matching.at(-1);
          if (last !== undefined) deepStrictEqual(await readPages(requests, query, last), matching);
        }
      },
    ),
  ),
  requestCase(
    'a request that expires later than a number counts exactly expires before those that never do',
    async ({ store, reopen }) => {
      const times = [2 ** 53 + 2, 2 ** 53, 2 ** 53 - 1, 1e300];
      const rows = times.map((expiresAt, index) => makeRow(`r${index}`, { expiresAt }));
      await write(store, open(makeRow('never'), ...rows));
      const { requests } = reopen();
      const [third, second, first, fourth] = rows;
      const inOrder = [first, second, third, fourth, makeRow('never')];
      deepStrictEqual(await requests.list({ state: 'open', order: 'expires' }), inOrder);
    },
  ),
  requestCase('count is the number of requests that match a filter', async ({ store, reopen }) => {
    const rows = await fill(store);
    const { requests } = reopen();
    for (const filter of filters)
      strictEqual(await requests.count(filter), rows.filter((row) => matches(row, filter)).length);
  }),
  requestCase(
    'list orders by age and returns 100 requests by default',
    async ({ store, requests }) => {
      const rows = Array.from({ length: 101 }, (_, index) =>
        makeRow(`r${500 - index}`, { createdAt: index }),
      );
      await write(store, open(...rows));
      const ids = rows.map(({ requestId }) => requestId);
      deepStrictEqual(await listRequestIds(requests), ids.slice(0, 100));
      deepStrictEqual(await listRequestIds(requests, { limit: 2 }), ids.slice(0, 2));
      const [, , before] = rows;
      if (before !== undefined)
        deepStrictEqual(await listRequestIds(requests, { before }), ids.slice(0, 2));
    },
  ),
  requestCase(
    'an open request is left out once it has expired, by default by the clock of the store',
    async ({ store, requests }) => {
      const now = (await store.now?.()) ?? Date.now();
      const day = 86_400_000;
      const rows = [
        makeRow('past', { expiresAt: now - day }),
        makeRow('future', { expiresAt: now + day }),
      ];
      await write(store, open(...rows, makeRow('never')));
      const isOpen = { state: 'open', order: 'expires' } as const;
      for (const filter of [isOpen, { ...isOpen, approver: ['ada'] }]) {
        deepStrictEqual(await listRequestIds(requests, filter), ['future', 'never']);
        strictEqual(await requests.count(filter), 2);
        const listAt = async (time: number): Promise<string[]> =>
          listRequestIds(requests, { ...filter, at: time });
        deepStrictEqual(await listAt(now - day - 1), ['past', 'future', 'never']);
        deepStrictEqual(await listAt(now - day), ['future', 'never']);
        deepStrictEqual(await listAt(now + day), ['never']);
      }
      deepStrictEqual(await requests.list({ state: 'decided' }), []);
      deepStrictEqual(await listRequestIds(requests), ['future', 'never', 'past']);
    },
  ),
  requestCase(
    'an open request is found by the approvers that it names now',
    async ({ store, requests }) => {
      const row = makeRow('a', { approvers: ['ada'], createdAt: 5, expiresAt: 80, risk: 'low' });
      await write(store, open(row, makeRow('b')));
      const reassigned = { ...row, approvers: ['bob', 'finance'], expiresAt: 70 };
      await write(store, change(reassigned));
      const find = async (...approver: string[]): Promise<StoredRequest[]> =>
        requests.list({ state: 'open', at: 60, approver });
      deepStrictEqual(await find('ada'), [makeRow('b')]);
      deepStrictEqual(await find('finance', 'bob'), [makeRow('b'), reassigned]);
      deepStrictEqual(await find(), [makeRow('b')]);
      strictEqual(await requests.count({ state: 'open', at: 70, approver: ['bob'] }), 1);
      await write(store, change({ ...reassigned, approvers: [] }));
      strictEqual((await find('eve')).length, 2);
      await write(store, close(makeApproved(reassigned)));
      deepStrictEqual(await find('bob'), [makeRow('b')]);
      deepStrictEqual(await requests.list({ state: 'decided', approver: ['bob'] }), [
        makeApproved(reassigned),
      ]);
    },
  ),
  requestCase(
    'a page begins at a place, whatever has opened, changed, closed or gone since',
    async ({ store, requests }) => {
      const rows = ['a', 'b', 'c', 'd', 'e'].map((id, index) =>
        makeRow(id, { createdAt: 10 * index, threadId: `thread of ${id}`, approvers: ['ada'] }),
      );
      await write(store, open(...rows));
      const [a, b, c, d] = rows;
      if (a === undefined || b === undefined || c === undefined || d === undefined) return;
      for (const filter of [{}, { approver: ['ada'] }]) {
        const query: RequestQuery = { state: 'open', limit: 2, ...filter };
        deepStrictEqual(await listRequestIds(requests, query), ['a', 'b']);
      }
      await write(store, open(makeRow('new before', { createdAt: 5, threadId: 'u' })));
      await write(store, open(makeRow('new after', { createdAt: 15, threadId: 'u' })));
      await write(store, [
        ...close(makeApproved(b)),
        ...change({ ...a, votes: 1, expiresAt: 1e15 }),
      ]);
      await store.delete(c.threadId, { revision: 1, hash: 'hash 1' });
      for (const filter of [{}, { approver: ['ada'] }]) {
        const list = async (query: RequestQuery): Promise<string[]> =>
          listRequestIds(requests, { state: 'open', limit: 2, ...filter, ...query });
        deepStrictEqual(await list({ after: b }), ['new after', 'd']);
        deepStrictEqual(await list({ after: c }), ['d', 'e']);
        deepStrictEqual(await list({ before: b }), ['a', 'new before']);
        deepStrictEqual(await list({ before: d }), ['new before', 'new after']);
        deepStrictEqual(await list({ before: b, order: 'newest' }), ['d', 'new after']);
        deepStrictEqual(await list({ after: b, order: 'newest' }), ['new before', 'a']);
        deepStrictEqual(await list({ before: a }), []);
      }
    },
  ),
];
