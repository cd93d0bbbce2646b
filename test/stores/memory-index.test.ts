import * as fc from 'fast-check';
import { memoryStore, type ThreadStore, type ThreadSummary } from 'holdpoint';
import { expect, test } from 'vitest';
import { mustHold } from '../faults/seeded-check.ts';
import { countTrials } from '../support/sampling.ts';
import type { ThreadClaim, ThreadFilter, ThreadQuery } from '../../src/thread/thread-store.ts';

/* What the memory store answers from an index, or from a page that it cuts as it goes, is compared with what all its threads say. */

const ids = fc.integer({ min: 0, max: 9 }).map((number) => `thread-${number}`);
const agents = fc.constantFrom('one', 'other', null);
const statuses = fc.constantFrom('idle', 'waiting', 'running');
const times = fc.integer({ min: 0, max: 20 });
const limits = fc.integer({ min: 0, max: 4 });
const filters = fc.record(
  { status: statuses, agent: agents, dueBefore: times, updatedBefore: times },
  { requiredKeys: [] },
);

/** What a step does to the store and to the model of it: returns what the store found, and what it should have found. */
type Step = (
  store: ThreadStore,
  model: Map<string, ThreadSummary>,
) => Promise<{ found?: unknown; meant?: unknown }>;

const appends = fc
  .tuple(ids, agents, statuses, fc.option(times, { nil: undefined }), times)
  .map(([threadId, agent, status, nextDeadline, updatedAt]): Step => async (store, model) => {
    const { revision, hash } = model.get(threadId) ?? { revision: 0, hash: '' };
    const summary: ThreadSummary = {
      threadId,
      ...(agent === null ? {} : { agent }),
      status,
      revision: revision + 1,
      hash: `${threadId} ${revision + 1}`,
      openRequests: 0,
      failures: 0,
      ...(nextDeadline === undefined ? {} : { nextDeadline }),
      updatedAt,
    };
    const entry = { revision: revision + 1, text: '' };
    await store.append(threadId, { revision, hash }, [entry], summary);
    model.set(threadId, { ...summary });
    /* The store has a copy. */
    summary.nextDeadline = 0;
    return {};
  });

const deletions = ids.map((threadId): Step => async (store, model) => {
  await store.delete(threadId, model.get(threadId) ?? { revision: 0, hash: '' });
  model.delete(threadId);
  return {};
});

const claims = fc
  .record(
    { agent: agents, dueBefore: times, until: times, limit: limits, threadId: ids },
    { requiredKeys: ['agent', 'dueBefore', 'until', 'limit'] },
  )
  .map((claim: ThreadClaim): Step => async (store, model) => {
    const due = [...model.values()]
      .filter((summary) => isMeant(summary, claim))
      .filter(({ threadId }) => claim.threadId === undefined || threadId === claim.threadId)
      .map(({ nextDeadline = 0 }) => nextDeadline)
      .toSorted((one, next) => one - next);
    const claimed = await store.claim(claim);
    const before = claimed.map(({ threadId }) => model.get(threadId));
    /* Which of the threads with the same deadline come first is not said. */
    const found = [structuredClone(claimed), before.map((summary) => summary?.nextDeadline)];
    for (const summary of claimed) {
      model.set(summary.threadId, { ...summary });
      /* It is the caller's own. */
      summary.nextDeadline = 0;
    }
    const marked = before.map((summary) => ({ ...summary, nextDeadline: claim.until }));
    return { found, meant: [marked, due.slice(0, claim.limit)] };
  });

const lists = fc
  .record(
    {
      order: fc.constantFrom('id', 'newest', 'oldest'),
      after: fc.record({ threadId: ids, updatedAt: times }),
      limit: limits,
    },
    { requiredKeys: [] },
  )
  .chain((page) => filters.map((filter): ThreadQuery => ({ ...page, ...filter })))
  .map((query): Step => async (store, model) => {
    const isLess = orders[query.order ?? 'id'];
    const { after, limit = 100 } = query;
    const meant = [...model.values()]
      .filter((summary) => isMeant(summary, query))
      .filter((summary) => after === undefined || isLess(after, summary))
      .toSorted((one, next) => (isLess(one, next) ? -1 : 1));
    const all = [...model.values()].filter((summary) => isMeant(summary, query));
    const found = [await store.list(query), await store.count(query)];
    return { found, meant: [meant.slice(0, limit), all.length] };
  });

type Place = Pick<ThreadSummary, 'threadId' | 'updatedAt'>;
type IsLess = (one: Place, next: Place) => boolean;

const isOlder: IsLess = (one, next) =>
  one.updatedAt === next.updatedAt ? one.threadId < next.threadId : one.updatedAt < next.updatedAt;
const orders: Record<NonNullable<ThreadQuery['order']>, IsLess> = {
  id: (one, next) => one.threadId < next.threadId,
  oldest: isOlder,
  newest: (one, next) => isOlder(next, one),
};

function isMeant(summary: ThreadSummary, filter: ThreadFilter): boolean {
  const { agent = null, status, nextDeadline, updatedAt } = summary;
  if (filter.status !== undefined && filter.status !== status) return false;
  if (filter.agent !== undefined && filter.agent !== agent) return false;
  if (filter.updatedBefore !== undefined && updatedAt >= filter.updatedBefore) return false;
  if (filter.dueBefore === undefined) return true;
  return nextDeadline !== undefined && nextDeadline < filter.dueBefore;
}

test('every due thread is claimed after many deadlines were replaced', async () => {
  const store = memoryStore();
  const summary: ThreadSummary = {
    threadId: 'thread',
    status: 'waiting',
    revision: 1,
    hash: '1',
    openRequests: 1,
    failures: 0,
    nextDeadline: 1,
    updatedAt: 0,
  };
  const entry = { revision: 1, text: '' };
  const threadIds = Array.from({ length: 100 }, (_, index) => `thread-${index}`);
  for (const threadId of threadIds) {
    await store.append(threadId, { revision: 0, hash: '' }, [entry], { ...summary, threadId });
  }
  const page = { agent: null, dueBefore: 10, limit: 1000 };
  for (let round = 2; round < 6; round += 1) {
    expect(await store.claim({ ...page, until: round })).toHaveLength(threadIds.length);
  }
  const claimed = await store.claim({ ...page, until: 11 });
  expect(claimed.map(({ threadId }) => threadId).toSorted()).toEqual(threadIds.toSorted());
  expect(await store.claim({ ...page, until: 12 })).toEqual([]);
});

test('whatever is appended, deleted and claimed, the memory store finds what a look at all threads finds', async () => {
  const steps = fc.oneof(
    { weight: 8, arbitrary: appends },
    { weight: 1, arbitrary: deletions },
    { weight: 3, arbitrary: claims },
    { weight: 3, arbitrary: lists },
  );
  /* Long enough for more than 64 deadlines that are replaced. */
  const property = fc.asyncProperty(
    fc.array(steps, { minLength: 1, maxLength: 600, size: 'max' }),
    async (taken) => {
      const store = memoryStore();
      const model = new Map<string, ThreadSummary>();
      for (const step of taken) {
        const { found, meant } = await step(store, model);
        expect(found).toEqual(meant);
      }
    },
  );
  await mustHold(property, { numRuns: countTrials(100) });
});
