import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { mustHold } from '../faults/seeded-check.ts';
import { storeKits } from '../support/store-kits.ts';
import { callerMoves, playCallers } from './play-callers.ts';

const times = Number(process.env['HOLDPOINT_TIMES'] ?? 20);

test.each(storeKits)(
  'whatever clients of two gates and people do, each call takes effect at most once, for a caller, and is told once ($name)',
  async ({ keep }) => {
    const property = fc.asyncProperty(callerMoves, async (moves) => {
      using kept = keep();
      expect(await playCallers(moves, kept.open())).toEqual([]);
    });
    await mustHold(property, { numRuns: 10 * times });
  },
);
