import { describe, expect, test } from 'vitest';
import { losing, withoutCompareAndSwap, writingBehind } from './broken-stores.ts';
import { crashRun } from './crash-run.ts';
import type { StoreView } from './mortal-world.ts';
import { type Scenario, scenarios } from './scenario.ts';

/** What every single crash of every scenario breaks, in sentences without their numbers. */
async function foundIn(view?: StoreView): Promise<Set<string>> {
  const found = new Set<string>();
  const crash = async (scenario: Scenario, deadly: number[]): Promise<number> => {
    const { points, faults } = await crashRun(scenario, deadly, view);
    for (const fault of faults) found.add(fault);
    return points;
  };
  for (const scenario of scenarios) {
    const points = await crash(scenario, []);
    for (let point = 1; point <= points; point += 1) await crash(scenario, [point]);
  }
  return found;
}

describe('the crash tests can fail: they find', () => {
  test.each([
    [
      'an append without compare-and-swap',
      withoutCompareAndSwap,
      [/had 2 effects/, /started 2 times/],
    ],
    ['lost starts', losing('call-started'), [/ran before its start/, /had 2 effects/]],
    ['lost answers', losing('request-answered'), [/was taken and is not/, /without an approval/]],
    ['lost results', losing('call-ended'), [/came before the result/, /not in the log yet/]],
    [
      'appends that are not durable',
      writingBehind,
      [/ran before its start/, /was taken and is not/],
    ],
  ])('%s', async (_what, view, expected) => {
    const found = [...(await foundIn(view))];
    for (const sentence of expected) {
      expect(found).toContainEqual(expect.stringMatching(sentence));
    }
  });

  test('nothing, where nothing is broken', async () => {
    expect([...(await foundIn())]).toEqual([]);
  });
});
