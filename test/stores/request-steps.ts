import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import type { RequestPlace, StoredRequest, ThreadStore, ThreadStoreRequests } from 'holdpoint';
import { errorCode } from '../support/error-code.ts';
import { plainEnd, plainEntry, plainSummary } from '../support/plain-entries.ts';
import type { KeptThreads } from '../support/store-kits.ts';
import type {
  RequestChange,
  RequestQuery,
  RequestFilter,
  FeedChange,
} from '../../src/thread/thread-store-requests.ts';

/* What a store finds with its indexes, tables and pages is compared with what a look at all rows and all changes says. */

/** Everything that was written to a store. */
class WrittenRequests {
  readonly revisions = new Map<string, number>();
  readonly rows = new Map<string, StoredRequest>();
  feed: Pick<FeedChange, 'type' | 'requestId' | 'threadId'>[] = [];

  tell(type: FeedChange['type'], { requestId, threadId }: StoredRequest): void {
    this.feed.push({ type, requestId, threadId });
  }
}

/** What a step does to a store and to the record of it. */
type Step = (
  given: { store: ThreadStore; requests: ThreadStoreRequests },
  written: WrittenRequests,
) => Promise<void>;

/* Each request has one thread, which has five of them. */
const places = fc.integer({ min: 0, max: 19 });
const threadOf = (place: number): string => `thread ${place % 4}`;
const threads = places.map(threadOf);
const times = fc.integer({ min: 0, max: 12 });
const people = fc.subarray(['ada', 'bob', 'finance']);
const limits = fc.integer({ min: 1, max: 6 });
const kinds = fc.constantFrom('approval', 'question', 'lost-call');
const agents = fc.constantFrom(null, 'booking', 'billing');
const tenants = fc.constantFrom(null, 'acme', 'other');
const tools = fc.constantFrom('pay', 'book');
const riskNames = ['low', 'medium', 'high', 'critical'] as const;
const risks = fc.constantFrom(null, ...riskNames);

const rows = fc
  .record({
    place: places,
    agent: agents,
    tenant: tenants,
    kind: kinds,
    toolName: fc.option(tools),
    requesters: people,
    approvers: people,
    risk: risks,
    createdAt: times,
    expiresAt: fc.option(times),
    remindAt: fc.option(times),
    votes: times,
    state: fc.constantFrom('open', 'open', 'approved', 'expired', 'settled'),
    decidedAt: times,
  })
  .map(({ place, expiresAt, remindAt, decidedAt, ...row }): StoredRequest => ({
    ...row,
    requestId: `request ${place}`,
    threadId: threadOf(place),
    ...(expiresAt === null ? {} : { expiresAt }),
    ...(remindAt === null ? {} : { remindAt }),
    ...(row.state === 'open' ? {} : { decidedAt }),
    quorum: 2,
    decidedBy: row.state === 'open' ? null : 'eve',
    text: `${place} ${row.votes}`,
  }));

const appends = fc
  .tuple(
    fc.uniqueArray(rows, { selector: ({ requestId }) => requestId, maxLength: 6 }),
    fc.boolean(),
  )
  .map(([changed, isStale]): Step => async ({ store }, written) => {
    const threadId = changed[0]?.threadId ?? threadOf(0);
    const revision = written.revisions.get(threadId) ?? 0;
    const requests = changed
      .filter((row) => row.threadId === threadId)
      .map((row): RequestChange => {
        const openType = written.rows.has(row.requestId) ? 'changed' : 'opened';
        const type = row.state === 'open' ? openType : 'closed';
        return { type, request: structuredClone(row) };
      });
    const append = store.append(
      threadId,
      plainEnd(isStale ? revision + 1 : revision),
      [plainEntry(revision + 1)],
      plainSummary(threadId, { revision: revision + 1 }),
      { requests },
    );
    if (isStale) {
      strictEqual(await errorCode(append), 'revision-conflict');
      return;
    }
    await append;
    written.revisions.set(threadId, revision + 1);
    for (const { type, request } of requests) {
      const isErased = written.rows.get(request.requestId)?.text === null;
      written.rows.set(request.requestId, {
        ...structuredClone(request),
        ...(isErased ? { text: null } : {}),
      });
      written.tell(type, request);
      /* The store has a copy. */
      Object.assign(request, { votes: 99, state: 'rejected' });
    }
  });

