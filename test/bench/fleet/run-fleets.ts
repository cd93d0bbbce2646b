import { answeredThreads, runFleet } from '../../support/worker-fleet.ts';
import { type Database, openDatabase } from '../durable/database.ts';
import { startPostgres } from '../durable/postgres-databases.ts';
import { median } from '../measure.ts';
import { table, times } from '../table.ts';
import type { Target } from '../target.ts';
import { Fleet, type FleetSample } from './measure-fleet.ts';

const sizes = [1, 2, 4, 8];
const toolTimes = [0, 50];
/* Fewer where the tool waits, so that one worker is done in seconds. */
const threadCounts = new Map([
  [0, 2_000],
  [50, 400],
]);

/** Measures worker processes that share one Postgres database, prints what it finds, and gives the targets. */
export async function runFleets(quick: boolean): Promise<Target[]> {
  await using postgres = await startPostgres();
  const database = postgres.databases.at(-1);
  if (database === undefined) return [];
  await using fleet = await Fleet.start(database, Math.max(...sizes));
  const rounds = quick ? 1 : 3;
  /* Each process has run threads before, as one that has been up for a minute has. */
  await fleet.measure(Math.max(...sizes), 2_400, 0);
  const samples: FleetSample[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const toolMs of toolTimes) {
      const inTurn = round % 2 === 0 ? sizes : sizes.toReversed();
      const threads = threadCounts.get(toolMs) ?? 0;
      for (const workers of inTurn) samples.push(await fleet.measure(workers, threads, toolMs));
    }
  }
  const together: Together[] = [];
  for (let round = 0; round < rounds; round += 1) together.push(await measureTogether(database));
  console.log(`
Worker processes on one Postgres database: threads whose calls were approved (2,000; 400 where the tool waits), run to their end by
processes that make their agent, their pool and their store within the time. Each runs four threads at once. Medians, ${rounds} round(s).

${fleetTable(samples)}

Workers that share one process and one pool, 1,000 threads, tools that do nothing: one ${median(together.map(({ one }) => one)).toFixed(0)} threads/s, eight ${median(together.map(({ eight }) => eight)).toFixed(0)}.
`);
  return [togetherTarget(together), ...fleetTargets(samples)];
}

/** Threads a second of workers that share this process and a pool. */
interface Together {
  one: number;
  eight: number;
}

async function measureTogether(database: Database): Promise<Together> {
  return { one: await rateTogether(database, 1), eight: await rateTogether(database, 8) };
}

async function rateTogether(database: Database, workers: number): Promise<number> {
  await using open = openDatabase(database);
  const threads = 1_000;
  const name = `together-${Date.now()}`;
  const ids = Array.from({ length: threads }, (_, index) => `${name}-${index}`);
  await answeredThreads(open.store, ids);
  const begin = performance.now();
  await runFleet(() => open.store, { workers, threads });
  return threads / ((performance.now() - begin) / 1_000);
}

function togetherTarget(together: readonly Together[]): Target {
  const gain = median(together.map(({ one, eight }) => eight / one));
  return {
    name: 'eight workers of one process no slower than one, tools that do nothing',
    reached: gain >= 1,
    found: times(gain),
  };
}

function fleetTable(samples: readonly FleetSample[]): string {
  const head = ['the tool waits', 'workers', 'threads/s', 'x one', 'reads a thread'];
  const rows = toolTimes.flatMap((toolMs) =>
    sizes.map((workers) => [
      `${toolMs} ms`,
      String(workers),
      rateOf(samples, workers, toolMs).toFixed(0),
      times(rateOf(samples, workers, toolMs) / rateOf(samples, 1, toolMs)),
      readsOf(samples, workers, toolMs).toFixed(2),
    ]),
  );
  return table(head, rows);
}

function fleetTargets(samples: readonly FleetSample[]): Target[] {
  const gain = (toolMs: number): number => rateOf(samples, 8, toolMs) / rateOf(samples, 1, toolMs);
  const reads = readsOf(samples, 8, 0) / readsOf(samples, 1, 0);
  return [
    {
      name: 'eight worker processes no slower than one, tools that do nothing',
      reached: gain(0) >= 1,
      found: times(gain(0)),
    },
    {
      name: 'eight worker processes at least 3 x one, tools that wait 50 ms',
      reached: gain(50) >= 3,
      found: times(gain(50)),
    },
    {
      name: 'reads a thread with eight workers at most 1.5 x those with one',
      reached: reads <= 1.5,
      found: times(reads),
    },
  ];
}

function of(samples: readonly FleetSample[], workers: number, toolMs: number): FleetSample[] {
  return samples.filter((sample) => sample.workers === workers && sample.toolMs === toolMs);
}

function rateOf(samples: readonly FleetSample[], workers: number, toolMs: number): number {
  return median(of(samples, workers, toolMs).map(({ threadsPerSecond }) => threadsPerSecond));
}

function readsOf(samples: readonly FleetSample[], workers: number, toolMs: number): number {
  return median(of(samples, workers, toolMs).map(({ readsPerThread }) => readsPerThread));
}
