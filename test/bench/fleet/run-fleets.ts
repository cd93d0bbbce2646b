import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '../durable/postgres-databases.ts';
import { inOrder, median } from '../measure.ts';
import { milliseconds, table, times } from '../table.ts';
import type { Target } from '../target.ts';
import { FleetDatabase } from './fleet-database.ts';
import type { CycleSample } from './fleet-order.ts';
import { measureStorage } from './measure-storage.ts';
import { measureUpdates } from './measure-updates.ts';
import { type AnswerSample, Fleet, type KillSample, type WorkSample } from './fleet.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const sizes = [1, 2, 4, 8];
const idleCounts = [1, 8, 50];
/* Fewer where the tool waits, so that one worker is done in seconds. */
const tools = [
  { toolMs: 0, threads: 1_200 },
  { toolMs: 50, threads: 240 },
];
const loads = [
  'plain',
  'due, without notices',
  'due',
  'requests, without notices',
  'requests',
] as const;

/** What was found of one checkout. */
interface Found {
  name: string;
  work: Map<string, WorkSample[]>;
  together: { one: number; eight: number }[];
  answers: Map<number, AnswerSample[]>;
  appends: Map<string, number[]>;
  updates: { updates: number; hot: number };
  cycles: CycleSample[];
  kills: KillSample[];
}

/** A fleet that is measured. */
interface Measured {
  fleet: Fleet;
  database: FleetDatabase;
  found: Found;
}

/**
 * Measures processes that share one Postgres database, prints what it finds, and gives the targets. With `other`, another checkout of the
 * repository is measured in turns, each on a database of its own.
 */
export async function runFleets(quick: boolean, other?: string): Promise<Target[]> {
  await using postgres = await startPostgres();
  if (postgres.problem !== undefined) {
    console.log(`Without Postgres: ${postgres.problem}\n`);
    return [];
  }
  await using stack = new AsyncDisposableStack();
  const folders = other === undefined ? [root] : [root, other];
  const measured: Measured[] = [];
  for (const [index, folder] of folders.entries()) {
    const database = await postgres.create();
    const place = { name: index === 0 ? 'here' : 'other', folder, database };
    measured.push({
      fleet: stack.use(await Fleet.start(place, Math.max(...sizes))),
      database: stack.use(new FleetDatabase(database)),
      found: emptyFound(place.name),
    });
  }
  for (const { fleet, database } of measured) {
    await database.createEffects();
    /* Each process has run threads before, as one that has been up for a minute has. */
    await fleet.measureWork(Math.max(...sizes), 1_600, 0);
    await database.resetStatistics();
  }
  const rounds = quick ? 1 : 3;
  for (let round = 0; round < rounds; round += 1) {
    for (const each of inOrder(measured, round)) await measureRound(each, round, quick);
  }
  for (const { fleet, database, found } of measured) {
    const threads = quick ? 300 : 900;
    const name = await fleet.killOne(4, threads, async (agent) => database.countEnded(agent));
    found.kills.push(await database.readKill(name, threads));
  }
  const all = measured.map(({ found }) => found);
  console.log(writeReport(all, rounds));
  console.log(`${await measureUpdates(await postgres.create(), [1, 3, 10])}\n`);
  console.log(`${await measureStorage(await postgres.create())}\n`);
  const [here] = all;
  return here === undefined ? [] : listTargets(here);
}

async function measureRound(
  { fleet, database, found }: Measured,
  round: number,
  quick: boolean,
): Promise<void> {
  for (const { toolMs, threads } of tools) {
    for (const processes of round % 2 === 0 ? sizes : sizes.toReversed()) {
      const sample = await fleet.measureWork(processes, threads, toolMs);
      push(found.work, workKey(toolMs, processes), sample);
    }
  }
  found.together.push({
    one: await fleet.measureTogether(1, 1_000),
    eight: await fleet.measureTogether(8, 1_000),
  });
  for (const workers of idleCounts) {
    push(found.answers, workers, await fleet.measureAnswers(workers, quick ? 100 : 200, 20));
  }
  /* The server counts an update when its connection is idle for a moment. */
  await pause(1_500);
  found.updates = await database.readUpdates();
  for (const load of loads) {
    push(found.appends, load, await fleet.measureAppends(load, quick ? 1_000 : 2_000));
  }
  found.cycles.push(await fleet.measureCycles(quick ? 10 : 30));
  await pause(1_500);
  await database.resetStatistics();
}

