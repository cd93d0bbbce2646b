import { describe, expect, test } from 'vitest';
import { crashEverywhere } from './crash-everywhere.ts';
import { crashRun } from './crash-run.ts';
import { dropping } from './dropped-connection.ts';
import { fleetScenarios } from './fleet-scenarios.ts';
import { FaultPlan } from './mortal-process.ts';
import { providerScenarios } from './provider-scenarios.ts';
import { recoveryScenarios } from './recovery-scenarios.ts';
import { type Scenario, scenarios } from './scenario.ts';

/** Every crash alone is tried, and every pair of crashes whose second is this many points further; 1 tries all pairs. */
const stride = Number(process.env['HOLDPOINT_CRASH_STRIDE'] ?? 1);

/* With others about they take longer, and are crashed at fewer pairs. */
const wideStride = stride === 1 ? 1 : stride * 10;
const all = [...scenarios, ...recoveryScenarios, ...providerScenarios];

/** Crashes a scenario everywhere, and expects that nothing was broken. */
async function expectSound(scenario: Scenario, each: number): Promise<void> {
  const { points, runs, ends, broken } = await crashEverywhere(scenario, each);
  console.log(`${scenario.name}: ${points} points, ${runs} runs,`, Object.fromEntries(ends));
  expect(broken).toEqual([]);
  const unknown = scenario.isAlwaysCompleted === true ? [] : ['indeterminate'];
  expect([...ends.keys()].toSorted()).toEqual(['completed', ...unknown]);
}

describe(`a crash at every point, and at pairs of points (1 of ${stride}), breaks nothing:`, () => {
  test.each(all)('$name', async (scenario) => expectSound(scenario, stride));
});

describe(`the same with others beside the client (1 pair of ${wideStride}):`, () => {
  test.each(fleetScenarios)('$name', async (scenario) => expectSound(scenario, wideStride));
});

describe('a connection to the store that drops at any one point breaks nothing:', () => {
  test.each([...all, ...fleetScenarios])('$name', async (scenario) => {
    const counting = new FaultPlan();
    await crashRun(scenario, [], dropping(counting));
    const points = Array.from({ length: counting.points }, (_, index) => index + 1);
    const runs = await Promise.all(
      points.map(async (point) => ({
        point,
        ...(await crashRun(scenario, [], dropping(new FaultPlan([point])))),
      })),
    );
    expect(runs.filter(({ faults }) => faults.length > 0)).toEqual([]);
  });
});
