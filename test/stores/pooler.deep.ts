import { type Agent, type AgentResponse, createAgent } from 'holdpoint';
import { postgresStore } from 'holdpoint/stores/postgres';
import { storeConformance } from 'holdpoint/testing/store';
import type { Pool, PoolConfig } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { statelessModel } from '../faults/stateless-model.ts';
import { appendPlain } from '../support/plain-entries.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { type Cut, type PoolerOptions, TransactionPooler } from '../support/transaction-pooler.ts';
import { type Ran, travelTools } from '../support/travel-world.ts';
import { waitUntil } from '../support/waiting.ts';

const server = sharedPostgres();
let database: string;
let direct: Pool;
beforeAll(async () => {
  database = await server.createDatabase();
  direct = server.pool(database);
}, 120_000);
afterAll(async () => server[Symbol.asyncDispose]());

interface Pooled extends AsyncDisposable {
  pooler: TransactionPooler;
  /** A pool of connections to the pooler, as a process of its own would have it. */
  pool(config?: PoolConfig): Pool;
}

/** The database, emptied, behind a pooler. */
async function pooled(options: Omit<PoolerOptions, 'connectionString'> = {}): Promise<Pooled> {
  await direct.query('drop schema public cascade; create schema public');
  const connectionString = server.connectionString(database);
  const pooler = await TransactionPooler.start({ ...options, connectionString });
  return {
    pooler,
    pool: (config) => server.pool(database, { ...config, port: pooler.port }),
    [Symbol.asyncDispose]: async () => pooler[Symbol.asyncDispose](),
  };
}

const leaseMs = 60_000;

/** An agent behind a pooler, a clock to outwait its lease, and what its tools did. */
function bookingAgent(pool: Pool, plan = [[['book', 'Paris']]] as const) {
  const ran: Ran[] = [];
  let time = 1_000;
  const agent = createAgent({
    model: statelessModel(plan, async (_, answer) => answer()),
    tools: travelTools(ran),
    toolApproval: { book: 'user-approval' },
    store: postgresStore(pool),
    now: () => time,
    leaseMs,
    maxRetries: 0,
  });
  const outwaitLease = (): void => {
    time += leaseMs;
  };
  return { agent, ran, outwaitLease };
}

/** What a client asks next: its message where that never came through, else the open requests approved. */
async function ask(agent: Agent, threadId: string): Promise<AgentResponse> {
  const thread = await agent.thread(threadId);
  if (thread.messages.length === 0) return agent.run('Book', thread);
  return agent.run(
    thread.activeApprovalRequests.map((request) => request.approve()),
    thread,
  );
}

/** Asks until the thread is done; how it ended, and how often asking failed. */
async function insist({ agent, outwaitLease }: ReturnType<typeof bookingAgent>, threadId: string) {
  let rejections = 0;
  for (let requests = 0; requests < 10; requests += 1) {
    try {
      const { status } = await ask(agent, threadId);
      if (status === 'completed' || status === 'indeterminate') return { status, rejections };
      if (status === 'running') outwaitLease();
    } catch {
      rejections += 1;
    }
  }
  return { status: 'stuck', rejections };
}

/** Cuts at the nth append after `begin(n)`, and says how often it did since. */
class AppendCutter {
  cuts = 0;
  #left = 0;
  readonly #cut: Cut;

  constructor(cut: Cut) {
    this.#cut = cut;
  }

  begin(nth: number): void {
    this.cuts = 0;
    this.#left = nth;
  }