const deletions = threads.map((threadId): Step => async ({ store }, written) => {
  await store.delete(threadId, plainEnd(written.revisions.get(threadId) ?? 0));
  written.revisions.delete(threadId);
  for (const row of written.rows.values()) {
    if (row.threadId !== threadId) continue;
    written.rows.delete(row.requestId);
    if (row.state === 'open') written.tell('deleted', row);
  }
});

const erasures = places.map((place): Step => async ({ requests }, { rows: known }) => {
  const requestId = `request ${place}`;
  const row = known.get(requestId);
  const isErased = row !== undefined && row.state !== 'open';
  strictEqual(await requests.erase(requestId), isErased);
  if (isErased) row.text = null;
  deepStrictEqual(await requests.get(requestId), row);
});

const filters = fc.record(
  {
    state: fc.constantFrom('open', 'open', 'decided', 'approved'),
    at: times,
    kind: kinds,
    agent: agents,
    tenant: tenants,
    approver: people,
    toolName: tools,
    risk: fc.constantFrom(...riskNames),
    requester: fc.constantFrom('ada', 'bob'),
    threadId: threads,
  },
  { requiredKeys: [] },
);

const queries = fc
  .record({
    filter: fc.oneof(fc.record({ state: fc.constant('open'), at: times }), filters),
    order: fc.constantFrom('oldest', 'newest', 'expires', 'risk', 'decided'),
    direction: fc.constantFrom('after', 'before', undefined),
    place: rows,
    limit: limits,
  })
  .map(({ filter, order, direction, place, limit }): RequestQuery => ({
    ...filter,
    order,
    limit,
    ...(direction === undefined ? {} : { [direction]: place }),
  }));

const lists = queries.map((query): Step => async ({ requests }, written) => {
  const { order = 'oldest', after, before, limit } = query;
  const isLess = (one: RequestPlace, other: RequestPlace): boolean =>
    compareRanks(ranks[order](one), ranks[order](other)) < 0;
  const matching = [...written.rows.values()]
    .filter((row) => isMeant(row, query))
    .toSorted((one, other) => (isLess(one, other) ? -1 : 1));
  const rest = matching.filter(
    (row) =>
      (after === undefined || isLess(after, row)) && (before === undefined || isLess(row, before)),
  );
  const meant = before === undefined ? rest.slice(0, limit) : rest.slice(-(limit ?? 100));
  deepStrictEqual(await requests.list(query), meant);
  strictEqual(await requests.count(query), matching.length);
  deepStrictEqual(await listAll(requests, query), matching);
});

/** All rows that a query selects, page by page. */
async function listAll(
  requests: ThreadStoreRequests,
  { after: _, before: __, ...query }: RequestQuery,
): Promise<StoredRequest[]> {
  const all: StoredRequest[] = [];
  for (;;) {
    const last = all.at(-1);
    const page = await requests.list({ ...query, ...(last && { after: last }) });
    if (page.length === 0) return all;
    all.push(...page);
  }
}

function isMeant(row: StoredRequest, filter: RequestFilter): boolean {
  const { state, at = Infinity, approver, requester } = filter;
  if (state === 'decided' && row.state === 'open') return false;
  if (state !== undefined && state !== 'decided' && row.state !== state) return false;
  if (state === 'open' && row.expiresAt !== undefined && row.expiresAt <= at) return false;
  if (requester !== undefined && !row.requesters.includes(requester)) return false;
  const isForAnybody = approver === undefined || row.approvers.length === 0;
  if (!isForAnybody && !row.approvers.some((name) => approver.includes(name))) return false;
  const exact = ['kind', 'agent', 'tenant', 'toolName', 'risk', 'threadId'] as const;
  return exact.every((name) => filter[name] === undefined || filter[name] === row[name]);
}

