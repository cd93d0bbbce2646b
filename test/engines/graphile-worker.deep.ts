import { Logger, run, runMigrations } from 'graphile-worker';
import { addResumeJob, resumeTasks } from 'holdpoint/graphile-worker';
import { postgresStore } from 'holdpoint/stores/postgres';
import { Pool } from 'pg';
import { afterAll, expect, test } from 'vitest';
import { scriptedModel } from '../support/scripted-model.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { type Ran, travelTools, travelWorld } from '../support/travel-world.ts';
import { answeredThreads } from '../support/worker-fleet.ts';
import { expectSound, killEverywhere } from './kill-everywhere.ts';
import { waitUntil } from '../support/waiting.ts';

const server = sharedPostgres();
afterAll(async () => server[Symbol.asyncDispose]());
const logger = new Logger(() => () => {});

async function prepared(): Promise<string> {
  const database = await server.createDatabase();
  const pool = new Pool({ connectionString: server.connectionString(database) });
  await runMigrations({ pgPool: pool, logger });
  await postgresStore(pool).list({});
  await pool.end();
  return database;
}

test('a worker that is killed at each boundary loses no thread, and its tool runs once', async () => {
  expectSound(await killEverywhere(server, 'graphile-worker', await prepared()));
}, 600_000);

/** The pool, counting the statements that go through it. */
function counted(pool: Pool): { pool: Pool; queries(): number } {
  let queries = 0;
  pool.on('connect', (client) => {
    const { query } = client;
    Reflect.set(client, 'query', (...input: unknown[]): unknown => {
      queries += 1;
      return Reflect.apply(query, client, input);
    });
  });
  return { pool, queries: () => queries };
}

test('three workers run 500 answered threads, each tool once, in few queries', async () => {
  const threads = 500;
  const database = await prepared();
  const ids = Array.from({ length: threads }, (_, nth) => `t${nth}`);
  const web = postgresStore(server.pool(database), { onWake: addResumeJob() });
  await answeredThreads(web, ids);

  const ran: Ran[] = [];
  const begun = performance.now();
  const workers = await Promise.all(
    [1, 2, 3].map(async () => {
      const { pool, queries } = counted(server.pool(database));
      const store = postgresStore(pool, { onWake: addResumeJob() });
      const { model } = scriptedModel([{ text: 'Done.' }], { repeat: true });
      const world = travelWorld({ model, requests: 0 }, () => store);
      const agent = world.agent({ tools: travelTools(ran) });
      const taskList = resumeTasks({ agent, store });
      const runner = await run({
        pgPool: pool,
        taskList,
        concurrency: 4,
        logger,
        noHandleSignals: true,
      });
      return { runner, queries };
    }),
  );
  await waitUntil(async () => (await web.count({ status: 'idle' })) === threads, {
    timeout: 120_000,
    interval: 50,
  });
  const took = performance.now() - begun;
  await Promise.all(workers.map(async ({ runner }) => runner.stop()));
  const queries = workers.reduce((sum, worker) => sum + worker.queries(), 0);
  console.log(`${threads} threads: ${queries / threads} queries and ${took / threads} ms a thread`);
  expect(ran).toHaveLength(threads);
  expect(queries / threads).toBeLessThan(9);
});

test('from the answer to the end of the run takes milliseconds', async () => {
  const database = await prepared();
  const pool = server.pool(database);
  const store = postgresStore(pool, { onWake: addResumeJob() });
  const { model } = scriptedModel([{ text: 'Done.' }], { repeat: true });
  const ran: Ran[] = [];
  const agent = travelWorld({ model, requests: 0 }, () => store).agent({
    tools: travelTools(ran),
  });
  const taskList = resumeTasks({ agent, store });
  const runner = await run({ pgPool: pool, taskList, logger, noHandleSignals: true });
  const times: number[] = [];
  for (let nth = 0; nth < 50; nth += 1) {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const stop = agent.on('run-ended', () => resolve());
    await answeredThreads(store, [`t${nth}`]);
    const begun = performance.now();
    await ended;
    times.push(performance.now() - begun);
    stop();
  }
  await runner.stop();
  const median = times.toSorted((one, other) => one - other)[25] ?? Infinity;
  console.log(`from the answer to the end: ${median} ms`);
  expect(ran).toHaveLength(50);
  expect(median).toBeLessThan(500);
});

test('threads whose runs always fail are run as often as the log says, and do not storm', async () => {
  const threads = 40;
  const database = await prepared();
  const pool = server.pool(database);
  const store = postgresStore(pool, { onWake: addResumeJob() });
  const played = scriptedModel([{ fail: 'overloaded' }], { repeat: true });
  const world = travelWorld(played, () => store);
  const agent = world.agent({ retry: { maxAttempts: 4, initialDelayMs: 50 } });
  const taskList = resumeTasks({ agent, store });
  const runner = await run({
    pgPool: pool,
    taskList,
    concurrency: 4,
    pollInterval: 50,
    logger,
    noHandleSignals: true,
  });
  let jobs = 0;
  runner.events.on('job:start', () => (jobs += 1));
  await Promise.allSettled(
    Array.from({ length: threads }, async (_, nth) =>
      agent.run('Hello', await agent.thread(`t${nth}`)),
    ),
  );
  await waitUntil(async () => (await store.count({ status: 'stuck' })) === threads, {
    timeout: 60_000,
    interval: 20,
  });
  await runner.stop();
  console.log(`${jobs / threads} jobs and ${played.requests / threads} requests a thread`);
  expect(played.requests).toBe(4 * threads);
  expect(jobs).toBeLessThanOrEqual(6 * threads);
});
