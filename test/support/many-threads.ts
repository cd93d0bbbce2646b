import type { ThreadStatus, ThreadStore } from 'holdpoint';
import { plainEnd, plainEntry, plainSummary } from './plain-entries.ts';
import type { ThreadFilter, ThreadQuery } from '../../src/thread/thread-store.ts';

/** How many threads there are. */
const threadCount = 100_000;

/** The number 1 to `threadCount`, as both dialects can count, for the `from` of `seedThreads`. */
const counted = `
  with recursive counted (n) as (
    select 1 union all select n + 1 from counted where n < ${threadCount}
  )`;

/**
 * Fills a database, in the SQL that both dialects share. Nearly all threads are idle, and what is not is recent, as in an app that has
 * run for a year; ids have nothing to do with time. Of three agents one is rare, and so is the status `stuck`.
 */
export const seedThreads = `
  insert into holdpoint_threads
    (thread_id, agent, status, revision, hash, open_requests, failures, next_deadline, updated_at)
  ${counted}
  select 'thread-' || (n * 7919 % ${threadCount}),
    case when n % 1000 = 0 then 'rare' when n % 3 = 0 then 'booking' else '' end,
    case
      when n <= 95000 then 'idle' when n % 500 = 7 then 'stuck' when n % 10 < 6 then 'waiting'
      when n % 10 < 8 then 'running' else 'indeterminate'
    end,
    1, 'hash 1', 0, 0, case when n > 95000 and n % 2 = 0 then n end, n
  from counted`;

export const seedEntries = `
  insert into holdpoint_entries (thread_id, revision, entry)
  ${counted}
  select 'thread-' || n, 1, '"a short entry"' from counted`;

/** What a store is asked, and how it is called in a failure. */
export interface Question {
  name: string;
  ask(store: ThreadStore): Promise<unknown>;
}

const statuses: (ThreadStatus | undefined)[] = [undefined, 'idle', 'waiting', 'stuck'];
const agents = [undefined, null, 'booking', 'rare'];

function filtersOf(limits: Pick<ThreadFilter, 'dueBefore' | 'updatedBefore'>): ThreadFilter[] {
  return statuses.flatMap((status) =>
    agents.map((agent) => ({
      ...(status === undefined ? {} : { status }),
      ...(agent === undefined ? {} : { agent }),
      ...limits,
    })),
  );
}

function pagesOf(filter: ThreadFilter): Question[] {
  const places = [undefined, { threadId: 'thread-5', updatedAt: threadCount / 2 }];
  return (['id', 'oldest', 'newest'] as const).flatMap((order) =>
    places.map((after) => {
      const query: ThreadQuery = { ...filter, order, ...(after === undefined ? {} : { after }) };
      return question('list', query, (store) => store.list(query));
    }),
  );
}

function question(
  name: string,
  detail: unknown,
  ask: (store: ThreadStore) => Promise<unknown>,
): Question {
  return { name: `${name} ${JSON.stringify(detail)}`, ask };
}

/** Pages without a limit of time, in each order, from the beginning and from the middle. */
export const plainPages: Question[] = filtersOf({}).flatMap(pagesOf);

/** Pages of what is due, or has not changed for long, which have to be sorted unless that is the order. */
export const timedPages: Question[] = [
  { dueBefore: threadCount },
  { updatedBefore: 500 },
  { updatedBefore: 98_000 },
  { dueBefore: threadCount, updatedBefore: 98_000 },
].flatMap((limits) => filtersOf(limits).flatMap(pagesOf));

const fewOf: ThreadFilter[] = [
  { status: 'waiting' },
  { status: 'stuck' },
  { agent: 'rare' },
  { agent: 'rare', status: 'idle' },
  { agent: 'booking', status: 'waiting' },
  { dueBefore: 96_000 },
  { agent: null, dueBefore: 96_000 },
  { updatedBefore: 500 },
  { status: 'waiting', dueBefore: threadCount, updatedBefore: threadCount },
];

/** Counts of few threads. A count of most of them reads most of them, whatever the index. */
export const fewCounts: Question[] = fewOf.map((filter) =>
  question('count', filter, (store) => store.count(filter)),
);

const claim = { agent: null, dueBefore: threadCount, until: threadCount * 2, limit: 10 };

const manyIds = Array.from({ length: 100 }, (_each, index) => `thread-${index * 7}`);

/** What runs and workers do with threads. */
export const pointQuestions: Question[] = [
  question('read', '', (store) => store.read('thread-77')),
  question('head', '', (store) => store.head('thread-77')),
  question('claim', claim, (store) => store.claim(claim)),
  question('claim', 'nothing', (store) => store.claim({ ...claim, agent: 'nobody' })),
  question('claim', 'one', (store) => store.claim({ ...claim, threadId: 'thread-77' })),
  question('append', 'first', (store) =>
    store.append('new', plainEnd(0), [plainEntry(1)], plainSummary('new', { nextDeadline: 1 })),
  ),
  question('append', 'next', (store) =>
    store.append('new', plainEnd(1), [plainEntry(2)], plainSummary('new', { revision: 2 })),
  ),
  question('delete', '', (store) => store.delete('new', plainEnd(2))),
  question('count', 'of many', (store) => store.count({ status: 'idle' }, { atMost: 1_000 })),
  question('children', manyIds, async (store) => store.deletion?.listChildren(manyIds)),
  question('delete', manyIds, async (store) =>
    store.deletion?.delete(
      manyIds.map((threadId) => [{ threadId, revision: 1, hash: 'not this' }]),
    ),
  ),
];
