import { crashRun } from './crash-run.ts';
import type { StoreView } from './mortal-world.ts';
import type { Scenario } from './scenario.ts';

/**
 * Crashes a scenario at every point, and at the pairs of points whose second is `each` points further; at no pairs unless it is
 * given; each run has a `view` of its own. Returns how the scenario ended, and what was broken.
 */
export async function crashEverywhere(scenario: Scenario, each = Infinity, view?: () => StoreView) {
  const ends = new Map<string, number>();
  const broken: { deadly: number[]; faults: string[] }[] = [];
  let runs = 0;
  const crash = async (deadly: number[]): Promise<number> => {
    const { end, points, faults } = await crashRun(scenario, deadly, view?.());
    runs += 1;
    ends.set(end, (ends.get(end) ?? 0) + 1);
    if (faults.length > 0) broken.push({ deadly, faults });
    return points;
  };
  const points = await crash([]);
  for (let first = 1; first <= points; first += 1) {
    const passed = await crash([first]);
    for (let second = first + 1 + (first % each); second <= passed; second += each) {
      await crash([first, second]);
    }
  }
  return { points, runs, ends, broken };
}
