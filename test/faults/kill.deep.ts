import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import type { ThreadStore } from 'holdpoint';
import { postgresStore } from 'holdpoint/stores/postgres';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { expect, test } from 'vitest';
import { eventsIn } from '../support/events-in.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { audit } from './auditor.ts';
import { callHistories } from './call-histories.ts';
import { ledgersOf } from './ledger-file.ts';
import { waitUntil } from '../support/waiting.ts';

const program = join(import.meta.dirname, '..', 'support', 'killed-process.ts');
const batchCount = 8;
const batchSize = 5;

/** Where the threads are kept, for the program and for its judge. */
interface Ground extends AsyncDisposable {
  folder: string;
  store: ThreadStore;
  /** What the program of this name is told of the database. */
  database(programName: string): string;
  /** Resolves once nothing is done any more that the killed program had asked for. */
  settled(programName: string): Promise<void>;
}

async function sqliteGround(folder: string): Promise<Ground> {
  const file = join(folder, 'threads.sqlite');
  const store = sqliteStore(file);
  return {
    folder,
    store,
    database: () => file,
    async settled() {},
    async [Symbol.asyncDispose]() {
      store[Symbol.dispose]();
    },
  };
}

async function postgresGround(folder: string): Promise<Ground> {
  const server = sharedPostgres();
  const database = await server.createDatabase();
  const pool = server.pool(database);
  const left = 'select from pg_stat_activity where application_name = $1';
  return {
    folder,
    store: postgresStore(pool),
    database: (name) => `${server.connectionString(database)}?application_name=${name}`,
    /* The server ends a statement it has got before it sees that nobody is there to hear of it. */
    async settled(name) {
      const isSettled = async () => (await pool.query(left, [name])).rowCount === 0;
      await waitUntil(isSettled, { interval: 5 });
    },
    [Symbol.asyncDispose]: async () => server[Symbol.asyncDispose](),
  };
}

const grounds = [
  { name: 'one SQLite file', open: sqliteGround },
  { name: 'one Postgres', open: postgresGround },
];

/** When a program is killed: so long after so many appends, however fast it is. */
interface Kill {
  appends: number;
  afterMs: number;
}

/** The same kills at every run of the test, if not the same moments of the killed. */
function* killsOf(seed: number): Generator<Kill, never, void> {
  for (let state = seed; ;) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    yield { appends: 1 + ((state >> 8) % 36), afterMs: (state >> 16) % 4 };
  }
}

/** Runs the program for some threads, and kills it there. Gives its last word, if it had one. */
async function runProgram(
  { database, folder, settled }: Ground,
  threadIds: readonly string[],
  kill?: Kill,
): Promise<string> {
  const [name = ''] = threadIds;
  const told = [database(name), folder, ...threadIds];
  const parameters = ['--conditions=holdpoint-source', program, ...told];
  const child = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  let appends = 0;
  let lastWord: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'appended') appends += 1;
    else lastWord = line;
    if (appends !== kill?.appends) continue;
    await setTimeout(kill.afterMs);
    child.kill('SIGKILL');
  }
  const [, signal] = await exit;
  await settled(name);
  if (lastWord === undefined && signal !== 'SIGKILL') throw new Error('The program failed.');
  return lastWord ?? 'killed';
}

/** What a thread came to, by what its processes left behind. */
async function verdict({ store, folder }: Ground, threadId: string) {
  const { effects, prompts, acknowledged } = ledgersOf(folder, threadId);
  const events = await eventsIn(store, threadId);
  const evidence = {
    events,
    effects: effects.read(),
    prompts: prompts.read(),
    acknowledged: acknowledged.read(),
    gated: new Set(['book']),
  };
  const unknown = callHistories(events).some(
    ({ started, ended }) => started.length > 0 && ended.length === 0,
  );
  const runs = events.filter(({ type }) => type === 'run-started').length;
  /* The end of a run that was cut off is recorded by whoever finds its lease over. */
  const ends = events.filter((event) => event.type === 'run-ended' && event.error === undefined);
  return {
    faults: audit(evidence),
    unknown,
    effects: evidence.effects.length,
    cutOff: runs - ends.length,
  };
}

/** A batch of threads whose process is killed twice, and then left alone. */
async function killTwice(ground: Ground, { threadIds, kills }: Batch) {
  const words: string[] = [];
  for (const kill of kills) words.push(await runProgram(ground, threadIds, kill));
  const ends = (await runProgram(ground, threadIds)).split(',');
  const verdicts = await Promise.all(threadIds.map(async (id) => verdict(ground, id)));
  return {
    kills: words.filter((word) => word === 'killed').length,
    verdicts: verdicts.map((found, index) => ({ ...found, end: ends[index] })),
  };
}

interface Batch {
  threadIds: string[];
  kills: Kill[];
}

function batchesOf(seed: number): Batch[] {
  const kills = killsOf(seed);
  return Array.from({ length: batchCount }, (_, batch) => ({
    threadIds: Array.from({ length: batchSize }, (__, index) => `killed-${batch}-${index}`),
    kills: [kills.next().value, kills.next().value],
  }));
}

/** Two batches at a time, as the machine that runs the tests may have no more than two cores. */
async function killAll(ground: Ground, batches: Batch[]) {
  const done: Awaited<ReturnType<typeof killTwice>>[] = [];
  const worker = async (): Promise<void> => {
    for (let batch = batches.pop(); batch !== undefined; batch = batches.pop()) {
      done.push(await killTwice(ground, batch));
    }
  };
  await Promise.all([worker(), worker()]);
  return {
    kills: done.reduce((sum, { kills }) => sum + kills, 0),
    verdicts: done.flatMap(({ verdicts }) => verdicts),
  };
}

test.each(grounds)(
  `${batchCount * batchSize} threads on $name, killed twice each: no effect doubles`,
  async ({ open }) => {
    const folder = mkdtempSync(join(tmpdir(), 'holdpoint-kill-'));
    try {
      await using ground = await open(folder);
      const { kills, verdicts } = await killAll(ground, batchesOf(20_261_121));
      const tally = Object.groupBy(
        verdicts,
        ({ end, effects }) => `${end} after ${effects} effects`,
      );
      const counts = Object.entries(tally).map(([what, same]) => `${what}: ${same?.length}`);
      const cutOff = verdicts.reduce((sum, found) => sum + found.cutOff, 0);
      console.log(`${kills} kills, ${cutOff} runs cut off;`, counts.toSorted().join('; '));
      for (const { end, faults, unknown } of verdicts) {
        expect(faults).toEqual([]);
        expect(end).toBe(unknown ? 'indeterminate' : 'completed');
      }
      /* A program that was never killed before has more appends to make than any kill waits for. */
      expect(kills).toBeGreaterThanOrEqual(batchCount);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  180_000,
);
