import { describe, expect, test } from 'vitest';
import { stride } from './expect-sound.ts';
import { crashSubAgentsEverywhere, subAgentScenarios } from './sub-agent-scenarios.ts';

describe('a crash at any one point breaks nothing between agents:', () => {
  test.each(subAgentScenarios)('$name', async (scenario) => {
    const { points, broken } = await crashSubAgentsEverywhere(scenario);
    expect(points).toBeGreaterThan(30);
    expect(broken).toEqual([]);
  });
});

describe('a crash at any two points breaks nothing between agents:', () => {
  test.each(subAgentScenarios)('$name', { timeout: 600_000 }, async (scenario) => {
    const each = (scenario.stops === true ? 9 : 3) * stride;
    const { broken } = await crashSubAgentsEverywhere(scenario, { each, inPairs: true });
    expect(broken).toEqual([]);
  });
});
