import { memoryStore, type ThreadStore } from 'holdpoint';
import { approveAll, userText } from '../contender.ts';
import type { DurableWork } from '../durable-work.ts';
import { newAgent } from '../holdpoint-contenders.ts';
import { Ledger } from '../transfer-tool.ts';
import { type Database, type OpenDatabase, openDatabase } from './database.ts';
import { checkSaid } from './timed-cycle.ts';

/** What a worker can be set to. */
export const tasks = ['cycle', 'raw'] as const;
/** A cycle of the agent, or the raw inserts that stand for one. */
export type Task = (typeof tasks)[number];

/** One worker: an agent with its own hold on a database. */
export type DurableWorker = Record<Task, () => Promise<void>> & AsyncDisposable;

/** Starts a worker, whose threads are its own and have ids that begin with `name`. */
export function startWorker(database: Database, name: string, work: DurableWork): DurableWorker {
  const open = openDatabase(database);
  return {
    cycle: cycleOn(open.store, name),
    raw: rawCycleOn(open, work),
    [Symbol.asyncDispose]: async () => open[Symbol.asyncDispose](),
  };
}

/** Runs cycles in memory: a new process gets warm sooner so than at the pace of a database that eight share. */
export async function warmUp(cycles: number): Promise<void> {
  const cycle = cycleOn(memoryStore(), 'warm');
  for (let count = 0; count < cycles; count += 1) await cycle();
}

/** As many raw inserts as a cycle has appends, and together as long. */
export function rawCycleOn(
  { insert }: Pick<OpenDatabase, 'insert'>,
  { appends, bytes }: DurableWork,
): () => Promise<void> {
  const text = 'x'.repeat(Math.round(bytes / appends));
  return async () => {
    for (let append = 0; append < appends; append += 1) await insert(text);
  };
}

/** Cycles of one agent, each on a thread of its own, which is opened for both halves. */
function cycleOn(store: ThreadStore, name: string): () => Promise<void> {
  const ledger = new Ledger();
  const agent = newAgent({ past: [], batch: 1, ledger }, store);
  let cycles = 0;
  return async () => {
    cycles += 1;
    const threadId = `${name}-${cycles}`;
    await agent.run(userText, await agent.thread(threadId));
    checkSaid(await approveAll(agent, await agent.thread(threadId)));
    if (ledger.transfers !== cycles) throw new Error(`${ledger.transfers} of ${cycles} transfers.`);
  };
}
