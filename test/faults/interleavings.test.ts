import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { audit } from './auditor.ts';
import { withoutCompareAndSwap } from './broken-stores.ts';
import { interleavings, turnsOfCalls } from './interleaving.ts';
import { playInterleaving } from './play-interleaving.ts';
import { holdMs, ScheduledWorld } from './scheduled-world.ts';
import { mustHold, tryOut } from './seeded-check.ts';
import { threadCommands } from './thread-commands.ts';
import { ThreadOracle } from './thread-oracle.ts';

const times = Number(process.env['HOLDPOINT_TIMES'] ?? 1);
const schedules = 2_000 * times;
const conversations = 400 * times;
const maxCommands = 40;
const timeout = 200_000 * times;

describe('however the steps of two to four processes interleave,', () => {
  test('no promise is broken', { timeout }, async () => {
    const seen: Record<string, number> = {};
    const property = fc.asyncProperty(interleavings, async (interleaving) => {
      const { ends, faults } = await playInterleaving(interleaving);
      for (const end of ends) seen[end] = (seen[end] ?? 0) + 1;
      expect(faults).toEqual([]);
    });
    await mustHold(property, { numRuns: schedules });
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
      'due: failing',
      'look: indeterminate',
      'resend: completed',
      'resend: running',
      'stop: stopped',
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
      const found = await tryOut(property, { numRuns: schedules, endOnFailure: true });
      console.log(`${String(sentence)}: found after ${found.numRuns} schedules`);
      expect(found).toMatchObject({ failed: true, interrupted: false });
    },
  );
});

describe('whatever is said, answered, cancelled and waited for, in whichever process,', () => {
  test('a thread stands where a small oracle says', { timeout }, async () => {
    const property = fc.asyncProperty(
      turnsOfCalls,
      fc.commands(threadCommands, { maxCommands, size: 'max' }),
      async (some, commands) => {
        /* A call or more for each message that there may be. */
        const turns = Array.from({ length: maxCommands }, () => some).flat();
        const world = new ScheduledWorld({ turns });
        const process = await world.start('the first');
        const model = new ThreadOracle(turns, holdMs);
        await fc.asyncModelRun(() => ({ model, real: { world, process } }), commands);
        expect((await world.evidence()).flatMap(audit)).toEqual([]);
      },
    );
    await mustHold(property, { numRuns: conversations });
  });
});
