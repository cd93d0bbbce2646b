import { memoryStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { mustHold } from '../faults/seeded-check.ts';
import { appendRows, plainRow, requestsOf } from '../support/row-requests.ts';
import { storeKits } from '../support/store-kits.ts';
import { withSqliteStore } from '../support/with-sqlite-store.ts';
import { requestProperty } from './request-steps.ts';
import { countTrials } from '../support/sampling.ts';

/* How often, and how many steps at most: a step takes microseconds in memory and milliseconds on a disk. */
const trials = { memoryStore: [100, 200], sqliteStore: [4, 60] } as const;

test.each(storeKits)(
  'whatever is appended, closed, deleted, taken and paged through, $name finds what a look at all requests finds',
  async ({ name, keep }) => {
    const [numRuns, maxLength] = name === 'memoryStore' ? trials.memoryStore : trials.sqliteStore;
    await mustHold(requestProperty(keep, maxLength), { numRuns: countTrials(numRuns) });
  },
);

/* Few rows of an agent are read all; of more, an index gives them in the order of the page. */
test('finds the same pages of an agent with few requests and with many', async () => {
  const rows = Array.from({ length: 1_600 }, (_, index) =>
    plainRow(`r${(index * 7) % 1_600}`, {
      agent: index % 8 === 0 ? 'quiet' : 'busy',
      approvers: [[], ['ada'], ['finance', 'ada'], ['legal']][index % 4] ?? [],
      risk: index % 3 === 0 ? 'high' : null,
      createdAt: index,
      expiresAt: 1_000 + ((index * 13) % 1_600),
    }),
  );
  const memory = memoryStore();
  await withSqliteStore(async (sqlite) => {
    for (const store of [memory, sqlite]) {
      await appendRows(
        store,
        't',
        rows.map((request) => ({ type: 'opened', request })),
      );
    }
    for (const agent of ['quiet', 'busy']) {
      for (const order of ['oldest', 'newest', 'expires', 'risk'] as const) {
        for (const filter of [{}, { approver: ['ada', 'finance'] }]) {
          const query = { state: 'open', at: 1_200, limit: 50, agent, order, ...filter } as const;
          const page = await requestsOf(memory).list(query);
          expect(page).toHaveLength(50);
          expect(await requestsOf(sqlite).list(query)).toEqual(page);
          const next = { ...query, after: page.at(-1) };
          expect(await requestsOf(sqlite).list(next)).toEqual(await requestsOf(memory).list(next));
        }
      }
    }
  });
});
