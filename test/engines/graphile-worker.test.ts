import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Logger, run, runMigrations, type Runner } from 'graphile-worker';
import type { AgentOptions } from 'holdpoint';
import { addResumeJob, resumeTasks } from 'holdpoint/graphile-worker';
import { postgresStore } from 'holdpoint/stores/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ScriptedStep } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { errorCode } from '../support/error-code.ts';
import { book, travelWorld } from '../support/travel-world.ts';
import { approvalIn, peopleIn } from './watched-threads.ts';
import { waitFor, waitUntil } from '../support/waiting.ts';

type ResumeTasksOptions = Parameters<typeof resumeTasks>[0];

const server = sharedPostgres();
const database = await server.createDatabase();
const pool = server.pool(database);
const logger = new Logger(() => () => {});
const runners: Runner[] = [];

beforeAll(async () => runMigrations({ pgPool: pool, logger }));
afterAll(async () => {
  await Promise.all(runners.map(async (runner) => runner.stop()));
  await server[Symbol.asyncDispose]();
});

/** An agent of this name whose threads a worker runs. */
async function workerWorld(
  name: string,
  script: ScriptedStep[],
  {
    onWake = addResumeJob(),
    afterRun = async () => {},
    ...options
  }: Partial<AgentOptions> & { onWake?: Hook; afterRun?: () => Promise<void> } = {},
) {
  const played = scriptedModel(script);
  const store = postgresStore(pool, { onWake });
  const world = travelWorld(played, () => store);
  /* The clock of this machine is the server's, and read at once: one that was read late wakes jobs too early, and each adds another. */
  const agent = world.agent({ name, now: () => Date.now(), ...options });
  const errors: unknown[] = [];
  const onError: ResumeTasksOptions['onError'] = (error) => errors.push(error);
  const runsDue: ResumeTasksOptions['agent'] = {
    name,
    now: () => agent.now(),
    thread: async (...opened) => agent.thread(...opened),
    run: async (...input) => {
      const response = await agent.run(...input);
      await afterRun();
      return response;
    },
  };
  const taskList = resumeTasks({ agent: runsDue, store, onError });
  const runner = await run({
    pgPool: pool,
    taskList,
    logger,
    pollInterval: 20,
    noHandleSignals: true,
  });
  runners.push(runner);
  let jobs = 0;
  runner.events.on('job:start', () => (jobs += 1));
  return {
    ...world,
    agent,
    store,
    played,
    errors,
    runner,
    jobs: () => jobs,
    /** Resolves once the thread is idle and nothing is due. */
    ended: async (threadId: string) => {
      await waitUntil(
        async () => {
          const head = await store.head(threadId);
          return head?.status === 'idle' && head.nextDeadline === undefined;
        },
        { timeout: 20_000, interval: 5 },
      );
    },
  };
}

type Hook = ReturnType<typeof addResumeJob>;

const booking: ScriptedStep[] = [{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }];

test('a recorded answer adds the job that runs the thread', async () => {
  const { agent, ran, ended } = await workerWorld('answered', booking);
  const { thread, approvalRequests } = await agent.run('Book', await agent.thread('answered'));
  await agent.respond(
    approvalRequests.map((request) => request.approve()),
    thread,
  );
  await ended('answered');
  expect(ran).toHaveLength(1);
});

test('a request that expires is closed by its own job, at its time', async () => {
  const world = await workerWorld('expired', booking, {
    toolApproval: { book: { type: 'user-approval', expiresAfterMs: 100 } },
  });
  await world.agent.run('Book', await world.agent.thread('expired'));
  await world.ended('expired');
  expect(world.ran).toEqual([]);
  expect(world.jobs()).toBe(1);
});

test('a run that fails waits for its time in the log, and is no failed job', async () => {
  const fail: ScriptedStep = { fail: 'overloaded' };
  const world = await workerWorld('failing', [fail, fail, fail, { text: 'Hello.' }], {
    retry: { initialDelayMs: 20 },
  });
  const thread = await world.agent.thread('failing');
  await expect(world.agent.run('Hello', thread)).rejects.toThrow('overloaded');
  await world.ended('failing');
  expect(world.played.requests).toBe(4);
  expect(world.errors).toHaveLength(2);
  expect(world.jobs()).toBeLessThanOrEqual(6);
  /* It ends its last job, but does not wait until the row is gone. A failed job would stay: nobody tries it again. */
  runners.splice(runners.indexOf(world.runner), 1);
  await world.runner.stop();
  await waitFor(async () => {
    const { rows } = await pool.query(
      `select from graphile_worker.jobs where task_identifier = 'holdpoint:failing'`,
    );
    expect(rows).toEqual([]);
  });
});

