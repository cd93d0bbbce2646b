import type { Agent, ThreadStore } from 'holdpoint';
import { deleteThreads } from 'holdpoint/worker';
import { createRawTable, databaseName, openDatabase } from '../durable/database.ts';
import { startPostgres } from '../durable/postgres-databases.ts';
import { table } from '../table.ts';
import { TemporaryFiles } from '../temporary-files.ts';
import { makePayer } from './paying-agent.ts';

/** Measures how fast old threads are deleted: finished ones with one approval, by filter, with an archive, and one by one. */
export async function runRetention(quick: boolean): Promise<void> {
  using files = new TemporaryFiles();
  await using postgres = await startPostgres();
  const { problem, databases } = postgres;
  if (problem !== undefined) console.log(`Without Postgres: ${problem}\n`);
  const count = quick ? 500 : 5_000;
  const rows: string[][] = [];
  for (const database of [files.database(), ...databases.slice(0, 1)]) {
    await createRawTable(database);
    await using opened = openDatabase(database);
    const { store } = opened;
    rows.push([databaseName(database), ...(await measure(store, count))]);
  }
  const head = ['finished threads deleted a second', 'by filter', 'archived first', 'one by one'];
  console.log(`${table(head, rows)}\n`);
}

async function measure(store: ThreadStore, count: number): Promise<string[]> {
  const all = { agent: 'payer', updatedBefore: Date.now() + 24 * 60 * 60 * 1_000 };
  const agent = makePayer(store);
  const deleteEach = async (): Promise<void> => {
    for (const { threadId } of await store.list({ limit: count })) {
      await agent.delete(await agent.thread(threadId));
    }
  };
  const ways = [
    async () => deleteThreads(store, all),
    async () => deleteThreads(store, { ...all, archive: (lines) => void lines.join('\n') }),
    deleteEach,
  ];
  const found: string[] = [];
  for (const deleteAll of ways) {
    for (let number = 0; number < count; number += 1) await finishThread(agent, `thread-${number}`);
    const begun = performance.now();
    await deleteAll();
    const seconds = (performance.now() - begun) / 1_000;
    const left = await store.count({});
    if (left > 0) throw new Error(`${left} threads are left.`);
    found.push(Math.round(count / seconds).toLocaleString('en-US'));
  }
  return found;
}

/** A thread with one call that was approved and ran. */
async function finishThread(agent: Agent, threadId: string): Promise<void> {
  const thread = await agent.thread(threadId);
  const { approvalRequests } = await agent.run('Pay ACME.', thread, { principal: 'eve' });
  const answers = approvalRequests.map((request) => request.approve());
  await agent.run(answers, thread, { principal: 'ada' });
}
