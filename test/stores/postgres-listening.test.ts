import { type PostgresPool, postgresStore } from 'holdpoint/stores/postgres';
import type { Pool } from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { listening } from '../support/listening.ts';
import { appendPlain } from '../support/plain-entries.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { waitUntil } from '../support/waiting.ts';

type Connection = Awaited<ReturnType<PostgresPool['connect']>>;
type Result = Awaited<ReturnType<PostgresPool['query']>>;

const server = sharedPostgres();
afterAll(async () => server[Symbol.asyncDispose]());

/** Asks again until it is so; the test fails when it takes too long. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  await waitUntil(isSo, { interval: 5 });
}

async function terminate(admin: Pool, name: string): Promise<void> {
  await admin.query(
    'select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = $1',
    [name],
  );
}

const due = (revision: number) => ({ revision, nextDeadline: 5 });
const notice = { type: 'thread', threadId: 't', nextDeadline: 5 };

describe('subscribe', () => {
  test('hears the appends of others, tells of every new connection, and ends when told', async () => {
    const database = await server.createDatabase();
    const admin = server.pool(database);
    const writer = postgresStore(server.pool(database));
    const ears = server.pool(database, { application_name: 'ears' });
    /* A pool for that alone: it would hand out other connections that were dropped with it. */
    const store = postgresStore(server.pool(database), { listenPool: ears });
    const { heard, hears, stop } = listening(store);
    await hears(1);
    await appendPlain(writer, 't', due(1));
    await hears(2);
    await expect(appendPlain(writer, 't', due(1))).rejects.toThrow('revision');
    await terminate(admin, 'ears');
    await hears(3);
    await appendPlain(writer, 't', due(2));
    await hears(4);
    expect(heard).toEqual([undefined, notice, undefined, notice]);
    await stop();
    await appendPlain(writer, 't', due(3));
    expect(ears.totalCount).toBe(0);
    expect(heard).toHaveLength(4);
  });

  test('tells whose thread it is, and nothing of threads that are running or have no deadline', async () => {
    const store = postgresStore(server.pool(await server.createDatabase()));
    const { heard, hears, stop } = listening(store);
    await hears(1);
    await appendPlain(store, 'running', { status: 'running', nextDeadline: 5 });
    await appendPlain(store, 'idle');
    await appendPlain(store, 'waiting', { status: 'waiting', nextDeadline: 0, agent: 'é"\\' });
    await hears(2);
    expect(heard[1]).toEqual({
      type: 'thread',
      threadId: 'waiting',
      agent: 'é"\\',
      nextDeadline: 0,
    });
    await stop();
  });

  test('takes a notification that says something else, or nothing, for "anything may have changed"', async () => {
    const pool = server.pool(await server.createDatabase());
    const store = postgresStore(pool);
    const { heard, hears, stop } = listening(store);
    await hears(1);
    for (const payload of ['', 't', '{}', '{"threadId":1}', 'null']) {
      await pool.query(`select pg_notify('holdpoint', $1)`, [payload]);
    }
    await appendPlain(store, 't', { nextDeadline: 5, agent: 'x'.repeat(8_000) });
    await hears(7);
    expect(heard).toEqual(heard.map(() => undefined));
    await stop();
  });

  test('of many listens on one connection, and the store works beside them in a pool of two', async () => {
    const pool = server.pool(await server.createDatabase(), { max: 2 });
    const store = postgresStore(pool);
    const ears = Array.from({ length: 20 }, () => listening(store));
    await Promise.all(ears.map(async ({ hears }) => hears(1)));
    await appendPlain(store, 't', due(1));
    await Promise.all(ears.map(async ({ hears }) => hears(2)));
    /* The first notice of a store makes it read which tables are its own. */
    await until(() => pool.totalCount - pool.idleCount === 1);
    for (const { stop } of ears.slice(1)) await stop();
    await appendPlain(store, 't', due(2));
    await ears[0]?.hears(3);
    expect(ears[1]?.heard).toHaveLength(2);
    await ears[0]?.stop();
    await until(() => pool.totalCount === pool.idleCount);
    const again = listening(store);
    await again.hears(1);
    await again.stop();
  });

  test('is refused by a pool of one connection, of which nothing would be left for queries', async () => {
    const database = await server.createDatabase();
    const pool = server.pool(database, { max: 1 });
    expect(() => postgresStore(pool).subscribe(() => {})).toThrow(TypeError);
    expect(() => postgresStore(pool).subscribe(() => {})).toThrow(/max of 2 or more.*listenPool/);
    const listenPool = server.pool(database, { max: 1 });
    const { hears, stop } = listening(postgresStore(pool, { listenPool }));
    await hears(1);
    expect([pool.totalCount, listenPool.totalCount]).toEqual([0, 1]);
    await stop();
  });
});

/** A pool whose server answers when the test says so. */
function slowPool(answer = Promise.resolve<Result>({ rows: [], rowCount: 0 })) {
  const { promise: connected, resolve: connect } = Promise.withResolvers<Connection>();
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<boolean>();
  const connection: Connection = {
    query: async () => {
      ask();
      return answer;
    },
    on: () => {},
    release,
  };
  const pool: PostgresPool = {
    query: async () => ({ rows: [], rowCount: 0 }),
    connect: async () => connected,
    options: { max: 2 },
  };
  return { pool, connect: () => connect(connection), asked, released };
}

describe('a subscription that ends', () => {
  test('waits for no connection that does not come, and closes one that comes late', async () => {
    const { pool, connect, released } = slowPool();
    const stop = postgresStore(pool).subscribe(() => {});
    await stop();
    connect();
    expect(await released).toBe(true);
  });

  test('waits for no server that does not answer', async () => {
    const { pool, connect, asked, released } = slowPool(new Promise(() => {}));
    const stop = postgresStore(pool).subscribe(() => {});
    connect();
    await asked;
    await stop();
    expect(await released).toBe(true);
  });
});
