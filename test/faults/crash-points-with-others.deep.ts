import { describe, expect, test } from 'vitest';
import { crashRun } from './crash-run.ts';
import { dropping } from './dropped-connection.ts';
import { expectSound, stride } from './expect-sound.ts';
import { pickShard } from './pick-shard.ts';
import { fleetScenarios } from './fleet-scenarios.ts';
import { FaultPlan } from './mortal-process.ts';
import { customScenarios } from './custom-scenarios.ts';
import { providerScenarios } from './provider-scenarios.ts';
import { recoveryScenarios } from './recovery-scenarios.ts';
import { scenarios } from './scenario.ts';

/* With others about they take longer, and are crashed at fewer pairs. */
const wideStride = stride === 1 ? 1 : stride * 10;
const all = [...scenarios, ...recoveryScenarios, ...providerScenarios, ...customScenarios];

describe(`a crash at every point, with others beside the client (1 pair of ${wideStride}), breaks nothing:`, () => {
  test.each(pickShard(fleetScenarios))('$name', async (scenario) =>
    expectSound(scenario, wideStride),
  );
});

describe('a connection to the store that drops at any one point breaks nothing:', () => {
  test.each(pickShard([...all, ...fleetScenarios]))('$name', async (scenario) => {
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
