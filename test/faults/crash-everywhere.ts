import { isDeepStrictEqual } from 'node:util';
import { type CrashRun, crashRun } from './crash-run.ts';
import type { StoreView } from './mortal-world.ts';
import type { Scenario } from './scenario.ts';

/**
 * Crashes a scenario at every point, and at the pairs of points whose second is `each` points further; at no pairs unless it is
 * given; each run has a `view` of its own. A pair is left out if another leaves the same behind at both points: see `RepeatedPoints`.
 * Returns how the scenario ended, and what was broken.
 */
export async function crashEverywhere(scenario: Scenario, each = Infinity, view?: () => StoreView) {
  const ends = new Map<string, number>();
  const broken: { deadly: number[]; faults: string[] }[] = [];
  let runs = 0;
  let leftOut = 0;
  const crash = async (...deadly: number[]): Promise<CrashRun> => {
    const run = await crashRun(scenario, deadly, view?.());
    const { end, faults } = run;
    runs += 1;
    ends.set(end, (ends.get(end) ?? 0) + 1);
    if (faults.length > 0) broken.push({ deadly, faults });
    return run;
  };
  const { points, repeated } = await crash();
  let begin = { point: 0, repeated };
  let tried = new Set<number>();
  let before: CrashRun | undefined;
  for (let first = 1; first <= points; first += 1) {
    const alone = await crash(first);
    if (!repeated.has(first)) {
      begin = { point: first, repeated: alone.repeated };
      tried = new Set();
    } else if (!isSameRun(before, alone)) {
      broken.push({ deadly: [first], faults: ['It is not the crash at the point before.'] });
    }
    before = alone;
    for (let second = first + 1 + (first % each); second <= alone.points; second += each) {
      const same = findFirstSame(second - (first - begin.point), begin.repeated);
      if (tried.has(same)) leftOut += 1;
      else await crash(begin.point, same);
      tried.add(same);
    }
  }
  return { points, runs, leftOut, ends, broken };
}

/** Whether a crash came to the same as one that was a point earlier. */
function isSameRun(earlier: CrashRun | undefined, later: CrashRun): boolean {
  const { repeated } = later;
  return isDeepStrictEqual({ ...earlier, repeated }, { ...later, points: later.points - 1 });
}

function findFirstSame(point: number, repeated: ReadonlySet<number>): number {
  return repeated.has(point) ? findFirstSame(point - 1, repeated) : point;
}
