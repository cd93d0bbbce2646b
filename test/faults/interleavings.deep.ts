import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { withoutCompareAndSwap } from './broken-stores.ts';
import { conversations } from './conversations.ts';
import { interleavings } from './interleaving.ts';
import { playInterleaving } from './play-interleaving.ts';
import { mustHold, tryOut } from './seeded-check.ts';

const times = Number(process.env['HOLDPOINT_TIMES'] ?? 10);
const schedules = 2_000 * times;
const conversationCount = 400 * times;
const limitMs = 150_000 * times;
const timeout = 200_000 * times;

describe('however the steps of two to four processes interleave,', () => {
  test('no promise is broken', { timeout }, async () => {
    const seen: Record<string, number> = {};
    const property = fc.asyncProperty(interleavings, async (interleaving) => {
      const { ends, faults } = await playInterleaving(interleaving);
      for (const end of ends) seen[end] = (seen[end] ?? 0) + 1;
      expect(faults).toEqual([]);
    });
    await mustHold(property, { numRuns: schedules, limitMs });
    console.log(`${schedules} schedules:`, seen);
    /* Where the moves no longer get to the dangerous places, nothing was shown. */
    for (const end of [
      'answer: answer-mismatch',
      'answer: already-answered',
      'answer: request-closed',
      'answer: running',
      'answer: indeterminate',
      'message: requests-open',
      'message: thread-busy',
      'message: thread-indeterminate',
      'settle: settled',
      'answer: wrong-agent',
      'answer: thread-deleted',
      'adopt: adopted',
      'adopt: thread-busy',
      'delete: deleted',
      'delete: thread-busy',
      'due: completed',
      'due: waiting',
      'look: indeterminate',
      'resend: completed',
      'resend: running',
      'stop: stopped',
      'note: waiting',
      'note: informed',
      'retract: retracted',
      'retract: not-allowed',
      'retract: thread-busy',
    ]) {
      expect(seen).toHaveProperty(end);
    }
  });

  test.each([/started 2 times/, /had 2 effects/, /has 2 results/, /was taken and is not/])(
    'a store without compare-and-swap is found out: %s',
    { timeout },
    async (sentence) => {
      const property = fc.asyncProperty(interleavings, async (interleaving) => {
        const { faults } = await playInterleaving(interleaving, withoutCompareAndSwap);
        expect(faults.filter((fault) => sentence.test(fault))).toEqual([]);
      });
      const found = await tryOut(property, { numRuns: schedules, endOnFailure: true, limitMs });
      console.log(`${String(sentence)}: found after ${found.numRuns} schedules`);
      expect(found).toMatchObject({ failed: true, interrupted: false });
    },
  );
});

describe('whatever is said, answered, cancelled and waited for, in whichever process,', () => {
  test('a thread stands where a small oracle says', { timeout }, async () => {
    await mustHold(conversations(), { numRuns: conversationCount, limitMs });
  });
});
