import { median } from '../measure.ts';
import { milliseconds, table, times } from '../table.ts';
import { databaseName } from './database.ts';
import {
  besideReads,
  busyCores,
  type DurableResult,
  medianOf,
  ratesOf,
  restOfResume,
  timesOne,
  timesRaw,
} from './durable-figures.ts';
import { teamNames } from './measure-throughput.ts';

/** Cycles and raw inserts a second, a line for each team. */
export function throughputTable(results: readonly DurableResult[]): string {
  const head = ['database', 'workers', 'cycles/s', 'raw/s', 'x raw', 'x one', 'raw x one', 'cores'];
  const rows = results.flatMap((result) =>
    result.rates
      .filter(({ task }) => task === 'cycle')
      .map(({ team, perSecond }) => [
        databaseName(result.database),
        teamNames[team],
        median(perSecond).toFixed(0),
        median(ratesOf(result, team, 'raw')).toFixed(0),
        times(timesRaw(result, team)),
        times(timesOne(result, team, 'cycle')),
        times(timesOne(result, team, 'raw')),
        busyCores(result, team).toFixed(1),
      ]),
  );
  return table(head, rows);
}

/** Where the time of a cycle goes, at the shortest history. */
export function partsTable(results: readonly DurableResult[]): string {
  const head = ['one worker, ms', 'cycle', 'appends', 'reads', 'the rest', 'raw inserts'];
  const rows = results.flatMap(({ database, histories }) =>
    histories.slice(0, 1).map((result) => {
      const { appends, reads } = result.samples[0]?.store ?? { appends: 0, reads: 0 };
      return [
        `${databaseName(database)}: ${appends} appends, ${reads} reads`,
        milliseconds(medianOf(result, ({ cycle }) => cycle)),
        milliseconds(medianOf(result, ({ store }) => store.append)),
        milliseconds(medianOf(result, ({ store }) => store.read)),
        milliseconds(medianOf(result, ({ cycle, store }) => cycle - store.append - store.read)),
        milliseconds(medianOf(result, ({ raw }) => raw)),
      ];
    }),
  );
  return table(head, rows);
}

/** What a history adds to one append. */
export function appendTable(results: readonly DurableResult[]): string {
  const rows = results.flatMap(({ database, appends }) =>
    appends.map(({ history, inStore, beside }) => [
      pointName(database, history),
      milliseconds(median(inStore)),
      milliseconds(median(beside)),
    ]),
  );
  return table(['one append, ms', 'in the store', 'beside it'], rows);
}

/** What a history adds to the second half of a cycle. */
export function resumeTable(results: readonly DurableResult[]): string {
  const head = [
    'second half, ms',
    'resume',
    "store's reads",
    'resume - reads',
    'check, fold',
    "ai's step",
    'appends',
    'the rest',
  ];
  const rows = results.flatMap(({ database, histories }) =>
    histories.map((result) => [
      pointName(database, result.history),
      milliseconds(medianOf(result, ({ resume }) => resume)),
      milliseconds(medianOf(result, ({ resumeStore }) => resumeStore.read)),
      milliseconds(medianOf(result, besideReads)),
      milliseconds(medianOf(result, ({ fold }) => fold)),
      milliseconds(medianOf(result, ({ step }) => step)),
      milliseconds(medianOf(result, ({ resumeStore }) => resumeStore.append)),
      milliseconds(medianOf(result, restOfResume)),
    ]),
  );
  return table(head, rows);
}

function pointName(database: DurableResult['database'], history: number): string {
  return `${databaseName(database)}, ${history.toLocaleString('en')} messages`;
}
