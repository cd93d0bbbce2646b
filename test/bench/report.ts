import { type ContenderKey, contenderNames } from './contender.ts';
import { median, quantile } from './measure.ts';
import type { WorkloadResult } from './run-workload.ts';
import { milliseconds, table, times } from './table.ts';
import { nameOf } from './workload.ts';

/** A contender's median cycle, in milliseconds. */
export function cycleOf({ samples }: WorkloadResult, key: ContenderKey): number {
  return median(samples.find((sample) => sample.key === key)?.cycle ?? []);
}

/** A contender's median opening, in milliseconds. */
function openingOf({ samples }: WorkloadResult, key: ContenderKey): number {
  return median(samples.find((sample) => sample.key === key)?.opening ?? []);
}

/** What the SQLite cycle may take: the same cycle in memory, and its appends at 1.3 raw inserts each. */
export function sqliteBound(result: WorkloadResult): number {
  return cycleOf(result, 'memory') + 1.3 * result.work.appends * result.rawInsert;
}

/** The times at one point, a line for each contender. */
export function cycleTable(result: WorkloadResult): string {
  const { workload, samples } = result;
  const total = (key: ContenderKey): number => cycleOf(result, key) + openingOf(result, key);
  const rows = samples.map(({ key, cycle }) => [
    contenderNames[key],
    milliseconds(median(cycle)),
    milliseconds(quantile(cycle, 0.9)),
    times(median(cycle) / cycleOf(result, 'ai')),
    times(median(cycle) / cycleOf(result, 'bare')),
    milliseconds(openingOf(result, key)),
    times(total(key) / total('ai')),
  ]);
  const rounds = samples[0]?.cycle.length ?? 0;
  const head = ['contender', 'cycle ms', 'p90', 'x ai', 'x bare', 'opening ms', 'both x ai'];
  return `${nameOf(workload)} (${rounds} rounds)\n${table(head, rows)}`;
}

/** What a cycle writes, and what that costs on a disk. */
export function durableTable(results: readonly WorkloadResult[]): string {
  const head = [
    'per cycle',
    'appends',
    'events',
    'bytes',
    'raw insert ms',
    'memory ms',
    'memory + 1.3 x appends x raw',
    'SQLite ms',
  ];
  const rows = results.map((result) => [
    nameOf(result.workload),
    String(result.work.appends),
    String(result.work.events),
    String(result.work.bytes),
    milliseconds(result.rawInsert),
    milliseconds(cycleOf(result, 'memory')),
    milliseconds(sqliteBound(result)),
    milliseconds(cycleOf(result, 'sqlite')),
  ]);
  return table(head, rows);
}
