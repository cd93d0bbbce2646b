import { postgresStore } from 'holdpoint/stores/postgres';
import { expect } from 'vitest';
import type { PostgresDatabases } from '../support/postgres-databases.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, type Ran, travelTools, travelWorld } from '../support/travel-world.ts';

/** Asks for 8 approvals in each of so many threads; 8 agents at once answer all of them, each of them all: each has one effect. */
export async function expectOneEffectEach(
  server: PostgresDatabases,
  threads: number,
): Promise<void> {
  const database = await server.createDatabase();
  const threadIds = Array.from({ length: threads }, (_, index) => `trip-${index}`);
  const calls = Array.from({ length: 8 }, (_, index) => book(`c${index}`, `City ${index}`));
  const asking = scriptedModel([{ calls }], { repeat: true });
  const done = scriptedModel([{ text: 'Done.' }], { repeat: true });
  const ran: Ran[] = [];
  const open = () => postgresStore(server.pool(database));
  const first = travelWorld(asking, open).agent({ tools: travelTools(ran) });
  for (const id of threadIds) await first.run('Book', await first.thread(id));

  const answerAll = async (_: unknown, place: number) => {
    const agent = travelWorld(done, open).agent({ tools: travelTools(ran) });
    const own = [...threadIds.slice(place * 3), ...threadIds.slice(0, place * 3)];
    return Promise.all(
      own.map(async (id) => {
        const thread = await agent.thread(id);
        const answers = thread.activeApprovalRequests.map((request) => request.approve());
        return (await agent.run(answers, thread)).status;
      }),
    );
  };
  const statuses = (await Promise.all(Array.from({ length: 8 }).map(answerAll))).flat();
  expect(statuses.filter((status) => status !== 'completed' && status !== 'running')).toEqual([]);
  expect(ran).toHaveLength(threads * 8);
  expect(new Set(ran.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(threads * 8);
  for (const id of threadIds) {
    const { status, calls: records } = await first.thread(id);
    expect(status).toBe('idle');
    expect(records.map((call) => call.status)).toEqual(calls.map(() => 'succeeded'));
  }
}