type Rank = readonly (number | string)[];

/** By what rows are ordered, the lowest first. */
const ranks: Record<NonNullable<RequestQuery['order']>, (place: RequestPlace) => Rank> = {
  oldest: ({ createdAt, requestId }) => [createdAt, requestId],
  newest: ({ createdAt, requestId }) => [-createdAt, requestId],
  expires: ({ expiresAt, requestId }) => [expiresAt ?? Infinity, requestId],
  risk: ({ risk, createdAt, requestId }) => [
    risk === null ? 1 : -riskNames.indexOf(risk),
    createdAt,
    requestId,
  ],
  decided: ({ decidedAt, requestId }) => [-(decidedAt ?? -Infinity), requestId],
};

function compareRanks(one: Rank, other: Rank): number {
  const place = one.findIndex((rank, index) => rank !== other[index]);
  const [first = 0, second = 0] = [one[place], other[place]];
  return Number(first > second) - Number(first < second);
}

const feeds = fc.constant<Step>(async ({ requests }, written) => {
  const changes = await requests.changes({ after: 0, limit: 100_000 });
  const positions = changes.map(({ position }) => position);
  deepStrictEqual(
    positions,
    [...new Set(positions)].toSorted((one, other) => one - other),
  );
  deepStrictEqual(sortDeletions(changes), sortDeletions(written.feed));
  for (const { type, requestId, request } of changes)
    deepStrictEqual(request, type === 'deleted' ? undefined : written.rows.get(requestId));
});

/** Changes as text. Which of the requests of one deletion comes first is not said. */
function sortDeletions(changes: WrittenRequests['feed']): string[] {
  const groups: string[][] = [];
  for (const { type, threadId, requestId } of changes) {
    const text = `${type} ${threadId} ${requestId}`;
    const group = groups.at(-1);
    const isSame = type === 'deleted' && group?.[0]?.startsWith(`deleted ${threadId} `) === true;
    if (isSame) group?.push(text);
    else groups.push([text]);
  }
  return groups.flatMap((group) => group.toSorted());
}

const retentions = fc.boolean().map((areAllOld): Step => async ({ requests }, written) => {
  const before = areAllOld ? Number.MAX_SAFE_INTEGER : 0;
  const deleted = areAllOld ? written.feed.length : 0;
  strictEqual(await requests.deleteChanges({ before }), deleted);
  if (areAllOld) written.feed = [];
});

/** What may be done to the requests of a store. */
const anyStep = fc.oneof(
  { weight: 12, arbitrary: appends },
  { weight: 2, arbitrary: deletions },
  { weight: 2, arbitrary: erasures },
  { weight: 12, arbitrary: lists },
  { weight: 2, arbitrary: feeds },
  { weight: 1, arbitrary: retentions },
);

/** Takes steps on stores that are empty at first, which must find after each step what they should. */
export function requestProperty(
  keep: () => KeptThreads | Promise<KeptThreads>,
  maxLength: number,
): fc.IAsyncProperty<[Step[]]> {
  const steps = fc.array(anyStep, { minLength: 1, maxLength, size: 'max' });
  return fc.asyncProperty(steps, async (taken) => {
    using kept = await keep();
    await takeSteps(kept.open(), taken);
  });
}

async function takeSteps(store: ThreadStore, steps: readonly Step[]): Promise<void> {
  const { requests } = store;
  if (requests === undefined) throw new Error('The store keeps no requests.');
  const written = new WrittenRequests();
  for (const step of steps) await step({ store, requests }, written);
}
