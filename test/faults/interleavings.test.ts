import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { conversations } from './conversations.ts';
import { interleavings } from './interleaving.ts';
import { playInterleaving } from './play-interleaving.ts';
import { mustHold } from './seeded-check.ts';
import { countTrials } from '../support/sampling.ts';

/* A few of each; the deep tests try thousands. */
const schedules = countTrials(100);
const numRuns = countTrials(20);
const timeout = 200_000;

describe('however the steps of two to four processes interleave,', () => {
  test('no promise is broken', { timeout }, async () => {
    const property = fc.asyncProperty(interleavings, async (interleaving) => {
      const { faults } = await playInterleaving(interleaving);
      expect(faults).toEqual([]);
    });
    await mustHold(property, { numRuns: schedules });
  });
});

describe('whatever is said, answered, cancelled and waited for, in whichever process,', () => {
  test('a thread stands where a small oracle says', { timeout }, async () => {
    await mustHold(conversations(), { numRuns });
  });
});
