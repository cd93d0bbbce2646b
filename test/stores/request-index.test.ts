import { test } from 'vitest';
import { mustHold } from '../faults/seeded-check.ts';
import { storeKits } from '../support/store-kits.ts';
import { requestProperty } from './request-steps.ts';

/* How often, and how many steps at most: a step takes microseconds in memory and milliseconds on a disk. */
const trials = { memoryStore: [100, 200], sqliteStore: [4, 60] } as const;

test.each(storeKits)(
  'whatever is appended, closed, deleted, taken and paged through, $name finds what a look at all requests finds',
  async ({ name, keep }) => {
    const [numRuns, maxLength] = name === 'memoryStore' ? trials.memoryStore : trials.sqliteStore;
    await mustHold(requestProperty(keep, maxLength), { numRuns });
  },
);
