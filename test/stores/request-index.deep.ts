import { test } from 'vitest';
import { mustHold } from '../faults/seeded-check.ts';
import { everyStore } from '../support/every-store.ts';
import { requestProperty } from './request-steps.ts';

test.each(everyStore())(
  'whatever is appended, closed, deleted, taken and paged through, $name finds what a look at all requests finds',
  async ({ start }) => {
    await mustHold(requestProperty(start, 100), { numRuns: 40 });
  },
);
