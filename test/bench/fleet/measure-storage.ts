import { postgresStore } from 'holdpoint/stores/postgres';
import { deleteThreads } from 'holdpoint/worker';
import { Pool } from 'pg';
import { z } from 'zod';
import type { Database } from '../durable/database.ts';
import { makePayer } from '../retention/paying-agent.ts';

const threads = 2_000;

const schema = z.object({ bytes: z.coerce.number(), wal: z.coerce.number() });

/** Measures, in an empty database, how much space threads take that wait for an approval, that are finished, and that were deleted. Returns lines. */
export async function measureStorage(database: Database): Promise<string> {
  if (database.kind !== 'postgres') throw new Error('Space is measured on Postgres.');
  const pool = new Pool({ ...database.connection, max: 1 });
  const store = postgresStore(pool, { prepare: true });
  const agent = makePayer(store);
  const ids = Array.from({ length: threads }, (_each, index) => `thread-${index}`);
  const read = async () => {
    await pool.query('vacuum analyze');
    const { rows } = await pool.query(`
      select pg_current_wal_insert_lsn() - '0/0' as wal, (
        select sum(pg_total_relation_size(oid)) from pg_class where relkind = 'r' and relname like 'holdpoint_%'
      ) as bytes`);
    return schema.parse(rows[0]);
  };
  await store.count({});
  const empty = await read();
  for (const id of ids) {
    await agent.run('Pay ACME.', await agent.thread(id), { principal: 'eve' });
  }
  const waiting = await read();
  for (const id of ids) {
    const thread = await agent.thread(id);
    const answers = thread.activeApprovalRequests.map((request) => request.approve());
    await agent.run(answers, thread, { principal: 'ada' });
  }
  const finished = await read();
  await deleteThreads(store, { agent: 'payer', updatedBefore: Date.now() + 60_000 });
  const deleted = await read();
  await pool.end();
  const each = (from: number, to: number): string =>
    `${((to - from) / threads / 1_000).toFixed(1)} kB`;
  return `${threads.toLocaleString('en-US')} threads with one approval and short messages, rows of requests and indexes included:
  a waiting thread takes ${each(empty.bytes, waiting.bytes)}, a finished one ${each(empty.bytes, finished.bytes)}
  write-ahead log of a whole cycle: ${each(empty.wal, finished.wal)}; of its deletion ${each(finished.wal, deleted.wal)}`;
}
