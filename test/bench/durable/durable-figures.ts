import { median } from '../measure.ts';
import type { Database } from './database.ts';
import type { Task } from './durable-worker.ts';
import type { AppendResult } from './measure-appends.ts';
import type { HistoryResult, HistorySample } from './measure-history.ts';
import type { Rates, TeamKey } from './measure-throughput.ts';

/** What was found on one database. */
export interface DurableResult {
  database: Database;
  rates: Rates[];
  /** By the length of the history, the shortest first. */
  histories: HistoryResult[];
  appends: AppendResult[];
}

/** Numbers of a team at a task, one for each round. */
export function ratesOf({ rates }: DurableResult, team: TeamKey, task: Task): number[] {
  return rates.find((found) => found.team === team && found.task === task)?.perSecond ?? [];
}

/** How many times as long a cycle takes a team as its raw inserts: the median over rounds. */
export function timesRaw(result: DurableResult, team: TeamKey): number {
  return ratio(ratesOf(result, team, 'raw'), ratesOf(result, team, 'cycle'));
}

/** How many times as much a team does as one worker: the median over rounds. */
export function timesOne(result: DurableResult, team: TeamKey, task: Task): number {
  return ratio(ratesOf(result, team, task), ratesOf(result, 'one', task));
}

/** How many cores were busy while a team ran cycles. */
export function busyCores({ rates }: DurableResult, team: TeamKey): number {
  const found = rates.find((rate) => rate.team === team && rate.task === 'cycle');
  return median(found?.busyCores ?? []);
}

/** A median over cycles with a history, in milliseconds. */
export function medianOf(
  { samples }: HistoryResult,
  of: (sample: HistorySample) => number,
): number {
  return median(samples.map(of));
}

/** The second half of a cycle without the store's reads. */
export function besideReads({ resume, resumeStore }: HistorySample): number {
  return resume - resumeStore.read;
}

/** The second half without reading, checking and folding the history, the AI SDK's model step, and appends. */
export function restOfResume(sample: HistorySample): number {
  return besideReads(sample) - sample.fold - sample.step - sample.resumeStore.append;
}

function ratio(above: readonly number[], below: readonly number[]): number {
  return median(above.map((value, round) => value / (below[round] ?? Number.NaN)));
}
