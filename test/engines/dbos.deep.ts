import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DBOS, DBOSClient } from '@dbos-inc/dbos-sdk';
import { agentWorkflow, wakeWorkflow } from 'holdpoint/dbos';
import { postgresStore } from 'holdpoint/stores/postgres';
import { Pool } from 'pg';
import { afterAll, expect, test } from 'vitest';
import { statelessModel } from '../faults/stateless-model.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { book, travelWorld } from '../support/travel-world.ts';
import { expectSound, killEverywhere } from './kill-everywhere.ts';
import { waitUntil } from '../support/waiting.ts';

const server = sharedPostgres();
afterAll(async () => server[Symbol.asyncDispose]());

/** A database with the tables of DBOS and of the store. */
async function prepared(): Promise<string> {
  const database = await server.createDatabase();
  const connectionString = server.connectionString(database);
  const pool = new Pool({ connectionString });
  await DBOS.migrate(connectionString);
  await postgresStore(pool).list({});
  await pool.end();
  return database;
}

test('a workflow whose process is killed at each boundary ends, and its tool runs once', async () => {
  expectSound(await killEverywhere(server, 'dbos', await prepared()));
}, 600_000);

const executor = join(import.meta.dirname, '..', 'support', 'dbos-executor-process.ts');

const executors = new Map<string, ChildProcess>();
afterAll(() => executors.forEach((child) => child.kill('SIGKILL')));

/** Starts an executor with this id, and resolves when it is at work. */
async function startExecutor(id: string, ...input: string[]): Promise<void> {
  const parameters = ['--conditions=holdpoint-source', executor, id, ...input];
  const child = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
  executors.set(id, child);
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line === 'ready') resolve();
  });
  await ready;
}

/** Puts a workflow on the queue that books in a thread of its own. */
async function enqueueBooking(client: DBOSClient, threadId: string) {
  const options = { workflowName: 'booking', queueName: 'turns', appVersion: '1' };
  const attributes = { holdpointThread: threadId };
  const input = { threadId, message: 'Book' };
  return client.enqueue({ ...options, workflowID: threadId, attributes }, input);
}

test('two executors run 100 threads, one is killed and comes back: each tool runs once', async () => {
  const database = await prepared();
  const connectionString = server.connectionString(database);
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-dbos-'));
  const ledger = join(folder, 'effects');
  const effects = (): string[] =>
    existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : [];
  await Promise.all(['a', 'b'].map(async (id) => startExecutor(id, connectionString, ledger)));

  const client = await DBOSClient.create({ systemDatabaseUrl: connectionString });
  const ids = Array.from({ length: 100 }, (_, nth) => `t${nth}`);
  const handles = await Promise.all(ids.map(async (id) => enqueueBooking(client, id)));

  const store = postgresStore(server.pool(database), { onWake: wakeWorkflow() });
  const web = travelWorld(scriptedModel([]), () => store).agent();
  const begun = new Map<string, number>();
  const took: number[] = [];
  await Promise.all(
    ids.map(async (threadId, nth) => {
      await waitUntil(async () => (await store.head(threadId))?.openRequests === 1, {
        timeout: 60_000,
        interval: 100,
      });
      const thread = await web.thread(threadId);
      begun.set(threadId, performance.now());
      await web.respond(
        thread.activeApprovalRequests.map((request) => request.approve()),
        thread,
      );
      if (nth === 50) {
        executors.get('a')?.kill('SIGKILL');
        await startExecutor('a', connectionString, ledger);
      }
      const isOver = async () => {
        const { status, nextDeadline } = (await store.head(threadId)) ?? {};
        return status === 'indeterminate' || (status === 'idle' && nextDeadline === undefined);
      };
      await waitUntil(isOver, { timeout: 120_000, interval: 20 });
      took.push(performance.now() - (begun.get(threadId) ?? 0));
    }),
  );
  const heads = await Promise.all(ids.map(async (id) => store.head(id)));
  const lost = heads.filter((head) => head?.status === 'indeterminate').length;
  const median = took.toSorted((one, other) => one - other)[50];
  console.log(`${effects().length} effects, ${lost} lost, ${median} ms from answer to end`);
  expect(new Set(effects()).size).toBe(effects().length);
  expect(effects().length).toBeGreaterThanOrEqual(100 - lost);
  expect(lost).toBeLessThanOrEqual(5);
  const completed = handles.filter((_, nth) => heads[nth]?.status === 'idle');
  const results = await Promise.all(completed.map(async (handle) => handle.getResult()));
  expect(results).toHaveLength(100 - lost);
  await client.destroy();
  rmSync(folder, { recursive: true });
}, 300_000);

