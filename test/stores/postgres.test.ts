import { setImmediate as turn } from 'node:timers/promises';
import type { LogEntry, ThreadStore, ThreadSummary } from 'holdpoint';
import { storeConformance } from 'holdpoint/testing/store';
import { type PostgresStore, postgresSchema, postgresStore } from 'holdpoint/stores/postgres';
import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { stories } from '../stories/stories.ts';
import { describeChanges } from '../../src/testing/conformance/requests-in-case.ts';
import { errorCode } from '../support/error-code.ts';
import { appendPlain, plainEnd, plainEntry, plainSummary } from '../support/plain-entries.ts';
import { appendRows, opened } from '../support/row-requests.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { inMemoryKit } from '../support/scripted-model.ts';
import { travelWorld } from '../support/travel-world.ts';
import { waitUntil } from '../support/waiting.ts';
import { expectOneEffectEach } from './answer-at-once.ts';
import { countTrials, pickCases } from '../support/sampling.ts';

const rounds = countTrials(50);

const server = sharedPostgres();
afterAll(async () => server[Symbol.asyncDispose]());

/** Entries of one event each, after `revision`. */
const entries = (count: number, revision = 0, text = 'x'): LogEntry[] =>
  Array.from({ length: count }, (_, index) => plainEntry(revision + index + 1, text));
const appendTo = async (store: ThreadStore, revision: number, count = 1, text?: string) => {
  const summary = plainSummary('t', { revision: revision + count });
  await store.append('t', plainEnd(revision), entries(count, revision, text), summary);
};

/** What the server says of the connections with this name. */
async function backends(admin: Pool, name: string): Promise<{ pid: number; waits: boolean }[]> {
  const { rows } = await admin.query(
    `select pid, wait_event_type = 'Lock' as waits from pg_stat_activity where application_name = $1`,
    [name],
  );
  return rows;
}

async function terminate(admin: Pool, name: string): Promise<void> {
  for (const { pid } of await backends(admin, name)) {
    await admin.query('select pg_terminate_backend($1, 5000)', [pid]);
  }
}

/** Asks again until it is so; the test fails when it takes too long. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  await waitUntil(isSo, { interval: 5 });
}

describe('postgresStore', () => {
  /* The processes share one database, which is emptied before each test: creating one takes longer than most tests. */
  let pools: readonly Pool[] = [];
  beforeAll(async () => {
    const database = await server.createDatabase();
    pools = Array.from({ length: 4 }, () => server.pool(database, { max: 4 }));
    await pools[0]?.query(postgresSchema);
  });
  beforeEach(async () => {
    await pools[0]?.query(`
      truncate holdpoint_entries, holdpoint_threads, holdpoint_grants, holdpoint_requests,
        holdpoint_request_approvers, holdpoint_request_changes
    `);
  });

  /** Opens the store as several processes would: each has its own pool. */
  function openedStores(): () => PostgresStore {
    let count = 0;
    return () => {
      const pool = pools[count++ % pools.length];
      if (pool === undefined) throw new Error('The database is not there yet.');
      return postgresStore(pool);
    };
  }

  test.each(pickCases(storeConformance, 25))('$name', async ({ check }) => {
    const open = openedStores();
    await check(open(), open);
  });

  test.each(pickCases(stories, 3))('the story: $name', async ({ script, play }) => {
    await using played = await inMemoryKit.play(script);
    await play(travelWorld(played, openedStores()));
  });
});

