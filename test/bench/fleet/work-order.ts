import { setTimeout as pause } from 'node:timers/promises';
import { tool } from 'ai';
import { createAgent, type ThreadStore } from 'holdpoint';
import { postgresStore } from 'holdpoint/stores/postgres';
import { runWorker } from 'holdpoint/worker';
import { Pool, type PoolConfig } from 'pg';
import { scriptedModel } from '../../support/scripted-model.ts';
import { cityInput } from '../../support/travel-world.ts';
import { countStatements, type StatementCounts } from './counted-pool.ts';
import { type FleetResult, type OrderOf, readClock } from './fleet-order.ts';

/** What the workers of a process have done, added up. */
class Work {
  readonly statements: StatementCounts = { all: 0, claims: 0 };
  readonly started: [string, number][] = [];
  reads = 0;
  ended = 0;
}

/** Runs the threads of an order until the signal aborts, saying every 25 milliseconds how many have ended. */
export async function runOrder(
  connection: PoolConfig,
  order: OrderOf<'work'>,
  { signal, tellEnded }: { signal: AbortSignal; tellEnded: (count: number) => void },
): Promise<FleetResult> {
  const work = new Work();
  const telling = setInterval(() => tellEnded(work.ended), 25);
  const workers = Array.from({ length: order.workers }, async () =>
    runOne(connection, order, work, signal),
  );
  await Promise.all(workers).finally(() => clearInterval(telling));
  const { started, reads, statements } = work;
  return { type: 'done', started, reads, claims: statements.claims, statements: statements.all };
}

async function runOne(
  connection: PoolConfig,
  { name, toolMs, pollMs, leaseMs, countsEffects }: OrderOf<'work'>,
  work: Work,
  signal: AbortSignal,
): Promise<void> {
  /* One to listen, and two for the queries of four threads: more backends than cores only crowd each other. */
  const pool = new Pool({ ...connection, max: 3 });
  const opened = postgresStore(countStatements(pool, work.statements), { prepare: true });
  const store: ThreadStore = {
    ...opened,
    read: async (...input) => ((work.reads += 1), opened.read(...input)),
  };
  const book = tool({
    description: 'book a flight',
    inputSchema: cityInput,
    execute: async (_input, { toolCallId, ...options }) => {
      const key = String(Reflect.get(options, 'idempotencyKey') ?? toolCallId);
      if (countsEffects) await pool.query('insert into effects values ($1, $2)', [name, key]);
      if (toolMs > 0) await pause(toolMs);
      return 'booked';
    },
  });
  const agent = createAgent({
    name,
    model: scriptedModel([{ text: 'Done.' }], { repeat: true }).model,
    tools: { book },
    toolApproval: { book: 'user-approval' },
    store,
    leaseMs,
  });
  agent.on('run-started', ({ threadId }) => work.started.push([threadId, readClock()]));
  agent.on('run-ended', () => (work.ended += 1));
  await runWorker({ agent, store, signal, pollMs, claimMs: leaseMs });
  await pool.end();
}
