import { table, times } from '../table.ts';
import { measureAllocation } from './measure-allocation.ts';
import { measureCalls, measureCycles, measureHistory, measureTurn } from './measure-cycles.ts';
import { measureImport } from './measure-import.ts';
import { measureSqliteCycle, measureSqliteOpening } from './measure-sqlite.ts';
import { measureStream } from './measure-stream.ts';
import { type SpeedFound, type SpeedKey, speedTargets } from './speed-targets.ts';

const heading = `
Everything that an app pays, timed: agents made, threads opened from the store, two processes (one asks, one is answered).
- A cycle: the user's message, the model makes a gated call, all calls are approved and run, the model says its final text. A turn:
  the same without an approval, in one process.
- Ratios to the AI SDK's own cycle with the same model, tools and rules: generateText with toolApproval, whose messages are parsed
  from JSON before each half and written as JSON after it. Telemetry is off everywhere.
- Cold: model, tools and agents are made for each request. Warm: they are kept, and the thread is opened from the store. With a warm
  handle the thread is kept too. Rows that do not say it are cold; streams are warm.
- Long conversations go on with one thread for a turn of the bench, after a cycle that is not timed.
- One process. Contenders take turns of about 30 ms in rotating order; a turn's figure is its mean, with the garbage it collected;
  the figures are the lower quintiles over turns, after a third of the time as warm-up. Of streams, each counts by itself.
- SQLite: WAL, synchronous=full, opened once by each process. Long threads are opened in a process that has not seen them.
- Importing: the built package after \`ai\`, the median over processes. Allocation: the heap's growth, the median over rounds.
`;

/** How each group of rows is measured, given the share of the usual time. */
const groups: Record<string, (share: number) => Promise<SpeedFound[]>> = {
  cycles: (share) => measureCycles(15_000 * share),
  thousand: (share) => measureHistory('thousand', 1_000, 8_000 * share),
  tenThousand: (share) => measureHistory('tenThousand', 10_000, 14_000 * share),
  calls: (share) => measureCalls(10_000 * share),
  turn: (share) => measureTurn(5_000 * share),
  stream: (share) => measureStream(7_000 * share),
  sqliteCycle: (share) => measureSqliteCycle(7_000 * share),
  sqliteOpening: (share) => measureSqliteOpening(Math.round(12 * share)),
  importing: (share) => measureImport(Math.round(15 * share)),
  allocated: (share) => measureAllocation(Math.round(100 * share)),
};

/** Measures all rows, or the named groups of them, and prints the table with its targets. */
export async function runSpeed(quick: boolean, names: readonly string[]): Promise<void> {
  const unknown = names.filter((name) => !Object.hasOwn(groups, name));
  if (unknown.length > 0) {
    throw new Error(`No such rows: ${unknown.join()}. There are ${Object.keys(groups).join()}.`);
  }
  console.log(heading);
  const found: SpeedFound[] = [];
  for (const [name, measure] of Object.entries(groups)) {
    if (names.length > 0 && !names.includes(name)) continue;
    found.push(...(await measure(quick ? 0.35 : 1)));
  }
  console.log(speedTable(found));
}

function speedTable(found: readonly SpeedFound[]): string {
  const head = ['', '0.1.0', 'asked', 'hoped', 'now', 'asked reached', 'from'];
  return table(
    head,
    found.map(({ key, figures, from }) => {
      const { name, before, asked, hoped } = speedTargets[key];
      const cells = [before, asked, hoped, figures].map((each) => cell(key, each));
      return [name, ...cells, reached(figures, asked), from];
    }),
  );
}

function cell(key: SpeedKey, figures: readonly number[]): string {
  const { unit } = speedTargets[key];
  if (figures.length === 0) return '-';
  return figures
    .map((figure) => (unit === 'ms' ? `${figure.toFixed(0)} ms` : times(figure)))
    .join(' / ');
}

function reached(figures: readonly number[], asked: readonly number[]): string {
  return figures
    .map((figure, index) => (figure <= (asked[index] ?? Number.NaN) ? 'yes' : 'NO'))
    .join(' / ');
}
