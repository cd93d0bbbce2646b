import { isDeepStrictEqual } from 'node:util';
import { type CrashRun, crashRun } from './crash-run.ts';
import type { StoreView } from './mortal-world.ts';
import type { Outbox } from './outbox.ts';
import type { Scenario } from './scenario.ts';

/* Of the pairs that are left out, one of so many is tried. */
const checked = 500;

/**
 * Crashes a scenario at every point, and at the pairs of points whose second is `each` points further; at no pairs unless it is
 * given; each run has a `view` and an outbox of its own. A pair is left out if another leaves the same behind at both points: see `RepeatedPoints`; some
 * of those are tried all the same, and must come to the same. Returns how the scenario ended, and what was broken.
 */
export async function crashEverywhere(
  scenario: Scenario,
  each = Infinity,
  view?: () => StoreView,
  makeOutbox?: () => Outbox,
) {
  const ends = new Map<string, number>();
  const broken: { deadly: number[]; faults: string[] }[] = [];
  let runs = 0;
  let leftOut = 0;
  const crash = async (...deadly: number[]): Promise<CrashRun> => {
    const run = await crashRun(scenario, deadly, view?.(), undefined, makeOutbox?.());
    const { end, faults } = run;
    runs += 1;
    ends.set(end, (ends.get(end) ?? 0) + 1);
    if (faults.length > 0) broken.push({ deadly, faults });
    return run;
  };
  const expectSame = (earlier: CrashRun | undefined, later: CrashRun, deadly: number[], by = 1) => {
    if (isSameRun(earlier, later, by)) return;
    broken.push({ deadly, faults: [`It is not what it is ${by} points earlier.`] });
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
    } else expectSame(before, alone, [first]);
    before = alone;
    for (let second = first + 1 + (first % each); second <= alone.points; second += each) {
      const same = findFirstSame(second - (first - begin.point), begin.repeated);
      if (!tried.has(same)) await crash(begin.point, same);
      else if ((leftOut += 1) % checked === 0) {
        const [earlier, later] = [await crash(begin.point, same), await crash(first, second)];
        expectSame(earlier, later, [first, second], second - same);
      }
      tried.add(same);
    }
  }
  return { points, runs, leftOut, ends, broken };
}

/** Whether a run came to the same as one whose latest crash was so many points earlier. */
function isSameRun(earlier: CrashRun | undefined, later: CrashRun, by: number): boolean {
  const { repeated } = later;
  return isDeepStrictEqual({ ...earlier, repeated }, { ...later, points: later.points - by });
}

function findFirstSame(point: number, repeated: ReadonlySet<number>): number {
  return repeated.has(point) ? findFirstSame(point - 1, repeated) : point;
}
