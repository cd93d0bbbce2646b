import { describe, expect, test } from 'vitest';
import { crashEverywhere } from './crash-everywhere.ts';
import { customScenarios } from './custom-scenarios.ts';
import { providerScenarios } from './provider-scenarios.ts';
import { recoveryScenarios } from './recovery-scenarios.ts';
import { scenarios } from './scenario.ts';

/* The deep tests have all of them. */
const custom = customScenarios.slice(0, 1);
const all = [...scenarios, ...recoveryScenarios, ...providerScenarios, ...custom];

describe('a crash at any one point breaks nothing:', () => {
  test.each(all)('$name', async (scenario) => {
    const { ends, broken } = await crashEverywhere(scenario);
    expect(broken).toEqual([]);
    expect([...ends.keys()]).toContain('completed');
  });
});