function emptyFound(name: string): Found {
  return {
    name,
    work: new Map(),
    together: [],
    answers: new Map(),
    appends: new Map(),
    updates: { updates: 0, hot: 0 },
    cycles: [],
    kills: [],
  };
}

function workKey(toolMs: number, processes: number): string {
  return `${toolMs} ${processes}`;
}

function push<KEY, VALUE>(map: Map<KEY, VALUE[]>, key: KEY, value: VALUE): void {
  map.set(key, [...(map.get(key) ?? []), value]);
}

function writeReport(all: readonly Found[], rounds: number): string {
  return `
Processes on one Postgres database (fsync and synchronous_commit on, statements prepared), medians of ${rounds} round(s).${all.length > 1 ? ' "other" is the other checkout, in turns with this one.' : ''}

Threads whose calls were approved (1,200; 240 where the tool waits), run to their end by processes with one worker each, which make their
agent, their pool and their store within the time. Each runs four threads at once.
${workTable(all)}

Workers that share one process, 1,000 threads, tools that do nothing:
${all.map(({ name, together }) => `${name}: one ${median(together.map(({ one }) => one)).toFixed(0)} threads/s, eight ${median(together.map(({ eight }) => eight)).toFixed(0)}`).join('\n')}

Idle workers, each with a pool of its own, spread over eight processes; answers come every 20 ms from one more, and polls are off. The wait
is from the call of \`respond\` to the durable start of the run.
${answerTable(all)}

Appends a second of one process on 32 connections, each to a thread of its own, while one worker of another agent listens.
${appendTable(all)}

A cycle of one process, in turns with the AI SDK's own in memory and with inserts of one row of 1 KB, each in a transaction of its own.
${cycleTable(all)}

Updates of threads' rows, of the work above:
${all.map(({ name, updates }) => `${name}: ${updates.updates}, HOT ${((100 * updates.hot) / updates.updates).toFixed(1)} %`).join('\n')}

One of four processes is killed (SIGKILL) after a third of the threads:
${all.flatMap(({ name, kills }) => kills.map((kill) => `${name}: ${kill.threads} threads, ${kill.effects} effects, ${kill.repeated} repeated, ${kill.indeterminate} calls to settle`)).join('\n')}
`;
}

function workTable(all: readonly Found[]): string {
  const head = ['', 'the tool waits', 'processes', 'threads/s', 'x one', 'reads a thread'];
  const rows = tools.flatMap(({ toolMs }) =>
    sizes.flatMap((processes) =>
      all.map((found) => [
        found.name,
        `${toolMs} ms`,
        String(processes),
        rateOf(found, toolMs, processes).toFixed(0),
        times(rateOf(found, toolMs, processes) / rateOf(found, toolMs, 1)),
        readsOf(found, toolMs, processes).toFixed(2),
      ]),
    ),
  );
  return table(head, rows);
}

function answerTable(all: readonly Found[]): string {
  const head = ['', 'idle workers', 'claims an answer', 'statements', 'median wait, ms', '99th'];
  const rows = idleCounts.flatMap((workers) =>
    all.map((found) => [
      found.name,
      String(workers),
      answerOf(found, workers, 'claimsPerAnswer').toFixed(2),
      answerOf(found, workers, 'statementsPerAnswer').toFixed(1),
      milliseconds(answerOf(found, workers, 'median')),
      milliseconds(answerOf(found, workers, 'p99')),
    ]),
  );
  return table(head, rows);
}

function appendTable(all: readonly Found[]): string {
  const head = ['', 'appends', 'a second', 'x without notices'];
  const rows = loads.flatMap((load) =>
    all.map((found) => [
      found.name,
      load,
      appendsOf(found, load).toFixed(0),
      times(appendsOf(found, load) / appendsOf(found, silentOf(load))),
    ]),
  );
  return table(head, rows);
}

const appendsOfCycle = 5;

