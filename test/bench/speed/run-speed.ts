import { countDurableWork } from '../durable-work.ts';
import { table, times } from '../table.ts';
import { Ledger } from '../transfer-tool.ts';
import type { ContenderName } from './contenders.ts';
import { measureAllocation } from './measure-allocation.ts';
import { type Apart, type Cycles, measureApart } from './measure-apart.ts';
import { type FirstCycle, measureImport } from './measure-import.ts';
import { measureOpening } from './measure-opening.ts';
import { makeRatioRow, type Pair, type SpeedRow } from './speed-row.ts';

const heading = `
Everything that an app pays, timed: agents made, threads opened from the store, two processes (one asks, one is answered).
- A cycle: the user's message, the model makes a gated call, all calls are approved and run, the model says its final text. A turn:
  the same without an approval, in one process.
- Ratios to the AI SDK's own cycle with the same model, tools and rules: generateText with toolApproval, whose messages are parsed
  from JSON before each half and written as JSON after it. Telemetry is off, unless a row says that it is left unset.
- Cold: model, tools and agents are made for each request. Warm: they are kept, and the thread is opened from the store. With a kept
  handle the thread is kept too. Rows that do not say it are cold; streams are warm.
- Each contender runs alone, in processes of its own, which take turns; figures are medians over the processes. "first" is the mean
  of the first 500 cycles (fewer where a cycle takes milliseconds), "steady" the median over windows after thousands. Nothing collects
  garbage by force.
- SQLite: WAL, synchronous=full, opened once by each process. Long threads are opened in a process that has not seen them.
- A fresh process: the built package; the median over processes. Allocation: the heap's growth, the median over rounds.
`;

/** How much is measured. */
interface Extent {
  processes: number;
  /** The share of the usual cycles. */
  share: number;
}

/** Cycles of less than a millisecond, and such as take several. */
const short: Cycles = { first: 500, settle: 3_000, steady: 1_000, renewEvery: 5_000, window: 50 };
const long: Cycles = { first: 100, settle: 300, steady: 200, renewEvery: 25, window: 25 };
const longest: Cycles = { first: 20, settle: 40, steady: 40, renewEvery: 20, window: 10 };

/** What a group of rows found. */
interface Found {
  rows: SpeedRow[];
  /** What of it is felt, in sentences. */
  felt?: string[];
}

/** Rows of a group share the processes of the AI SDK. */
const groups: Record<string, (extent: Extent) => Promise<Found> | Found> = {
  cycles: (extent) =>
    compareAll(extent, short, [
      { name: 'cycle, warm', pairs: [['own warm', 'ai warm']] },
      {
        name: 'cycle, warm, telemetry left unset',
        pairs: [['own warm, telemetry unset', 'ai warm, telemetry unset']],
      },
      { name: 'cycle, cold agents', pairs: [['own cold', 'ai cold']] },
      {
        name: "cycle, cold, against the AI SDK's signed approvals",
        pairs: [['own cold', 'ai signed']],
      },
      { name: 'a turn without approvals', pairs: [['own turn', 'ai turn']] },
    ]),
  tenCalls: (extent) =>
    compareAll(extent, { ...short, settle: 1_000, steady: 500 }, [
      { name: '10 calls in a step', pairs: [['own 10 calls', 'ai 10 calls']] },
    ]),
  hundredCalls: (extent) =>
    compareAll(extent, { ...long, renewEvery: 5_000 }, [
      { name: '100 calls in a step', pairs: [['own 100 calls', 'ai 100 calls']] },
    ]),
  thousand: (extent) =>
    compareAll(extent, long, [
      {
        name: '1,000 messages, kept handle / opened anew',
        pairs: [
          ['own 1,000 messages, kept', 'ai 1,000 messages'],
          ['own 1,000 messages, anew', 'ai 1,000 messages'],
        ],
      },
    ]),
  tenThousand: (extent) =>
    compareAll(extent, longest, [
      {
        name: '10,000 messages, kept handle / opened anew',
        pairs: [
          ['own 10,000 messages, kept', 'ai 10,000 messages'],
          ['own 10,000 messages, anew', 'ai 10,000 messages'],
        ],
      },
    ]),
  stream: (extent) =>
    compareAll(extent, { ...long, renewEvery: 5_000 }, [
      { name: 'stream of 1,000 deltas: total / first', pairs: [['own stream', 'ai stream']] },
    ]),
  sqlite: measureSqliteCycle,
  opening: async ({ share }) => ({ rows: await measureOpening(Math.round(12 * share)) }),
  allocated: async ({ share }) => ({ rows: await measureAllocation(Math.round(100 * share)) }),
  fresh: ({ share }) => {
    const { rows, firstCycle } = measureImport(Math.round(15 * share));
    return { rows, felt: describeFirstAnswer(firstCycle) };
  },
};

