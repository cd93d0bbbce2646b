import { tool } from 'ai';
import { createAgent } from 'holdpoint';
import { postgresStore } from 'holdpoint/stores/postgres';
import { scriptedModel } from 'holdpoint/testing';
import { Pool, type PoolConfig } from 'pg';
import { z } from 'zod';
import { FleetDatabase } from './fleet-database.ts';
import type { Database } from '../durable/database.ts';

const threads = 20;

/**
 * Measures how many updates of threads' rows write to no index (HOT), in turns of so many steps with a call each, of which the last one asks.
 * Returns a line.
 */
export async function measureUpdates(
  database: Database,
  counts: readonly number[],
): Promise<string> {
  if (database.kind !== 'postgres') throw new Error('Updates are counted on Postgres.');
  await using counted = new FleetDatabase(database);
  const shares: string[] = [];
  for (const calls of counts) {
    await counted.resetStatistics();
    await runTurns(database.connection, calls);
    const { updates, hot } = await counted.readUpdates();
    shares.push(`${calls} call${calls === 1 ? '' : 's'}: ${((100 * hot) / updates).toFixed(0)} %`);
  }
  return `Updates of threads' rows that write to no index (HOT), in turns of so many calls with one approval: ${shares.join(', ')}`;
}

async function runTurns(connection: PoolConfig, calls: number): Promise<void> {
  const pool = new Pool({ ...connection, max: 1 });
  const store = postgresStore(pool, { prepare: true });
  const pay = tool({ inputSchema: z.object({ nth: z.int() }), execute: async () => 'paid' });
  for (let thread = 0; thread < threads; thread += 1) {
    const steps = Array.from({ length: calls }, (_each, nth) => ({
      calls: [{ id: `call-${nth}`, name: 'pay', input: { nth } }],
    }));
    const { model } = scriptedModel([...steps, { text: 'Paid.' }]);
    const agent = createAgent({
      model,
      store,
      tools: { pay },
      toolApproval: { pay: ({ nth }) => (nth === calls - 1 ? 'user-approval' : 'approved') },
    });
    const opened = await agent.thread(`turn-of-${calls}-${thread}`);
    const asked = await agent.run('Pay.', opened);
    const answers = asked.approvalRequests.map((request) => request.approve());
    await agent.run(answers, opened);
  }
  await pool.query('select pg_stat_force_next_flush()');
  await pool.end();
}
