import * as fc from 'fast-check';
import { memoryStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { mustHold } from '../faults/seeded-check.ts';
import { storeKits } from '../support/store-kits.ts';
import { callerMoves, playCallers } from './play-callers.ts';
import { pickCases } from '../support/sampling.ts';

test.each(pickCases(storeKits))(
  'whatever clients of two gates and people do, each call takes effect at most once, for a caller, and is told once ($name)',
  async ({ keep }) => {
    const property = fc.asyncProperty(callerMoves, async (moves) => {
      using kept = keep();
      expect(await playCallers(moves, kept.open())).toEqual([]);
    });
    await mustHold(property, { numRuns: 3 });
  },
);

test('a result that one client of two gates gets while another one looks for it is told once', async () => {
  const moves = [
    ['call', 1, 0],
    ['approve', 0],
    ['call', 0, 0],
    ['reconnect', 1],
    ['call', 0, 0],
  ] satisfies Parameters<typeof playCallers>[0];
  expect(await playCallers(moves, memoryStore())).toEqual([]);
});
