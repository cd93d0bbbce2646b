import { expect, test } from 'vitest';
import { crashSubAgentsEverywhere, subAgentScenarios } from './sub-agent-scenarios.ts';
import { pickCases } from '../support/sampling.ts';

/* The deep tests have all scenarios. */
const few = subAgentScenarios.filter(({ stops }, index) => index === 0 || stops === true);
test.each(pickCases(few))(
  'a crash at any one point breaks nothing between agents: $name',
  async (scenario) => {
    const { points, broken } = await crashSubAgentsEverywhere(scenario);
    expect(points).toBeGreaterThan(30);
    expect(broken).toEqual([]);
  },
);
