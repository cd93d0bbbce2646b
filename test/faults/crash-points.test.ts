import { describe, expect, test } from 'vitest';
import { crashEverywhere } from './crash-everywhere.ts';
import { customScenarios } from './custom-scenarios.ts';
import { providerScenarios } from './provider-scenarios.ts';
import { recoveryScenarios } from './recovery-scenarios.ts';
import { scenarios } from './scenario.ts';

/* One of each kind; the deep tests have all of them. */
const kinds = new Set([
  'a plain approval',
  'two gated calls, answered one by one',
  'a step that mixes a safe call and a gated one',
  'one call rejected, one approved',
  'a conversation of two steps',
  'answers recorded first, run later',
  'two processes that send the same answer',
  'calls that the provider runs, one approved, one rejected',
  'tools that know only what was done, and are idempotent',
  'a call that goes on outside and asks',
  'calls that the client does itself',
  'a custom agent that asks about its plan',
]);
const all = [...scenarios, ...recoveryScenarios, ...providerScenarios, ...customScenarios];

describe('a crash at any one point breaks nothing:', () => {
  test.each(all.filter(({ name }) => kinds.has(name)))('$name', async (scenario) => {
    const { ends, broken } = await crashEverywhere(scenario);
    expect(broken).toEqual([]);
    expect([...ends.keys()]).toContain('completed');
  });
});
