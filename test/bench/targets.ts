import { cycleOf, sqliteBound } from './report.ts';
import type { WorkloadResult } from './run-workload.ts';
import { milliseconds, times } from './table.ts';
import type { Target } from './target.ts';
import { nameOf, type Workload } from './workload.ts';

/** What a cycle should reach beside the other contenders, and what was found. */
export function cycleTargets(results: readonly WorkloadResult[]): Target[] {
  return [
    ...ratioTargets(results, { history: 0, batch: 1 }, 1.2),
    ...ratioTargets(results, { history: 10_000, batch: 1 }, 1.2),
    ...ratioTargets(results, { history: 0, batch: 100 }, 1.4),
    appendsTarget(results),
    bytesTarget(results),
    ...results.map(sqliteTarget),
  ];
}

function ratioTargets(
  results: readonly WorkloadResult[],
  { history, batch }: Workload,
  limit: number,
): Target[] {
  return results
    .filter(({ workload }) => workload.history === history && workload.batch === batch)
    .map((result) => {
      const ratio = cycleOf(result, 'memory') / cycleOf(result, 'ai');
      const name = `at most ${limit} x ai, memory and shared store, ${nameOf(result.workload)}`;
      return { name, reached: ratio <= limit, found: times(ratio) };
    });
}

function appendsTarget(results: readonly WorkloadResult[]): Target {
  const most = Math.max(...results.map(({ work }) => work.appends));
  return { name: 'at most 5 appends a cycle', reached: most <= 5, found: String(most) };
}

/* Without a history the cycle also creates the thread, and with one its numbers are longer: a tenth is allowed for them. */
function bytesTarget(results: readonly WorkloadResult[]): Target {
  const bytes = results
    .filter(({ workload }) => workload.batch === 1)
    .map(({ work }) => work.bytes);
  const [least, most] = [Math.min(...bytes), Math.max(...bytes)];
  return {
    name: 'bytes written do not grow with the history',
    reached: most <= least * 1.1,
    found: `${least} to ${most}`,
  };
}

function sqliteTarget(result: WorkloadResult): Target {
  const cycle = cycleOf(result, 'sqlite');
  const bound = sqliteBound(result);
  return {
    name: `SQLite within memory + 1.3 x appends x raw insert, ${nameOf(result.workload)}`,
    reached: cycle <= bound,
    found: `${milliseconds(cycle)} of ${milliseconds(bound)} ms`,
  };
}
