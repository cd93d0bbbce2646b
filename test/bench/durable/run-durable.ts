import { countDurableWork, type DurableWork } from '../durable-work.ts';
import { TemporaryFiles } from '../temporary-files.ts';
import type { Target } from '../target.ts';
import { Ledger } from '../transfer-tool.ts';
import { createRawTable, type Database, isRepresentative } from './database.ts';
import type { DurableResult } from './durable-figures.ts';
import { appendTable, partsTable, resumeTable, throughputTable } from './durable-report.ts';
import { durableTargets } from './durable-targets.ts';
import { warmUp } from './durable-worker.ts';
import { measureAppends } from './measure-appends.ts';
import { measureHistory } from './measure-history.ts';
import { measureThroughput } from './measure-throughput.ts';
import { startPostgres } from './postgres-databases.ts';
import { startTimedWorker } from './timed-worker.ts';

const histories = [0, 1_000, 10_000];

/** Measures durable cycles on SQLite and Postgres, prints what it finds, and gives the targets. */
export async function runDurable(quick: boolean): Promise<Target[]> {
  const work = await countDurableWork({ past: [], batch: 1, ledger: new Ledger() });
  console.log(heading(work));
  await warmUp(1_000);
  using files = new TemporaryFiles();
  await using postgres = await startPostgres();
  if (postgres.problem !== undefined) console.log(`Without Postgres: ${postgres.problem}\n`);
  const results: DurableResult[] = [];
  for (const database of [files.database(), ...postgres.databases]) {
    results.push(await measureDatabase(database, work, quick));
  }
  console.log(`Durable cycles\n${throughputTable(results)}\n`);
  console.log(`Where the time of a cycle goes\n${partsTable(results)}\n`);
  console.log(`What a history adds\n${appendTable(results)}\n\n${resumeTable(results)}\n`);
  return durableTargets(results);
}

async function measureDatabase(
  database: Database,
  work: DurableWork,
  quick: boolean,
): Promise<DurableResult> {
  await createRawTable(database);
  const sliceMs = quick ? 100 : 200;
  const rates = await measureThroughput(database, work, { sliceMs, rounds: quick ? 3 : 16 });
  const lengths = isRepresentative(database) ? histories : histories.slice(0, 1);
  await using worker = startTimedWorker(database, work);
  return {
    database,
    rates,
    histories: await measureHistory(worker, lengths, quick ? 1_000 : 10_000),
    appends: await measureAppends(worker, lengths, quick ? 300 : 3_000),
  };
}

function heading({ appends, events, bytes }: DurableWork): string {
  return `
Durable cycles on SQLite and on Postgres

The same cycle, with one call and no history, each on a thread of its own, by agents that are made once. The second half opens
the thread anew from the store.
- A worker is an agent with a pool (SQLite: a file handle) and threads of its own; it does one cycle after the other. Eight
  workers are eight loops in one process, as in a server, and also eight processes. The loops are the number to look at: node
  computes on one core and leaves the other to the database, while eight processes and eight backends crowd both.
- Raw: as many inserts as a cycle has appends (${appends}, of ${events} events and ${bytes} bytes in all), each of one row in a transaction of its
  own, one after the other, together as long; on the same server, or in another file of the same folder with the store's settings.
- "cycles/s" and "raw/s" (times ${appends} inserts) are of all workers together. "x raw": how many times as long a cycle takes as its raw
  inserts. A cycle also reads the thread at each opening and each run, and computes; the raw inserts do neither.
- "x one": against one worker, in this process. "raw x one": the same of raw inserts, which is what the machine allows.
  "cores": how many were busy during the cycles, with whatever.
- Every team works a slice of time at cycles, then at raw inserts, over and over, every other round backwards. Ratios are medians of
  ratios within a round: other work on the machine slows down both sides.
- Postgres: a server of the bench's own, 127.0.0.1, data in the folder for temporary files, fsync and synchronous_commit on.
  "prepared": the store with prepare: true, and the raw insert prepared too; else neither is. What is measured once for Postgres is
  measured prepared.
- "What a history adds": one worker. Appends to threads that stay open (a request opened, then cancelled): the time in the store, and
  beside it. Then the second half of cycles: the store's reads, with parsing; the rest of opening the thread ("check, fold");
  generateText alone over the same history ("ai's step"), which the final step has inside; the appends; the rest.
  The young generation is collected before each half and after each opening, untimed; a history leaves a lot there.
`;
}
