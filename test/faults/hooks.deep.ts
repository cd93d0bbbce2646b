import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { crashEverywhere } from './crash-everywhere.ts';
import { interleavings } from './interleaving.ts';
import { SqliteOutbox } from './outbox.ts';
import { playInterleaving } from './play-interleaving.ts';
import { recoveryScenarios } from './recovery-scenarios.ts';
import { scenarios } from './scenario.ts';
import { mustHold } from './seeded-check.ts';

const some = [...scenarios, ...recoveryScenarios];

const makeOutbox = () => new SqliteOutbox();

/* The other suites have an outbox beside a store in memory, as it is faster. */
describe('where a hook writes to an outbox in each append on SQLite,', () => {
  test.each(some)('a crash at any one point breaks nothing: $name', async (scenario) => {
    const { ends, broken } = await crashEverywhere(scenario, Infinity, undefined, makeOutbox);
    expect(broken).toEqual([]);
    expect([...ends.keys()]).toContain('completed');
  });

  test('no promise is broken, however the steps of two to four processes interleave', async () => {
    const property = fc.asyncProperty(interleavings, async (interleaving) => {
      const { faults } = await playInterleaving(interleaving, undefined, new SqliteOutbox());
      expect(faults).toEqual([]);
    });
    await mustHold(property, { numRuns: 300, limitMs: 600_000 });
  });
});
