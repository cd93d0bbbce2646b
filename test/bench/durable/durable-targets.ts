import { median } from '../measure.ts';
import { milliseconds, times } from '../table.ts';
import type { Target } from '../target.ts';
import { databaseName } from './database.ts';
import {
  besideReads,
  busyCores,
  type DurableResult,
  medianOf,
  restOfResume,
  timesOne,
  timesRaw,
} from './durable-figures.ts';
import { teamNames } from './measure-throughput.ts';

/* What is called independent of the history: half as much again is given to the noise. */
const steady = 1.5;

/** What durable cycles should reach, and what was found. */
export function durableTargets(results: readonly DurableResult[]): Target[] {
  return [
    ...results.map(rawTarget),
    ...results.filter(({ database }) => database.kind === 'postgres').map(eightTarget),
    ...results.filter(({ histories }) => histories.length > 1).flatMap(historyTargets),
  ];
}

function rawTarget(result: DurableResult): Target {
  const found = timesRaw(result, 'one');
  return {
    name: `within 1.5 x raw inserts, one worker, ${databaseName(result.database)}`,
    reached: found <= 1.5,
    found: times(found),
  };
}

function eightTarget(result: DurableResult): Target {
  const found = result.rates
    .filter(({ team, task }) => team !== 'one' && task === 'cycle')
    .map(({ team }) => ({ team, gain: timesOne(result, team, 'cycle') }));
  const reported = found.map(({ team, gain }) => {
    const raw = times(timesOne(result, team, 'raw'));
    const cores = busyCores(result, team).toFixed(1);
    return `${times(gain)} as ${teamNames[team]} (raw inserts ${raw}, ${cores} cores busy)`;
  });
  return {
    name: `eight workers at least 3 x one, ${databaseName(result.database)}`,
    reached: found.some(({ gain }) => gain >= 3),
    found: reported.join('; '),
  };
}

function historyTargets({ database, appends, histories }: DurableResult): Target[] {
  const costs = {
    'one append': appends.map(({ inStore, beside }) => median(inStore) + median(beside)),
    "a resume without the store's reads": histories.map((result) => medianOf(result, besideReads)),
    "a resume without reading, checking, folding, ai's step and appends": histories.map((result) =>
      medianOf(result, restOfResume),
    ),
  };
  return Object.entries(costs).map(([what, found]) => ({
    name: `${what}: at most ${steady} x with a history, ${databaseName(database)}`,
    reached: Math.max(...found) <= (found[0] ?? Number.NaN) * steady,
    found: `${found.map(milliseconds).join(', ')} ms`,
  }));
}
