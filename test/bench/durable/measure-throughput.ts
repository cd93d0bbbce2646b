import { cpus } from 'node:os';
import type { DurableWork } from '../durable-work.ts';
import { type Database, isRepresentative } from './database.ts';
import { type Task, tasks } from './durable-worker.ts';
import { processTeam } from './process-team.ts';
import { asyncTeam, type Team } from './team.ts';

/** How the workers of a team live. */
export const teamNames = {
  one: '1 worker',
  async: '8 workers, one process',
  processes: '8 workers, 8 processes',
} as const;

/** A team's short name. */
export type TeamKey = keyof typeof teamNames;

/** What was found in the slices of one team at one task, a number for each round. */
export interface Rates {
  team: TeamKey;
  task: Task;
  /** Cycles a second, or as many raw inserts as a cycle has appends. */
  perSecond: number[];
  /** How many cores were busy, with whatever. */
  busyCores: number[];
}

/** How long to measure. */
export interface ThroughputOptions {
  sliceMs: number;
  rounds: number;
}

/**
 * Lets every team work a slice of time at each task, in turn, over and over. What is compared was measured within the same
 * round, and every other round goes backwards.
 */
export async function measureThroughput(
  database: Database,
  work: DurableWork,
  { sliceMs, rounds }: ThroughputOptions,
): Promise<Rates[]> {
  await using stack = new AsyncDisposableStack();
  const slices: Slice[] = [];
  for (const [key, team] of await startTeams(database, work)) {
    stack.use(team);
    slices.push(
      ...tasks.map((task) => ({ team: key, task, perSecond: [], busyCores: [], workers: team })),
    );
  }
  for (const { workers, task } of slices) await workers.work(task, sliceMs);
  for (let round = 0; round < rounds; round += 1) {
    for (const slice of round % 2 === 0 ? slices : slices.toReversed())
      await measureSlice(slice, sliceMs);
  }
  return slices;
}

interface Slice extends Rates {
  workers: Team;
}

async function startTeams(database: Database, work: DurableWork): Promise<[TeamKey, Team][]> {
  const name = Date.now();
  const teams: [TeamKey, Team][] = [
    ['one', asyncTeam(database, 1, work, `one-${name}`)],
    ['async', asyncTeam(database, 8, work, `async-${name}`)],
  ];
  if (!isRepresentative(database)) return teams;
  return [...teams, ['processes', await processTeam(database, 8, work, `processes-${name}`)]];
}

async function measureSlice(slice: Slice, sliceMs: number): Promise<void> {
  const busyCores = watchCores();
  slice.perSecond.push(await slice.workers.work(slice.task, sliceMs));
  slice.busyCores.push(busyCores());
}

function watchCores(): () => number {
  const [begin, busy] = [performance.now(), busyMilliseconds()];
  return () => (busyMilliseconds() - busy) / (performance.now() - begin);
}

function busyMilliseconds(): number {
  return cpus().reduce(
    (sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq,
    0,
  );
}
