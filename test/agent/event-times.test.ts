import { tool } from 'ai';
import { createAgent, memoryStore } from 'holdpoint';
import { postgresStore } from 'holdpoint/stores/postgres';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { eventsIn } from '../support/events-in.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { storeKits } from '../support/store-kits.ts';
import { travelWorld } from '../support/travel-world.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { checkTimesInOrder } from './event-times.ts';

const server = sharedPostgres();
afterAll(async () => server[Symbol.asyncDispose]());
const payment = (id: string) => ({ calls: [{ id, name: 'pay', input: { euros: 1 } }] });
const promise = 'the times in a log never go back when a clock does, and deadlines stay exact';

test.each(storeKits)(`${promise}: $name`, async ({ keep }) => {
  using kept = keep();
  await checkTimesInOrder(() => kept.open());
});

test(`${promise}: postgresStore`, async () => {
  const database = await server.createDatabase();
  await checkTimesInOrder(() => postgresStore(server.pool(database)));
});

test('processes whose readings of the store’s clock differ leave the times in order', async () => {
  const readings = [1_000_500_000, 1_000_000_000];
  const kept = memoryStore();
  const played = scriptedModel([{ text: 'Hello.' }], { repeat: true });
  for (const reading of readings) {
    /* Another process: it reads the clock itself. */
    const store = { ...kept, now: async () => reading };
    const agent = travelWorld(played, () => store).agent();
    await agent.run('Hi', await agent.thread('t'));
  }
  const times = (await eventsIn(kept, 't')).map(({ at }) => at);
  expect(times).toEqual(times.toSorted((one, other) => one - other));
});

test('a standing approval that has ended by the times in the log is not used where the clock is behind them', async () => {
  const clock = { now: 1_800_000_000_000 };
  const paid: unknown[] = [];
  const pay = tool({
    inputSchema: z.object({ euros: z.number() }),
    execute: (input) => paid.push(input),
  });
  const { model } = scriptedModel([
    payment('c1'),
    { text: 'Paid.' },
    { text: 'Hello.' },
    payment('c2'),
  ]);
  const remember = { match: 'any', expiresAfterMs: 60_000 } as const;
  const agent = createAgent({
    model,
    tools: { pay },
    toolApproval: { pay: { type: 'user-approval', remember } },
    store: memoryStore(),
    now: () => clock.now,
  });
  const thread = await agent.thread('t');
  const [request] = (await agent.run('Pay.', thread)).approvalRequests;
  await agent.run(request?.approve({ remember: true }) ?? [], thread);
  clock.now += 120_000;
  await agent.run('Hi', thread);
  clock.now -= 110_000;
  expect((await agent.run('Pay again.', thread)).status).toBe('waiting');
  expect(paid).toHaveLength(1);
});