describe('the schema', () => {
  test('is made once by many that come at once, and a first use that failed is no obstacle', async () => {
    const database = await server.createDatabase();
    const pools = Array.from({ length: 12 }, () => server.pool(database));
    await Promise.all(pools.map(async (pool) => pool.query('select')));
    const reads = pools.map(async (pool) => postgresStore(pool).read('t'));
    expect(await Promise.all(reads)).toEqual(pools.map(() => []));
    const late = postgresStore(server.pool(`${database}_later`));
    await expect(late.read('t')).rejects.toThrow('does not exist');
    await server.pool(database).query(`create database ${database}_later`);
    expect(await late.read('t')).toEqual([]);
  });

  test('lists threads in one order, whatever the language of the database', async () => {
    const store = postgresStore(server.pool(await server.createDatabase()));
    for (const id of ['a', 'é', 'B', 'C', '-d', '_']) {
      await appendPlain(store, id);
    }
    const ids = (await store.list({ after: { threadId: 'A', updatedAt: 0 } })).map(
      ({ threadId }) => threadId,
    );
    expect(ids).toEqual(['B', 'C', '_', 'a', 'é']);
  });

  test('can be left to a migration, that may run twice', async () => {
    const pool = server.pool(await server.createDatabase());
    const store = postgresStore(pool, { createSchema: false });
    await expect(store.read('t')).rejects.toThrow('holdpoint_entries');
    await pool.query(postgresSchema);
    await pool.query(postgresSchema);
    await appendTo(store, 0);
    expect(await store.read('t')).toHaveLength(1);
  });

  test('is not asked of a role that may only read and write', async () => {
    const database = await server.createDatabase();
    const owner = server.pool(database);
    await owner.query(postgresSchema);
    await owner.query(`
      create role clerk_${database} login password 'password';
      grant select, insert, update, delete on all tables in schema public to clerk_${database};
      grant usage on all sequences in schema public to clerk_${database};
    `);
    const store = postgresStore(server.pool(database, { user: `clerk_${database}` }));
    await appendTo(store, 0);
    await appendTo(store, 1);
    expect(await store.head('t')).toEqual(plainSummary('t', { revision: 2 }));
    await appendRows(store, 't', [opened('r')], 3);
    expect(describeChanges(await store.requests?.changes({ after: 0 }))).toEqual(['opened r']);
    await store.delete('t', plainEnd(3));
    expect(await store.head('t')).toBe(undefined);
  });
});

/** What a version before had in a database, besides what this one has. */
test('pages by time have the threads of all statuses, also of one that only a newer version writes', async () => {
  const pool = server.pool(await server.createDatabase());
  const store = postgresStore(pool);
  const statuses = ['idle', 'waiting', 'due', 'running', 'stuck', 'idle', 'waiting'] as const;
  for (const [index, status] of statuses.entries()) {
    await appendPlain(store, `t${index}`, { status, updatedAt: (index * 3) % 7 });
  }
  await pool.query(`update holdpoint_threads set status = 'paused' where thread_id = 't2'`);
  const newest = await store.list({ order: 'newest' });
  expect(newest.map(({ updatedAt }) => updatedAt)).toEqual([6, 5, 4, 3, 2, 1, 0]);
  expect(newest.find(({ threadId }) => threadId === 't2')?.status).toBe('indeterminate');
  const [, second] = newest;
  const page = await store.list({ order: 'newest', limit: 2, ...(second && { after: second }) });
  expect(page.map(({ updatedAt }) => updatedAt)).toEqual([4, 3]);
});

describe('an append', () => {
  test.each(['read committed', 'serializable'])(
    `has one winner in %s, ${rounds} times`,
    async (level) => {
      const database = await server.createDatabase();
      const options = `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`;
      const stores = [1, 2].map(() => postgresStore(server.pool(database, { options })));
      for (let round = 0; round < rounds; round++) {
        const codes = await Promise.all(
          stores.map(async (store) => errorCode(appendTo(store, round * 2, 2))),
        );
        expect(codes).toContain('no error');
        expect(codes).toContain('revision-conflict');
      }
      const { rows } = await server.pool(database).query('select count(*) from holdpoint_entries');
      expect(rows).toEqual([{ count: String(2 * rounds) }]);
    },
  );

  test.each([
    ['the thread', 'select from holdpoint_threads for update'],
    ['the last entry', `insert into holdpoint_entries values ('t', 4, '')`],
  ])('whose connection is cut while it waits for %s writes nothing', async (_, hold) => {
    const database = await server.createDatabase();
    const admin = server.pool(database);
    const store = postgresStore(server.pool(database, { application_name: 'cut' }));
    await appendTo(store, 0);
    const holder = await admin.connect();
    await holder.query('begin');
    await holder.query(hold);
    const cut = errorCode(appendTo(store, 1, 3));
    await until(async () => (await backends(admin, 'cut')).some(({ waits }) => waits));
    await terminate(admin, 'cut');
    expect(await cut).toBeInstanceOf(Error);
    await holder.query('rollback');
    holder.release();
    expect(await store.read('t')).toHaveLength(1);
    expect(await store.head('t')).toEqual(plainSummary('t'));
    await appendTo(store, 1, 3);
    expect(await store.head('t')).toEqual(plainSummary('t', { revision: 4 }));
  });

  test('of a run that goes on writes to no index, and keeps the time since which its lease holds', async () => {
    const pool = server.pool(await server.createDatabase(), { max: 1 });
    const store = postgresStore(pool);
    const append = async (revision: number, more: Partial<ThreadSummary>): Promise<void> =>
      appendPlain(store, 't', { revision, updatedAt: revision, ...more });
    const running = { status: 'running', nextDeadline: 60_000 } as const;
    await append(1, { status: 'due', nextDeadline: 0 });
    for (let revision = 2; revision <= 9; revision += 1) await append(revision, running);
    expect(await store.head('t')).toMatchObject({ revision: 9, updatedAt: 2 });
    await append(10, { ...running, nextDeadline: 80_000 });
    expect(await store.head('t')).toMatchObject({ updatedAt: 10 });
    await append(11, {});
    expect(await store.head('t')).toMatchObject({ updatedAt: 11 });
    await pool.query('select pg_stat_force_next_flush()');
    const { rows } = await pool.query(
      `select n_tup_upd, n_tup_hot_upd from pg_stat_user_tables where relname = 'holdpoint_threads'`,
    );
    expect(rows).toEqual([{ n_tup_upd: '10', n_tup_hot_upd: '7' }]);
  });

  test('whose connection is cut at any time is written whole or not at all', async () => {
    const database = await server.createDatabase();
    const admin = server.pool(database);
    const store = postgresStore(server.pool(database, { application_name: 'cut' }));
    const text = 'x'.repeat(20_000);
    let revision = 0;
    for (let round = 0; round < 30; round++) {
      const cut = errorCode(appendTo(store, revision, 20, text));
      await turn();
      await terminate(admin, 'cut');
      const code = await cut;
      const after = await postgresStore(admin).read('t', revision);
      expect([0, 20]).toContain(after.length);
      expect(code === 'no error' && after.length === 0).toBe(false);
      revision += after.length;
      expect((await postgresStore(admin).head('t'))?.revision ?? 0).toBe(revision);
    }
  });
});

