import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { mustHold } from '../faults/seeded-check.ts';
import { callerMoves, playCallers } from './play-callers.ts';

const times = Number(process.env['HOLDPOINT_TIMES'] ?? 20);

test('whatever clients of two gates and people do, each call takes effect at most once, for a caller, and is told once', async () => {
  const property = fc.asyncProperty(callerMoves, async (moves) => {
    expect(await playCallers(moves)).toEqual([]);
  });
  await mustHold(property, { numRuns: 20 * times });
});
