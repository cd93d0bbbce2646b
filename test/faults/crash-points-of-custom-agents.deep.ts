import { describe, test } from 'vitest';
import { customScenarios } from './custom-scenarios.ts';
import { expectSound, stride } from './expect-sound.ts';

/* A custom agent takes more steps for the same conversation, and pairs grow with the square of its points. */
const spread = stride * 5;

describe(`a crash of a custom agent at every point, and at pairs of points (1 of ${spread}), breaks nothing:`, () => {
  test.each(customScenarios)('$name', async (scenario) => expectSound(scenario, spread));
});
