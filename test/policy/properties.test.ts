import * as fc from 'fast-check';
import { memoryStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { played, plays } from '../faults/policy-moves.ts';
import { countTrials } from '../support/sampling.ts';

test('no sequence of answers, votes, edits, expiries and standing approvals runs what too few approved', async () => {
  await fc.assert(
    fc.asyncProperty(plays, async (play) => {
      const store = memoryStore();
      const { faults } = await played(play, () => store);
      expect(faults).toEqual([]);
    }),
    { seed: 16, numRuns: countTrials(30) },
  );
});