describe('a claim', () => {
  test.each(['read committed', 'serializable'])('has no thread for two in %s', async (level) => {
    const database = await server.createDatabase();
    const options = `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`;
    const stores = [1, 2, 3].map(() => postgresStore(server.pool(database, { options })));
    const ids = Array.from({ length: 60 }, (_, index) => `t${index}`);
    const writer = postgresStore(server.pool(database));
    for (const id of ids) await appendPlain(writer, id, { nextDeadline: 1 });
    const claim = { agent: null, dueBefore: 2, until: 9, limit: 4 };
    const given: string[] = [];
    while (given.length < ids.length) {
      const claims = await Promise.all(stores.map(async (store) => store.claim(claim)));
      given.push(...claims.flat().map(({ threadId }) => threadId));
    }
    expect(given.toSorted()).toEqual(ids.toSorted());
  });

  test('waits for no append that is under way, and gives the other threads', async () => {
    const database = await server.createDatabase();
    const store = postgresStore(server.pool(database));
    for (const id of ['a', 'b', 'c']) await appendPlain(store, id, { nextDeadline: 1 });
    const holder = await server.pool(database).connect();
    await holder.query('begin');
    await holder.query(`select from holdpoint_threads where thread_id = 'b' for update`);
    const claim = { agent: null, dueBefore: 2, until: 9, limit: 9 };
    const ids = (await store.claim(claim)).map(({ threadId }) => threadId);
    expect(ids).toEqual(['a', 'c']);
    expect(await store.claim({ ...claim, threadId: 'b' })).toEqual([]);
    await holder.query('rollback');
    holder.release();
    expect(await store.claim(claim)).toHaveLength(1);
  });
});

describe('the clock', () => {
  test('is the one of the server, whatever this machine takes the time for', async () => {
    const pool = server.pool(await server.createDatabase());
    const store = postgresStore(pool);
    const serverTime = async (): Promise<number> =>
      Number(
        (await pool.query('select extract(epoch from clock_timestamp()) * 1000 as ms')).rows[0]?.ms,
      );
    const before = await serverTime();
    vi.useFakeTimers({ toFake: ['Date'], now: 0 });
    const now = await store.now().finally(() => vi.useRealTimers());
    expect(now).toBeGreaterThanOrEqual(Math.floor(before));
    expect(now).toBeLessThanOrEqual(await serverTime());
  });
});

/* Fewer than in the deep test. */
test('40 approvals, answered by 8 agents at once, all of them by each: 40 effects', async () => {
  await expectOneEffectEach(server, 5);
});
