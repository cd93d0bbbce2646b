import { expect } from 'vitest';
import { crashEverywhere } from './crash-everywhere.ts';
import type { Scenario } from './scenario.ts';

/** Every crash alone is tried, and every pair of crashes whose second is this many points further; 1 tries all pairs. */
export const stride = Number(process.env['HOLDPOINT_CRASH_STRIDE'] ?? 1);

/** Crashes a scenario everywhere, and expects that nothing was broken. */
export async function expectSound(scenario: Scenario, step: number): Promise<void> {
  const { points, runs, leftOut, ends, broken } = await crashEverywhere(scenario, step);
  const counts = `${points} points, ${runs} runs, ${leftOut} pairs left out,`;
  console.log(`${scenario.name}: ${counts}`, Object.fromEntries(ends));
  expect(broken).toEqual([]);
  const unknown = scenario.isAlwaysCompleted === true ? [] : ['indeterminate'];
  expect([...ends.keys()].toSorted()).toEqual(['completed', ...unknown]);
}
