import { join } from 'node:path';
import type { Agent, AgentThread, ThreadStore } from 'holdpoint';
import { type OnWake, postgresStore } from 'holdpoint/stores/postgres';
import type { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { cachedPackage } from '../support/cached-package.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import type { EngineProcess } from './engine-process.ts';
import { EngineProject, filesIn, textOf } from './engine-project.ts';
import { agentOn } from './engine-world.ts';
import { RedisServer, redisProgram } from './redis-server.ts';
import { approvalIn, soon, threadIn, turnIn } from './watched-threads.ts';
import { waitFor } from '../support/waiting.ts';

const page = 'docs/guides/engines.md';
const versions = { 'pg-boss': '12.38.0', bullmq: '6.7.0', ioredis: '6.0.0' };
const server = sharedPostgres();
const redis = await redisProgram();

if (redis === undefined)
  console.warn('Skipped: BullMQ, as there is no redis-server here, nor a Debian package of it.');

/** What the web server of a test takes from the guide's `queue.ts`. */
interface Web {
  onWake: OnWake;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** What the schedule does each minute. */
  sweep(): Promise<unknown>;
}

const agentFile = `
import { postgresStore } from 'holdpoint/stores/postgres';
import { Pool } from 'pg';
import { agentOn } from '../engine-world.ts';
import { onWake } from './queue.ts';

const pool = new Pool({ connectionString: process.env['DATABASE_URL'] });
export const store = postgresStore(pool, { onWake });
export const agent = agentOn(store, process.env['WORLD'] ?? '.');
`;

const bossWeb = `
import { boss, onWake, startQueue } from './queue.ts';

export { onWake };
export const start = startQueue;
export const stop = async () => boss.stop();
export const sweep = async () => boss.send('sweep');
`;

const bullWeb = `
import { Queue } from 'bullmq';
import { connection, onWake, queue } from './queue.ts';

const sweeps = new Queue('sweep', { connection, defaultJobOptions: { removeOnComplete: true } });
export { onWake };
export const start = async () => {};
export const stop = async () => {
  await Promise.all([queue.close(), sweeps.close()]);
};
export const sweep = async () => sweeps.add('now', {});
`;

const own = [
  { name: 'pg-boss/agent.ts', code: agentFile },
  { name: 'pg-boss/web.ts', code: bossWeb },
  { name: 'bullmq/agent.ts', code: agentFile },
  { name: 'bullmq/web.ts', code: bullWeb },
];

let project: EngineProject;

beforeAll(async () => {
  project = new EngineProject([...filesIn(page), ...own], await cachedPackage(versions));
}, 300_000);

afterAll(async () => {
  vi.unstubAllEnvs();
  await project[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

test('the files of docs/guides/engines.md have no type errors', () => {
  expect(filesIn(page).map(({ name }) => name)).toEqual([
    'pg-boss/queue.ts',
    'pg-boss/worker.ts',
    'bullmq/queue.ts',
    'bullmq/worker.ts',
  ]);
  expect(project.typeErrors()).toBe('');
});

test('docs/guides/engines.md names the versions that it was tested with', () => {
  const [boss, bull, ioredis] = Object.values(versions).map((each) => each.replace(/\.\d+$/, ''));
  const shown = textOf(page);
  expect(shown).toContain(`| pg-boss ${boss} `);
  expect(shown).toContain(`| BullMQ ${bull} `);
  expect(shown).toContain(`ioredis ${ioredis}`);
});

/** The web server's side of a queue, in this process, and workers as processes of their own. */
class QueueWorld {
  readonly folder: string;
  readonly pool: Pool;
  readonly web: Web;
  readonly store: ThreadStore;
  readonly agent: Agent;
  readonly #workers: EngineProcess[] = [];

  private constructor(folder: string, pool: Pool, web: Web) {
    this.folder = folder;
    this.pool = pool;
    this.web = web;
    this.store = postgresStore(pool, { onWake: web.onWake });
    this.agent = agentOn(this.store, project.folder);
  }

  static async open(folder: string): Promise<QueueWorld> {
    const database = await server.createDatabase();
    vi.stubEnv('DATABASE_URL', server.connectionString(database));
    const web: Web = await import(join(project.folder, folder, 'web.ts'));
    await web.start();
    return new QueueWorld(folder, server.pool(database), web);
  }

  /** A thread that waits for the approval of a flight to each of the cities. */
  async asked(threadId: string, cities: string): Promise<AgentThread> {
    const thread = await this.agent.thread(threadId);
    await this.agent.run(cities, thread);
    return thread;
  }

  async startWorker(): Promise<EngineProcess> {
    const worker = await project.start(process.execPath, [join(this.folder, 'worker.ts')], {
      ready: /ready/,
    });
    this.#workers.push(worker);
    return worker;
  }

  /** Ends the workers; the next test finds no bookings. */
  async clear(): Promise<void> {
    await Promise.all(this.#workers.splice(0).map(async (worker) => worker.kill()));
    for (const name of ['bookings', 'hang', 'down']) project.remove(name);
  }
}

/** What every queue does. */
function testsOfWorkers(world: () => QueueWorld): void {
  test('20 threads that a web server answers are run to the end by two workers, each tool once', async () => {
    const { agent } = world();
    await Promise.all([world().startWorker(), world().startWorker()]);
    const cities = Array.from({ length: 20 }, (_, nth) => `City ${nth}`);
    await Promise.all(
      cities.map(async (city) => {
        const thread = await world().asked(city, city);
        await agent.respond(approvalIn(thread), thread);
      }),
    );
    await Promise.all(cities.map(async (city) => turnIn(agent, city, 1)));
    expect(project.bookings.toSorted()).toEqual(cities.toSorted());
  });

  test('a worker that is killed in the tool is found by the sweep, and the tool runs once', async () => {
    const { agent, store, web } = world();
    const worker = await world().startWorker();
    project.write('hang');
    const asked = await world().asked('killed', 'Paris');
    await agent.respond(approvalIn(asked), asked);
    await waitFor(() => expect(project.bookings).toEqual(['Paris']), soon);
    await worker.kill();
    project.remove('hang');
    await world().startWorker();
    await waitFor(
      async () => {
        await web.sweep();
        expect(await store.count({ status: 'indeterminate' })).toBe(1);
      },
      { timeout: 60_000, interval: 500 },
    );
    const lost = await agent.thread('killed');
    await agent.settle(lost, 'c1-0', { status: 'succeeded', output: { booked: 'Paris' } });
    await turnIn(agent, 'killed', 1);
    expect(project.bookings).toEqual(['Paris']);
  });

  test('a run that fails is repeated at the time that the log says', async () => {
    const { agent } = world();
    const asked = await world().asked('down', 'Bern');
    project.write('down');
    await agent.respond(approvalIn(asked), asked);
    await world().startWorker();
    const failed = await waitFor(async () => {
      const thread = await agent.thread('down');
      expect(thread.failure?.failures).toBeGreaterThan(0);
      return thread;
    }, soon);
    project.remove('down');
    await turnIn(agent, 'down', 1);
    /* Later, the sweep would have found it. */
    expect(agent.now()).toBeLessThan((failed.nextDeadline ?? 0) + 5_000);
    expect(project.bookings).toEqual(['Bern']);
  });
}

describe('pg-boss', () => {
  let world: QueueWorld;
  const jobs = async (threadId: string, condition = 'true'): Promise<{ dueAt: number }[]> => {
    const { rows } = await world.pool.query(
      `select start_after from pgboss.job where name = 'resume' and singleton_key = $1 and ${condition}`,
      [threadId],
    );
    return rows.map(({ start_after: dueAt }) => ({ dueAt: Number(dueAt) }));
  };

  beforeAll(async () => {
    world = await QueueWorld.open('pg-boss');
  });
  afterEach(async () => world.clear());
  afterAll(async () => world.web.stop());

  testsOfWorkers(() => world);

  test('an append that fails leaves no job', async () => {
    const { agent, pool } = world;
    const thread = await world.asked('refused', 'Rome');
    await pool.query(`create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'The disk is full.'; end $$`);
    await pool.query(`create trigger refuse before insert on holdpoint_entries
      for each row when (new.thread_id = 'refused') execute function refuse()`);
    const answer = approvalIn(thread);
    await expect(agent.respond(answer, thread)).rejects.toThrow('The disk is full.');
    expect(await jobs('refused')).toEqual([]);
    await pool.query('drop trigger refuse on holdpoint_entries');
    await agent.respond(answer, await agent.thread('refused'));
    expect(await jobs('refused')).toHaveLength(1);
    await world.startWorker();
    await turnIn(agent, 'refused', 1);
  });

  test('a thread has one job that waits, and an answer brings it forward', async () => {
    const { agent } = world;
    const thread = await world.asked('moved', 'Narvik, Riga');
    expect(await jobs('moved')).toEqual([{ dueAt: thread.nextDeadline }]);
    await agent.respond(approvalIn(thread, 'Riga'), thread);
    expect(await jobs('moved')).toHaveLength(1);
    expect(await jobs('moved', 'start_after <= now()')).toHaveLength(1);
    await world.startWorker();
    const { calls } = await turnIn(agent, 'moved', 1);
    expect(calls.map(({ status }) => status)).toEqual(['denied', 'succeeded']);
    expect(project.bookings).toEqual(['Riga']);
  });

  test('an answer during a run needs no job', async () => {
    const { agent } = world;
    await world.startWorker();
    project.write('hang');
    const thread = await world.asked('busy', 'Rome, Bern');
    await agent.respond(approvalIn(thread, 'Rome'), thread);
    await waitFor(() => expect(project.bookings).toEqual(['Rome']), soon);
    const running = await threadIn(agent, 'busy', 'running');
    await agent.respond(approvalIn(running, 'Bern'), running);
    project.remove('hang');
    await turnIn(agent, 'busy', 1);
    expect(project.bookings).toEqual(['Rome', 'Bern']);
    expect(await jobs('busy')).toHaveLength(1);
  });
});

describe.skipIf(redis === undefined)('BullMQ', () => {
  let started: RedisServer;
  let world: QueueWorld;

  beforeAll(async () => {
    if (redis === undefined) return;
    started = await RedisServer.start(redis);
    vi.stubEnv('REDIS_URL', started.url);
    world = await QueueWorld.open('bullmq');
  });
  afterEach(async () => world.clear());
  afterAll(async () => {
    await world.web.stop();
    await started[Symbol.asyncDispose]();
  });

  testsOfWorkers(() => world);
});