/** Measures all rows, or the named groups of them, and prints the table and what a user feels of it. */
export async function runSpeed(quick: boolean, names: readonly string[]): Promise<void> {
  const unknown = names.filter((name) => !Object.hasOwn(groups, name));
  if (unknown.length > 0) {
    throw new Error(`No such rows: ${unknown.join()}. There are ${Object.keys(groups).join()}.`);
  }
  console.log(heading);
  const extent = quick ? { processes: 2, share: 0.35 } : { processes: 5, share: 1 };
  const rows: SpeedRow[] = [];
  const felt: string[] = [];
  for (const [name, measure] of Object.entries(groups)) {
    if (names.length > 0 && !names.includes(name)) continue;
    const found = await measure(extent);
    rows.push(...found.rows);
    felt.push(...(found.felt ?? []));
  }
  console.log(speedTable(rows));
  if (felt.length > 0) console.log(`\nWhat of it is felt\n${felt.join('\n')}`);
}

function speedTable(rows: readonly SpeedRow[]): string {
  return table(
    ['', 'first', 'steady', 'steady, from'],
    rows.map(({ name, first, steady, said, from }) => [
      name,
      ratioText(first),
      said ?? ratioText(steady),
      from,
    ]),
  );
}

function ratioText(ratios: readonly number[]): string {
  return ratios.length === 0 ? '-' : ratios.map(times).join(' / ');
}

/** A row before it is measured: whose figures stand over whose. Of contenders with several figures, all are compared. */
interface Comparison {
  name: string;
  pairs: readonly (readonly [own: ContenderName, ai: ContenderName])[];
}

function compareAll(
  { processes, share }: Extent,
  cycles: Cycles,
  comparisons: readonly Comparison[],
): Found {
  const names = [...new Set(comparisons.flatMap(({ pairs }) => pairs.flat()))];
  const scaled = {
    ...cycles,
    settle: Math.round(cycles.settle * share),
    steady: Math.max(cycles.window, Math.round(cycles.steady * share)),
  };
  const measured = measureApart(names, processes, scaled);
  const found = new Map(names.map((name, index) => [name, measured[index]]));
  const rows = comparisons.map(({ name, pairs }) => {
    const pick = (kind: keyof Apart): Pair[] =>
      pairs.flatMap(([own, ai]) => {
        const [ours = [], theirs = []] = [found.get(own)?.[kind], found.get(ai)?.[kind]];
        return ours.map((figure, index): Pair => [figure, theirs[index]]);
      });
    return makeRatioRow(name, { first: pick('first'), steady: pick('steady') });
  });
  return { rows, felt: describeWarmCycle(found) };
}

function describeWarmCycle(found: ReadonlyMap<ContenderName, Apart | undefined>): string[] {
  const [own] = found.get('own warm')?.steady ?? [];
  const [ai] = found.get('ai warm')?.steady ?? [];
  if (own === undefined || ai === undefined) return [];
  const added = (own - ai) / 2;
  return [
    `- A warm cycle has two model calls: to each of them, half a second long, holdpoint adds ${(added * 1_000).toFixed(0)} µs (${((added / 500) * 100).toFixed(2)} %).`,
    `- ${Math.round(1_000 / own).toLocaleString('en')} warm cycles a second on one core, ${Math.round(1_000 / ai).toLocaleString('en')} of the AI SDK's own.`,
    `- A million approvals take ${((own * 1_000_000) / 3_600_000).toFixed(2)} hours of one core, ${((ai * 1_000_000) / 3_600_000).toFixed(2)} with the AI SDK's own.`,
  ];
}

function describeFirstAnswer({ own, ai }: FirstCycle): string[] {
  return [
    `- A function that starts for one request has done its first cycle after ${own.toFixed(0)} ms, ${ai.toFixed(0)} with the AI SDK alone (starting Node included).`,
  ];
}

/** A cold cycle in a file that each process has opened when it started, over the same in memory and what the disk needs for its appends. */
async function measureSqliteCycle({ processes, share }: Extent): Promise<Found> {
  const cycles = { ...long, settle: Math.round(long.settle * share), renewEvery: 5_000 };
  const [own, ai, insert] = measureApart(
    ['own SQLite', 'ai cold', 'raw insert'],
    processes,
    cycles,
  );
  const { appends } = await countDurableWork({ past: [], batch: 1, ledger: new Ledger() });
  const over = (kind: keyof Apart): Pair[] => {
    const [disk = Number.NaN] = insert?.[kind] ?? [];
    const [memory = Number.NaN] = ai?.[kind] ?? [];
    return [[own?.[kind][0], memory + appends * disk]];
  };
  const name = `SQLite: cycle over (the AI SDK's memory cycle + ${appends} raw inserts)`;
  return { rows: [makeRatioRow(name, { first: over('first'), steady: over('steady') })] };
}
