import { describe, expect, test } from 'vitest';
import { crashSubAgentsEverywhere, subAgentScenarios } from './sub-agent-scenarios.ts';

describe('a crash at any one point breaks nothing between agents:', () => {
  test.each(subAgentScenarios)('$name', async (scenario) => {
    const { points, broken } = await crashSubAgentsEverywhere(scenario);
    expect(points).toBeGreaterThan(50);
    expect(broken).toEqual([]);
  });
});
