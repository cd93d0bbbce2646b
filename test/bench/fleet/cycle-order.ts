import { postgresStore } from 'holdpoint/stores/postgres';
import { Pool, type PoolConfig } from 'pg';
import { inOrder, median } from '../measure.ts';
import { aiCompetitor } from '../speed/ai-competitor.ts';
import type { Competitor } from '../speed/competitor.ts';
import { ownCompetitor } from '../speed/own-competitor.ts';
import { askForCalls } from '../speed/speed-task.ts';
import { countStatements, type StatementCounts } from './counted-pool.ts';
import type { FleetResult, OrderOf } from './fleet-order.ts';

/**
 * Times the cycle of an approval on Postgres, the AI SDK's own in memory, and an insert of one row of 1 KB in a transaction of its own, in
 * turns.
 */
export async function timeCycles(
  connection: PoolConfig,
  { rounds }: OrderOf<'cycles'>,
): Promise<FleetResult> {
  const pool = new Pool({ ...connection, max: 4 });
  const counts: StatementCounts = { all: 0, claims: 0 };
  const store = postgresStore(countStatements(pool, counts), { prepare: true });
  const stores = { asking: store, resuming: store };
  await pool.query('create table if not exists raw (id bigserial primary key, text text not null)');
  const contenders: Record<string, Competitor> = {
    own: ownCompetitor({ task: askForCalls(1), stores: () => stores }),
    ai: aiCompetitor({ task: askForCalls(1) }),
    insert: insertInto(pool),
  };
  const times = new Map<string, number[]>(Object.keys(contenders).map((name) => [name, []]));
  let statements = 0;
  for (let round = -rounds; round < rounds; round += 1) {
    for (const [name, contender] of inOrder(Object.entries(contenders), Math.abs(round))) {
      const before = counts.all;
      const cycle = await contender.prepare();
      const begun = counts.all - before;
      const took: number[] = [];
      for (let count = 0; count < 20; count += 1) {
        const [time = Number.NaN] = await cycle();
        took.push(time);
      }
      if (round >= 0) times.get(name)?.push(median(took));
      if (name === 'own') statements = (counts.all - before - begun) / 20;
    }
  }
  await pool.end();
  const of = (name: string): number => median(times.get(name) ?? []);
  const cycle = { own: of('own'), ai: of('ai'), insert: of('insert'), statements };
  return { type: 'done', cycle };
}

function insertInto(pool: Pool): Competitor {
  const query = { name: 'raw-insert', text: 'insert into raw (text) values ($1)' };
  const values = ['x'.repeat(1_000)];
  return {
    prepare: async () => async () => {
      const begin = performance.now();
      await pool.query({ ...query, values });
      return [performance.now() - begin];
    },
  };
}
