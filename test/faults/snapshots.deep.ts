import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { snapshotStore, withSnapshots } from '../support/snapshot-store.ts';
import { crashEverywhere } from './crash-everywhere.ts';
import { customScenarios } from './custom-scenarios.ts';
import { fleetScenarios } from './fleet-scenarios.ts';
import { interleavings } from './interleaving.ts';
import type { StoreView } from './mortal-world.ts';
import { playInterleaving } from './play-interleaving.ts';
import { played, plays } from './policy-moves.ts';
import { providerScenarios } from './provider-scenarios.ts';
import { recoveryScenarios } from './recovery-scenarios.ts';
import { scenarios } from './scenario.ts';
import { mustHold } from './seeded-check.ts';
import { crashSubAgentsEverywhere, subAgentScenarios } from './sub-agent-scenarios.ts';

const all = [
  ...fleetScenarios,
  ...scenarios,
  ...recoveryScenarios,
  ...providerScenarios,
  ...customScenarios,
];

/** A view for one world: every process opens the thread from a snapshot. */
function snapshotView(): StoreView {
  const kept = new Map<string, string>();
  return (store) => withSnapshots(store, kept, 0);
}

describe('where every process opens the thread from a snapshot,', () => {
  test.each(all)('a crash at any one point breaks nothing: $name', async (scenario) => {
    const { ends, broken } = await crashEverywhere(scenario, Infinity, snapshotView);
    expect(broken).toEqual([]);
    expect([...ends.keys()]).toContain('completed');
  });

  test.each(subAgentScenarios)(
    'a crash at any one point breaks nothing between agents: $name',
    async (scenario) => {
      const stores = { open: () => snapshotStore(0) };
      expect((await crashSubAgentsEverywhere(scenario, stores)).broken).toEqual([]);
    },
  );

  test('nothing runs that too few people approved', async () => {
    const property = fc.asyncProperty(plays, async (play) => {
      const store = snapshotStore(0);
      expect((await played(play, () => store)).faults).toEqual([]);
    });
    await mustHold(property, { numRuns: 200, limitMs: 600_000 });
  });

  test('no promise is broken, however the steps of two to four processes interleave', async () => {
    const property = fc.asyncProperty(interleavings, async (interleaving) => {
      const { faults } = await playInterleaving(interleaving, snapshotView());
      expect(faults).toEqual([]);
    });
    await mustHold(property, { numRuns: 2_000, limitMs: 600_000 });
  });
});
