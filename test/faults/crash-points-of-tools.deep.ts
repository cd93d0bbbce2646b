import { describe, test } from 'vitest';
import { expectSound, stride } from './expect-sound.ts';
import { pickShard } from './pick-shard.ts';
import { providerScenarios } from './provider-scenarios.ts';
import { recoveryScenarios } from './recovery-scenarios.ts';

/* Lost calls, calls that go on outside, and calls that the provider runs. */
const all = [...recoveryScenarios, ...providerScenarios];

describe(`a crash at every point, and at pairs of points (1 of ${stride}), breaks nothing:`, () => {
  test.each(pickShard(all))('$name', async (scenario) => expectSound(scenario, stride));
});
