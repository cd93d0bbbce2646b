import { setTimeout as pause } from 'node:timers/promises';
import { approve, createAgent } from 'holdpoint';
import { postgresStore } from 'holdpoint/stores/postgres';
import { Pool, type PoolConfig } from 'pg';
import { scriptedModel } from '../../support/scripted-model.ts';
import { book, travelTools } from '../../support/travel-world.ts';
import { type FleetResult, type OrderOf, readClock, threadName } from './fleet-order.ts';

/** An agent that asks for approval, and runs nothing. */
function openInbox(pool: Pool, name: string) {
  const { model } = scriptedModel([{ calls: [book('c1', 'Paris')] }], { repeat: true });
  const store = postgresStore(pool, { prepare: true });
  return createAgent({
    name,
    model,
    tools: travelTools([]),
    toolApproval: { book: 'user-approval' },
    store,
  });
}

/** Makes the threads of an order, eight at a time. */
export async function prepareThreads(
  connection: PoolConfig,
  { name, threads, isAnswered }: OrderOf<'prepare'>,
): Promise<FleetResult> {
  const pool = new Pool(connection);
  const inbox = openInbox(pool, name);
  let begun = 0;
  const loop = async (): Promise<void> => {
    while (begun < threads) {
      begun += 1;
      const thread = await inbox.thread(threadName(name, begun - 1));
      const { approvalRequests } = await inbox.run('Book', thread);
      const answers = approvalRequests.map((each) => approve(each));
      if (isAnswered) await inbox.respond(answers, thread);
    }
  };
  await Promise.all(Array.from({ length: 8 }, loop));
  await pool.end();
  return { type: 'done' };
}

/** Answers the threads of an order; says when each answer was given. */
export async function answerThreads(
  connection: PoolConfig,
  { name, threads, everyMs }: OrderOf<'answer'>,
): Promise<FleetResult> {
  const pool = new Pool({ ...connection, max: 4 });
  const inbox = openInbox(pool, name);
  const answered: [string, number][] = [];
  for (let index = 0; index < threads; index += 1) {
    const thread = await inbox.thread(threadName(name, index));
    answered.push([thread.id, readClock()]);
    await inbox.respond(
      thread.activeApprovalRequests.map((each) => approve(each)),
      thread,
    );
    await pause(everyMs);
  }
  await pool.end();
  return { type: 'done', answered };
}