test('the workflows of an executor that never returns are taken over by another', async () => {
  const database = await prepared();
  const connectionString = server.connectionString(database);
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-dbos-'));
  const ledger = join(folder, 'effects');
  await startExecutor('hanging', connectionString, ledger);
  const client = await DBOSClient.create({ systemDatabaseUrl: connectionString });
  const ids = Array.from({ length: 20 }, (_, nth) => `t${nth}`);
  const handles = await Promise.all(ids.map(async (id) => enqueueBooking(client, id)));
  const store = postgresStore(server.pool(database), { onWake: wakeWorkflow() });
  const web = travelWorld(scriptedModel([]), () => store).agent();
  const answer = async (threadId: string): Promise<void> => {
    const thread = await web.thread(threadId);
    await web.respond(
      thread.activeApprovalRequests.map((request) => request.approve()),
      thread,
    );
  };
  const inTime = { timeout: 60_000, interval: 100 };
  await waitUntil(async () => (await store.count({ status: 'waiting' })) === 20, inTime);

  /* One is killed in the tool, and its run on the queue with it. */
  await answer('t0');
  await waitUntil(() => existsSync(ledger), inTime);
  executors.get('hanging')?.kill('SIGKILL');
  await Promise.all(ids.slice(1).map(answer));
  await startExecutor('next', connectionString, ledger);

  const others = handles.slice(1);
  const results = await Promise.all(others.map(async (handle) => handle.getResult()));
  expect(results.map(({ status }) => status)).toEqual(others.map(() => 'completed'));
  await waitUntil(async () => (await store.head('t0'))?.status === 'indeterminate', inTime);
  const effects = readFileSync(ledger, 'utf8').trim().split('\n');
  expect(effects).toHaveLength(20);
  expect(new Set(effects).size).toBe(20);
  await client.destroy();
  rmSync(folder, { recursive: true });
}, 120_000);

test('from the answer to the end of the workflow takes milliseconds', async () => {
  const database = await prepared();
  const store = postgresStore(server.pool(database), { onWake: wakeWorkflow() });
  const script = Array.from({ length: 30 }, () => [
    { calls: [book('c', 'Paris')] },
    { text: 'Done.' },
  ]);
  const world = travelWorld(scriptedModel(script.flat()), () => store);
  const workflow = agentWorkflow({ agent: world.agent(), store, name: 'timed' });
  const web = world.agent();
  const systemDatabaseUrl = server.connectionString(database);
  DBOS.setConfig({ name: 'travel', systemDatabaseUrl, logLevel: 'error' });
  await DBOS.launch();
  const times: number[] = [];
  for (let nth = 0; nth < 30; nth += 1) {
    const threadId = `t${nth}`;
    const handle = await workflow.start({ threadId, message: 'Book' });
    await waitUntil(async () => (await store.head(threadId))?.openRequests === 1);
    const thread = await web.thread(threadId);
    const answers = thread.activeApprovalRequests.map((request) => request.approve());
    const begun = performance.now();
    await web.respond(answers, thread);
    await handle.getResult();
    times.push(performance.now() - begun);
  }
  await DBOS.shutdown();
  const median = times.toSorted((one, other) => one - other)[15] ?? Infinity;
  console.log(`from the answer to the end: ${median} ms`);
  expect(world.ran).toHaveLength(30);
  expect(median).toBeLessThan(500);
});