function cycleTable(all: readonly Found[]): string {
  const head = [
    '',
    'cycle, ms',
    "the AI SDK's",
    'insert',
    'statements',
    `x (AI SDK's + ${appendsOfCycle} inserts)`,
  ];
  const rows = all.map((found) => [
    found.name,
    ...(['own', 'ai', 'insert'] as const).map((name) => milliseconds(cycleOf(found, name))),
    cycleOf(found, 'statements').toFixed(1),
    times(cycleRatioOf(found)),
  ]);
  return table(head, rows);
}

function cycleOf({ cycles }: Found, figure: keyof CycleSample): number {
  return median(cycles.map((sample) => sample[figure]));
}

function cycleRatioOf({ cycles }: Found): number {
  return median(cycles.map(({ own, ai, insert }) => own / (ai + appendsOfCycle * insert)));
}

function silentOf(load: string): string {
  return loads.find((each) => each === `${load}, without notices`) ?? load;
}

function rateOf({ work }: Found, toolMs: number, processes: number): number {
  const samples = work.get(workKey(toolMs, processes)) ?? [];
  return median(samples.map(({ threadsPerSecond }) => threadsPerSecond));
}

function readsOf({ work }: Found, toolMs: number, processes: number): number {
  const samples = work.get(workKey(toolMs, processes)) ?? [];
  return median(samples.map(({ readsPerThread }) => readsPerThread));
}

function answerOf({ answers }: Found, workers: number, figure: keyof AnswerSample): number {
  return median((answers.get(workers) ?? []).map((sample) => sample[figure]));
}

function appendsOf({ appends }: Found, load: string): number {
  return median(appends.get(load) ?? []);
}

function listTargets(found: Found): Target[] {
  const gain = (toolMs: number, size: number): number =>
    rateOf(found, toolMs, size) / rateOf(found, toolMs, 1);
  const reads = readsOf(found, 0, 8) / readsOf(found, 0, 1);
  const together = median(found.together.map(({ one, eight }) => eight / one));
  const claims = answerOf(found, 50, 'claimsPerAnswer');
  const wait = answerOf(found, 50, 'median');
  const notices = appendsOf(found, 'due') / appendsOf(found, 'due, without notices');
  const requests = appendsOf(found, 'requests') / appendsOf(found, 'requests, without notices');
  const hot = found.updates.hot / found.updates.updates;
  return [
    {
      name: 'two processes no slower than one',
      reached: gain(0, 2) >= 1,
      found: times(gain(0, 2)),
    },
    {
      name: 'eight processes no slower than one, tools that do nothing',
      reached: gain(0, 8) >= 1,
      found: times(gain(0, 8)),
    },
    {
      name: 'eight processes at least 3 x one, tools that wait 50 ms',
      reached: gain(50, 8) >= 3,
      found: times(gain(50, 8)),
    },
    {
      name: 'reads a thread with eight processes at most 1.5 x those with one',
      reached: reads <= 1.5,
      found: times(reads),
    },
    {
      name: 'eight workers of one process no slower than one',
      reached: together >= 1,
      found: times(together),
    },
    {
      name: 'at most 1.5 claims an answer with fifty idle workers',
      reached: claims <= 1.5,
      found: claims.toFixed(2),
    },
    {
      name: 'an answer waits at most 8 ms at the median with fifty idle workers',
      reached: wait <= 8,
      found: `${milliseconds(wait)} ms`,
    },
    {
      name: 'notices of due threads cost at most a fifth of the appends a second',
      reached: notices >= 0.8,
      found: times(notices),
    },
    {
      name: 'notices of requests cost at most a fifth of the appends a second',
      reached: requests >= 0.8,
      found: times(requests),
    },
    {
      name: "a cycle at most 1.6 x the AI SDK's own and its appends as raw inserts",
      reached: cycleRatioOf(found) <= 1.6,
      found: times(cycleRatioOf(found)),
    },
    {
      name: "most updates of threads' rows are HOT, of threads with one call",
      reached: hot > 0.5,
      found: `${(100 * hot).toFixed(0)} %`,
    },
    {
      name: 'no effect twice when a process is killed',
      reached: found.kills.every(({ repeated }) => repeated === 0),
      found: found.kills.map(({ repeated }) => repeated).join(', '),
    },
  ];
}
