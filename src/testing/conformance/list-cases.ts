import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import {
  type ThreadFilter,
  type ThreadQuery,
  threadStatuses,
  type ThreadStore,
  type ThreadSummary,
} from '../../thread/thread-store.ts';
import { end, appendInCase, listIds, type StoreConformanceCase } from './conformance-case.ts';

const agents = [undefined, 'booking', 'billing'];

/* Every status with every agent, some with a deadline; four have the same time, so that their order depends on the id. */
async function fill(store: ThreadStore): Promise<ThreadSummary[]> {
  const filled: ThreadSummary[] = [];
  for (let place = 0; place < 30; place += 1) {
    const agent = agents[place % 3];
    const more = {
      ...(agent === undefined ? {} : { agent }),
      ...(place % 4 === 0 ? { nextDeadline: (place * 7) % 30 } : {}),
      status: threadStatuses[place % 6] ?? 'idle',
      updatedAt: Math.floor(((place * 11) % 30) / 4),
    };
    filled.push(await appendInCase(store, `t${(place * 17) % 30}`, more));
  }
  return filled;
}

const filters: ThreadFilter[] = ([undefined, ...threadStatuses] as const).flatMap((status) =>
  [undefined, null, 'booking', 'nobody'].flatMap((agent) =>
    [undefined, 12].flatMap((dueBefore) =>
      [undefined, 3].map((updatedBefore) => ({
        ...(status === undefined ? {} : { status }),
        ...(agent === undefined ? {} : { agent }),
        ...(dueBefore === undefined ? {} : { dueBefore }),
        ...(updatedBefore === undefined ? {} : { updatedBefore }),
      })),
    ),
  ),
);

function matchesFilter(
  summary: ThreadSummary,
  { status, agent, dueBefore, updatedBefore }: ThreadFilter,
): boolean {
  const { nextDeadline = Infinity } = summary;
  return (
    (status === undefined || summary.status === status) &&
    (agent === undefined || (summary.agent ?? null) === agent) &&
    (dueBefore === undefined || nextDeadline < dueBefore) &&
    (updatedBefore === undefined || summary.updatedAt < updatedBefore)
  );
}

const byId = (one: ThreadSummary, other: ThreadSummary): number =>
  one.threadId < other.threadId ? -1 : 1;

const sorted: Record<
  NonNullable<ThreadQuery['order']>,
  (summaries: ThreadSummary[]) => ThreadSummary[]
> = {
  id: (summaries) => summaries.toSorted(byId),
  oldest: (summaries) =>
    summaries.toSorted((one, other) => one.updatedAt - other.updatedAt || byId(one, other)),
  newest: (summaries) => sorted.oldest(summaries).toReversed(),
};

async function readPages(store: ThreadStore, query: ThreadQuery): Promise<ThreadSummary[]> {
  const all: ThreadSummary[] = [];
  for (;;) {
    const after = all.at(-1);
    const page = await store.list({ ...query, ...(after === undefined ? {} : { after }) });
    if (page.length === 0) return all;
    all.push(...page);
  }
}

/** Requirements for listing and counting threads. */
export const listCases: readonly StoreConformanceCase[] = [
  ...(['id', 'oldest', 'newest'] as const).map((order): StoreConformanceCase => ({
    name: `list by ${order} returns each thread that matches the filter once, at once and in pages`,
    async check(store, reopen) {
      const filled = await fill(store);
      const reader = reopen();
      for (const filter of filters) {
        const matching = sorted[order](filled.filter((each) => matchesFilter(each, filter)));
        deepStrictEqual(await reader.list({ ...filter, order }), matching);
        deepStrictEqual(await readPages(reader, { ...filter, order, limit: 2 }), matching);
      }
    },
  })),
  {
    name: 'list orders by id and returns 100 threads by default',
    async check(store) {
      const ids = Array.from({ length: 101 }, (_, index) => `t${String(index).padStart(3, '0')}`);
      for (const [index, id] of ids.toReversed().entries())
        await appendInCase(store, id, { updatedAt: index });
      deepStrictEqual(listIds(await store.list({})), ids.slice(0, 100));
      deepStrictEqual(listIds(await store.list({ limit: 3 })), ids.slice(0, 3));
      const after = { threadId: 't097', updatedAt: 0 };
      deepStrictEqual(listIds(await store.list({ after })), ids.slice(98));
    },
  },
  {
    name: 'a page begins after a position, even if its thread was deleted or has changed',
    async check(store) {
      for (const [at, id] of ['a', 'b', 'c', 'd'].entries())
        await appendInCase(store, id, { updatedAt: at });
      const [, after] = await store.list({ order: 'oldest' });
      await appendInCase(store, 'b', { revision: 2, updatedAt: 9 });
      deepStrictEqual(listIds(await store.list({ order: 'oldest', after })), ['c', 'd', 'b']);
      await store.delete('b', end(2));
      deepStrictEqual(listIds(await store.list({ order: 'oldest', after })), ['c', 'd']);
      deepStrictEqual(listIds(await store.list({ order: 'newest', after })), ['a']);
      deepStrictEqual(listIds(await store.list({ after })), ['c', 'd']);
    },
  },
  {
    name: 'count is the number of threads that match a filter',
    async check(store, reopen) {
      const filled = await fill(store);
      const reader = reopen();
      for (const filter of filters) {
        const matching = filled.filter((each) => matchesFilter(each, filter));
        strictEqual(await reader.count(filter), matching.length);
        for (const atMost of [1, 2, 1_000]) {
          const count = await reader.count(filter, { atMost });
          strictEqual(count, Math.min(matching.length, atMost));
        }
      }
    },
  },
  {
    name: 'list and count reflect every append',
    async check(store, reopen) {
      await appendInCase(store, 't', { status: 'waiting', nextDeadline: 5, agent: 'booking' });
      const reader = reopen();
      strictEqual(await reader.count({ status: 'waiting', dueBefore: 6, agent: 'booking' }), 1);
      const head = await appendInCase(store, 't', { revision: 2, updatedAt: 2 });
      deepStrictEqual(await reader.list({ status: 'waiting' }), []);
      deepStrictEqual(await reader.list({ dueBefore: 6 }), []);
      deepStrictEqual(await reader.list({ agent: 'booking' }), []);
      deepStrictEqual(await reader.list({ updatedBefore: 2 }), []);
      deepStrictEqual(await reader.list({ agent: null, status: 'idle' }), [head]);
    },
  },
];
