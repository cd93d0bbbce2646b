import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { expect, test } from 'vitest';
import { audit } from './auditor.ts';
import { callHistories } from './call-histories.ts';
import { ledgersOf } from './ledger-file.ts';

const program = join(import.meta.dirname, '..', 'support', 'killed-process.ts');
const batchCount = 8;
const batchSize = 5;

/** The same delays at every run of the test, if not the same moments of the killed. */
function* delays(seed: number): Generator<number> {
  for (let state = seed; ;) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    yield 15 + (state % 36);
  }
}

/** Runs the program for some threads, and kills it so long after it began. Gives its last word, if it had one. */
async function runProgram(
  folder: string,
  threadIds: readonly string[],
  killAfterMs?: number,
): Promise<string> {
  const parameters = ['--conditions=holdpoint-source', program, folder, ...threadIds];
  const child = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe('ready');
  if (killAfterMs !== undefined) {
    await setTimeout(killAfterMs);
    child.kill('SIGKILL');
  }
  const { value } = await lines.next();
  await exit;
  return value ?? 'killed';
}

/** What a thread came to, by what its processes left behind. */
async function verdict(folder: string, threadId: string) {
  using store = sqliteStore(join(folder, 'threads.sqlite'));
  const { effects, prompts, acknowledged } = ledgersOf(folder, threadId);
  const events = await store.read(threadId);
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
  return { faults: audit(evidence), unknown, effects: evidence.effects.length };
}

/** A batch of threads whose process is killed twice, and then left alone. */
async function killTwice(folder: string, { threadIds, killAfterMs }: Batch) {
  const words: string[] = [];
  for (const delay of killAfterMs) words.push(await runProgram(folder, threadIds, delay));
  const ends = (await runProgram(folder, threadIds)).split(',');
  const verdicts = await Promise.all(threadIds.map(async (id) => verdict(folder, id)));
  return {
    kills: words.filter((word) => word === 'killed').length,
    verdicts: verdicts.map((found, index) => ({ ...found, end: ends[index] })),
  };
}

interface Batch {
  threadIds: string[];
  killAfterMs: number[];
}

function batchesOf(seed: number): Batch[] {
  const delay = delays(seed);
  return Array.from({ length: batchCount }, (_, batch) => ({
    threadIds: Array.from({ length: batchSize }, (__, index) => `killed-${batch}-${index}`),
    killAfterMs: [delay.next().value ?? 15, delay.next().value ?? 15],
  }));
}

/** Two batches at a time, as the machine that runs the tests may have no more than two cores. */
async function killAll(folder: string, batches: Batch[]) {
  const done: Awaited<ReturnType<typeof killTwice>>[] = [];
  const worker = async (): Promise<void> => {
    for (let batch = batches.pop(); batch !== undefined; batch = batches.pop()) {
      done.push(await killTwice(folder, batch));
    }
  };
  await Promise.all([worker(), worker()]);
  return {
    kills: done.reduce((sum, { kills }) => sum + kills, 0),
    verdicts: done.flatMap(({ verdicts }) => verdicts),
  };
}

test(`${batchCount * batchSize} threads on one SQLite file, killed twice each: no effect doubles`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-kill-'));
  try {
    const { kills, verdicts } = await killAll(folder, batchesOf(20_261_121));
    const tally = Object.groupBy(verdicts, ({ end, effects }) => `${end} after ${effects} effects`);
    const counts = Object.entries(tally).map(([what, same]) => `${what}: ${same?.length}`);
    console.log(`${kills} kills;`, counts.toSorted().join('; '));
    for (const { end, faults, unknown } of verdicts) {
      expect(faults).toEqual([]);
      expect(end).toBe(unknown ? 'indeterminate' : 'completed');
    }
    expect(kills).toBeGreaterThan(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
