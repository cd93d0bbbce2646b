import { describe, test } from 'vitest';
import { expectSound, stride } from './expect-sound.ts';
import { providerScenarios } from './provider-scenarios.ts';
import { recoveryScenarios } from './recovery-scenarios.ts';
import { scenarios } from './scenario.ts';

const all = [...scenarios, ...recoveryScenarios, ...providerScenarios];

describe(`a crash at every point, and at pairs of points (1 of ${stride}), breaks nothing:`, () => {
  test.each(all)('$name', async (scenario) => expectSound(scenario, stride));
});