  readonly cutAt = (request: string): Cut | undefined => {
    if (!request.includes('insert into holdpoint_entries')) return undefined;
    this.#left -= 1;
    if (this.#left !== 0) return undefined;
    this.cuts += 1;
    return this.#cut;
  };
}

const parties = ['client', 'server', 'everyone'] as const;
/** How many appends an approved call takes, from the message to the model's last word. */
const appends = 5;

/** What became of threads of which each was cut at another of its appends, the last of them at none. */
async function cutAtEach(cut: Cut) {
  const cutter = new AppendCutter(cut);
  await using behind = await pooled({ cutAt: cutter.cutAt });
  const booking = bookingAgent(behind.pool());
  const ends: (Awaited<ReturnType<typeof insist>> & { effects: number; cuts: number })[] = [];
  /* An id for each, as a test that ran out of time may still be at work on the same tables. */
  const threadIds = Array.from(
    { length: appends + 1 },
    (_, index) => `${cut.when} ${cut.who} ${index + 1}`,
  );
  for (const [index, threadId] of threadIds.entries()) {
    cutter.begin(index + 1);
    const end = await insist(booking, threadId);
    ends.push({ ...end, effects: booking.ran.splice(0).length, cuts: cutter.cuts });
  }
  return ends;
}

describe('the pooler of these tests', () => {
  test('gives each transaction to another session, and keeps one together', async () => {
    await using behind = await pooled({ sessions: 3 });
    const client = await behind.pool({ max: 1 }).connect();
    const pid = async (): Promise<unknown> =>
      (await client.query('select pg_backend_pid() as pid')).rows[0]?.pid;
    expect(new Set([await pid(), await pid(), await pid()]).size).toBe(3);
    await client.query('begin');
    expect(new Set([await pid(), await pid(), await pid()]).size).toBe(1);
    await client.query('commit');
    client.release();
  });

  test('loses what a session holds', async () => {
    await using behind = await pooled();
    const pool = behind.pool({ max: 1 });
    await pool.query(`set application_name = 'mine'`);
    expect((await pool.query('show application_name')).rows).toEqual([{ application_name: '' }]);
  });

  test('ends the transaction of a client that left', async () => {
    await using behind = await pooled({ sessions: 1 });
    const client = await behind.pool().connect();
    await client.query('begin');
    await client.query('create table mine ()');
    client.release(true);
    await expect(behind.pool().query('select from mine')).rejects.toThrow('does not exist');
  });

  test('does not know prepared statements: a store that prepares them fails', async () => {
    await using behind = await pooled();
    const store = postgresStore(behind.pool({ max: 1 }), { prepare: true });
    await store.head('t');
    await expect(store.head('t')).rejects.toMatchObject({ code: '26000' });
  });
});

describe('postgresStore behind a pooler in transaction mode', () => {
  test.each(storeConformance)('$name', async ({ check }) => {
    await using behind = await pooled();
    const open = () => postgresStore(behind.pool({ max: 4 }), { listenPool: direct });
    await check(open(), open);
  });

  test('20 threads at once over two sessions: each call is asked for, approved, and done once', async () => {
    await using behind = await pooled({ sessions: 2 });
    const booking = bookingAgent(behind.pool());
    const ends = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => insist(booking, `t${index}`)),
    );
    expect(ends).toEqual(ends.map(() => ({ status: 'completed', rejections: 0 })));
    expect(booking.ran).toHaveLength(20);
    expect(new Set(booking.ran.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(20);
  });

  test('subscribe hears of appends through a pool that goes past the pooler', async () => {
    await using behind = await pooled();
    const store = postgresStore(behind.pool(), { listenPool: direct });
    const heard: (string | undefined)[] = [];
    const stop = store.subscribe((notice) => heard.push(notice?.threadId));
    const hears = async (count: number) => waitUntil(() => heard.length === count);
    await hears(1);
    await appendPlain(store, 't', { nextDeadline: 1 });
    await hears(2);
    expect(heard).toEqual([undefined, 't']);
    await stop();
  });
});

const done = { status: 'completed', effects: 1, cuts: 1 };
const uncut = { ...done, cuts: 0, rejections: 0 };

describe('a pooler that drops the connection of one side, or all, at each append of a call:', () => {
  test.each(
    parties.flatMap((who) =>
      (['before', 'during', 'after'] as const).map((when) => ({ who, when })),
    ),
  )('$when it ($who): it is written once, and the run goes on', async ({ who, when }) => {
    const ends = await cutAtEach({ who, when });
    const each = Array.from({ length: appends }, () => ({ ...done, rejections: 0 }));
    expect(ends).toEqual([...each, uncut]);
  });

  test('of everyone between request and answer: the thread goes on', async () => {
    await using behind = await pooled();
    const booking = bookingAgent(behind.pool());
    expect(await ask(booking.agent, 't')).toMatchObject({ status: 'waiting' });
    behind.pooler.dropAll();
    expect(await insist(booking, 't')).toMatchObject({ status: 'completed' });
    expect(booking.ran).toHaveLength(1);
  });
});
