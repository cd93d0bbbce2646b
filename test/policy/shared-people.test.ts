import * as fc from 'fast-check';
import { memoryStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { playTurns } from '../faults/people-moves.ts';
import { turns } from '../faults/people-turns.ts';
import { countTrials } from '../support/sampling.ts';

test('nothing runs that too few entitled people approved, a rule decides for whoever asked, and each act is recorded as its doer’s', async () => {
  await fc.assert(
    fc.asyncProperty(turns, async (played) => {
      expect((await playTurns(played, memoryStore)).faults).toEqual([]);
    }),
    { seed: 37, numRuns: countTrials(25), interruptAfterTimeLimit: 50_000 },
  );
});
