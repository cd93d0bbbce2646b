import type { Agent } from 'holdpoint';
import type { DurableWork } from '../durable-work.ts';
import { newAgent } from '../holdpoint-contenders.ts';
import { Ledger } from '../transfer-tool.ts';
import { type Database, type OpenDatabase, openDatabase } from './database.ts';
import { rawCycleOn } from './durable-worker.ts';
import { noTimes, type StoreTimes, timedStore } from './timed-store.ts';

/** A worker whose store notes its times. */
export interface TimedWorker extends AsyncDisposable {
  agent: Agent;
  /** What the agent's store has noted. */
  times: StoreTimes;
  store: OpenDatabase['store'];
  /** As many raw inserts as a cycle has appends. */
  raw: () => Promise<void>;
}

/** Starts a worker to look at closely. */
export function startTimedWorker(database: Database, work: DurableWork): TimedWorker {
  const open = openDatabase(database);
  const times = noTimes();
  const setting = { past: [], batch: 1, ledger: new Ledger() };
  return {
    agent: newAgent(setting, timedStore(open.store, times)),
    times,
    store: open.store,
    raw: rawCycleOn(open, work),
    [Symbol.asyncDispose]: async () => open[Symbol.asyncDispose](),
  };
}
