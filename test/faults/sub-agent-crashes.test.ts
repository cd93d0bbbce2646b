import { expect, test } from 'vitest';
import { crashSubAgentsEverywhere, subAgentScenarios } from './sub-agent-scenarios.ts';

/* The deep tests have all scenarios. */
test.each(subAgentScenarios.slice(0, 1))(
  'a crash at any one point breaks nothing between agents: $name',
  async (scenario) => {
    const { points, broken } = await crashSubAgentsEverywhere(scenario);
    expect(points).toBeGreaterThan(50);
    expect(broken).toEqual([]);
  },
);
