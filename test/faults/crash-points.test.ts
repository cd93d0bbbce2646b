import { describe, expect, test } from 'vitest';
import { crashEverywhere } from './crash-everywhere.ts';
import { customScenarios } from './custom-scenarios.ts';
import { SqliteOutbox } from './outbox.ts';
import { providerScenarios } from './provider-scenarios.ts';
import { recoveryScenarios } from './recovery-scenarios.ts';
import { scenarios } from './scenario.ts';
import { pickCases, triesAll } from '../support/sampling.ts';

/* Some of them; the deep tests have all. */
const kinds = new Set([
  'a plain approval',
  'a step that mixes a safe call and a gated one',
  'tools that know only what was done, and are idempotent',
  'a custom agent that asks about its plan',
]);
const all = [...scenarios, ...recoveryScenarios, ...providerScenarios, ...customScenarios];

describe('a crash at any one point breaks nothing:', () => {
  test.each(pickCases(all.filter(({ name }) => kinds.has(name))))('$name', async (scenario) => {
    const { ends, broken } = await crashEverywhere(scenario);
    expect(broken).toEqual([]);
    expect([...ends.keys()]).toContain('completed');
  });
});

/* The hook is a point of its own: a process may die in it, or between it and the append. */
test.runIf(triesAll)(
  'a crash beside or in the hook of an append on SQLite breaks nothing',
  async () => {
    const scenario = scenarios.find(({ name }) => name.startsWith('two processes that send'));
    if (scenario === undefined) throw new Error('There is no such scenario.');
    const { ends, broken } = await crashEverywhere(
      scenario,
      Infinity,
      undefined,
      () => new SqliteOutbox(),
    );
    expect(broken).toEqual([]);
    expect([...ends.keys()]).toContain('completed');
  },
);