test('the sweep finds what was appended without a hook', async () => {
  const world = await workerWorld('swept', booking, { onWake: async () => {} });
  const { thread, approvalRequests } = await world.agent.run(
    'Book',
    await world.agent.thread('swept'),
  );
  await world.agent.respond(
    approvalRequests.map((request) => request.approve()),
    thread,
  );
  expect((await world.store.head('swept'))?.nextDeadline).toBe(0);
  await world.runner.addJob('holdpoint-sweep:swept', {});
  await world.ended('swept');
  expect(world.ran).toHaveLength(1);
});

const aDay: Partial<AgentOptions> = {
  toolApproval: { book: { type: 'user-approval', expiresAfterMs: 86_400_000 } },
};

/** Approves what is asked, in a process whose store has this hook. */
async function approveElsewhere(
  { played }: Pick<Awaited<ReturnType<typeof workerWorld>>, 'played'>,
  threadId: string,
  onWake?: Hook,
): Promise<void> {
  const store = postgresStore(pool, onWake === undefined ? {} : { onWake });
  const agent = travelWorld(played, () => store).agent({ name: threadId, ...aDay });
  const thread = await agent.thread(threadId);
  const answers = thread.activeApprovalRequests.map((request) => request.approve());
  await agent.respond(answers, thread);
}

test('the sweep runs a thread whose job waits for a later time', async () => {
  const world = await workerWorld('early', booking, aDay);
  await world.agent.run('Book', await world.agent.thread('early'));
  await approveElsewhere(world, 'early');
  await world.runner.addJob('holdpoint-sweep:early', {});
  await world.ended('early');
  expect(world.ran).toHaveLength(1);
});

test('a job that ends does not put off the run of an answer that came meanwhile', async () => {
  const script: ScriptedStep[] = [
    { calls: [book('c1', 'Paris')] },
    { calls: [book('c2', 'Rome')] },
  ];
  let isAnswered = false;
  const world = await workerWorld('meanwhile', [...script, { text: 'Booked.' }], {
    ...aDay,
    afterRun: async () => {
      if (isAnswered) return;
      isAnswered = true;
      await approveElsewhere(world, 'meanwhile', addResumeJob());
    },
  });
  await world.agent.run('Book', await world.agent.thread('meanwhile'));
  await approveElsewhere(world, 'meanwhile', addResumeJob());
  await world.ended('meanwhile');
  expect(world.ran).toHaveLength(2);
});

test('a job runs a call for whoever asked: Ada can’t approve her own booking, Ben can', async () => {
  const { agent, ran, ended } = await workerWorld('shared', booking, {
    toolApproval: { book: { type: 'user-approval', notRequester: true } },
  });
  const sender = { principal: 'ada', channel: 'web' };
  const { thread } = await agent.run('Book', await agent.thread('shared'), sender);
  const yes = approvalIn(thread);
  expect(await errorCode(agent.respond(yes, thread, { principal: 'Ada' }))).toBe('not-allowed');
  await agent.respond(yes, thread, { principal: 'ben', channel: 'slack' });
  await ended('shared');
  expect(ran).toHaveLength(1);
  expect(peopleIn(await agent.thread('shared'))).toEqual([
    ['message-added', 'ada', 'web'],
    ['request-answered', 'ben', 'slack'],
  ]);
});

const root = join(import.meta.dirname, '..', '..');

/** The program of the guide, with what it leaves to the reader, which starts a worker and ends. */
async function readGuideProgram(): Promise<string> {
  const guide = await readFile(join(root, 'docs', 'guides', 'engines.md'), 'utf8');
  const [, program = ''] = /## graphile-worker.*?```ts\n(.*?)```/s.exec(guide) ?? [];
  return `
    import { scriptedModel } from './test/support/scripted-model.ts';
    import { travelTools } from './test/support/travel-world.ts';
    const connectionString = process.env['DATABASE_URL'];
    const { model } = scriptedModel([]);
    const tools = travelTools([]);
    const toolApproval = {};
    ${program}
    await startWorker();
    process.stdout.write('The worker runs.', () => process.exit());`;
}

test('the program of the guide prints no warning (regression: that its pool lacks error handlers)', async () => {
  const code = await readGuideProgram();
  const options = ['--conditions=holdpoint-source', '--input-type=module-typescript', '--eval'];
  const env = { ...process.env, DATABASE_URL: server.connectionString(database) };
  const started = promisify(execFile)(process.execPath, [...options, code], { cwd: root, env });
  const { stdout, stderr } = await started;
  expect(stderr).toBe('');
  expect(stdout).toContain('The worker runs.');
  expect(stdout).not.toMatch(/WARN|ERROR|your pool/i);
});
