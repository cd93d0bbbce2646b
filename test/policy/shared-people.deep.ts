import * as fc from 'fast-check';
import { memoryStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { playTurns } from '../faults/people-moves.ts';
import { turns } from '../faults/people-turns.ts';
import { mustHold } from '../faults/seeded-check.ts';

const times = Number(process.env['HOLDPOINT_TIMES'] ?? 20);
const holds = (check: (faults: string[]) => void) =>
  fc.asyncProperty(turns, async (played) => {
    check((await playTurns(played, memoryStore)).faults);
  });

test('nothing runs that too few entitled people approved, a rule decides for whoever asked, and each act is recorded as its doer’s', async () => {
  const property = holds((faults) => expect(faults).toEqual([]));
  await mustHold(property, { numRuns: 50 * times });
});

/* The broken guards of `random-mutants.ts` are found by these plays. */
test('in the same thousand plays each time, too few entitled people approve nothing', async () => {
  const property = holds((faults) => expect(faults).toEqual([]));
  await fc.assert(property, { seed: 37, numRuns: 1_000, endOnFailure: true });
});