test('a workflow that sleeps takes no place on the queue of the runs', async () => {
  const database = await prepared();
  const store = postgresStore(server.pool(database), { onWake: wakeWorkflow() });
  const script = [{ calls: [book('c', 'Paris')] }, { calls: [book('c', 'Rome')] }];
  const played = scriptedModel([...script, { text: 'Booked.' }, { text: 'Booked.' }]);
  const world = travelWorld(played, () => store);
  await DBOS.shutdown({ deregister: true });
  const workflow = agentWorkflow({
    agent: world.agent(),
    store,
    name: 'queued',
    queueName: 'single',
  });
  const systemDatabaseUrl = server.connectionString(database);
  DBOS.setConfig({ name: 'travel', systemDatabaseUrl, logLevel: 'error' });
  await DBOS.launch();
  await DBOS.registerQueue('single', { concurrency: 1, minPollingIntervalMs: 50 });
  const ids = ['one', 'two'];
  const handles = await Promise.all(
    ids.map(async (threadId) => workflow.start({ threadId, message: 'Book' })),
  );
  await waitUntil(async () => (await store.count({ status: 'waiting' })) === 2, {
    timeout: 20_000,
  });
  const web = world.agent();
  for (const id of ids) {
    const thread = await web.thread(id);
    const answers = thread.activeApprovalRequests.map((request) => request.approve());
    await web.respond(answers, thread);
  }
  const results = await Promise.all(handles.map(async (handle) => handle.getResult()));
  await DBOS.shutdown();
  expect(results.map(({ status }) => status)).toEqual(['completed', 'completed']);
  expect(world.ran).toHaveLength(2);
});

const runs = async () =>
  DBOS.listWorkflows({ workflowName: 'crowded.run', status: ['PENDING', 'ENQUEUED'] });

test('the sweep leaves a run alone that waits for its turn on a full queue', async () => {
  const database = await prepared();
  const store = postgresStore(server.pool(database), { onWake: wakeWorkflow() });
  const freed = Promise.withResolvers<void>();
  const model = statelessModel([[['book', 'Paris']]], async (prompt, answer) => {
    /* A run that has booked goes on in its thread until then. */
    if (prompt.at(-1)?.role === 'tool') await freed.promise;
    return answer();
  });
  const world = travelWorld({ model, requests: 0 }, () => store);
  const agent = world.agent();
  await DBOS.shutdown({ deregister: true });
  const workflow = agentWorkflow({
    agent: {
      name: agent.name,
      /* What is due is overdue at once. */
      now: () => agent.now() + 10_000,
      thread: async (...given) => agent.thread(...given),
      run: async (...input) => agent.run(...input),
    },
    store,
    name: 'crowded',
    queueName: 'single',
  });
  const systemDatabaseUrl = server.connectionString(database);
  DBOS.setConfig({ name: 'travel', systemDatabaseUrl, logLevel: 'error' });
  await DBOS.launch();
  await DBOS.registerQueue('single', { concurrency: 1, minPollingIntervalMs: 50 });
  const handles = [
    await workflow.start({ threadId: 'one', message: 'Book' }),
    await workflow.start({ threadId: 'two', message: 'Book' }),
  ];
  const inTime = { timeout: 20_000, interval: 50 };
  await waitUntil(async () => (await store.count({ status: 'waiting' })) === 2, inTime);
  const web = world.agent();
  for (const id of ['one', 'two']) {
    const thread = await web.thread(id);
    const answers = thread.activeApprovalRequests.map((request) => request.approve());
    await web.respond(answers, thread);
  }
  /* One run is under way in its thread; the other has no turn yet, and its thread is overdue. */
  const waiting = await waitUntil(async () => {
    const [all, overdue, atWork] = await Promise.all([
      runs(),
      store.list({ agent: null, dueBefore: Date.now() }),
      store.count({ status: 'running' }),
    ]);
    const queued = all.filter(({ status }) => status === 'ENQUEUED');
    const isCrowded = all.length === 2 && queued.length === 1;
    const isUnderWay = atWork === 1 && world.ran.length === 1;
    const isOverdue = overdue.length === 1 && overdue[0]?.status !== 'running';
    return isCrowded && isUnderWay && isOverdue && queued[0];
  }, inTime);
  const { sweep } = workflow;
  await sweep(new Date());
  const parent = await DBOS.getWorkflowStatus(waiting.parentWorkflowID ?? '');
  expect(parent).toMatchObject({ status: 'PENDING' });
  expect(parent?.queueName).toBe(undefined);
  freed.resolve();
  const results = await Promise.all(handles.map(async (handle) => handle.getResult()));
  await DBOS.shutdown();
  expect(results.map(({ status }) => status)).toEqual(['completed', 'completed']);
  expect(world.ran).toHaveLength(2);
}, 60_000);
