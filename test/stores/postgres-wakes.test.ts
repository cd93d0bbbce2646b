import { createAgent } from 'holdpoint';
import {
  type OnWake,
  type PostgresPool,
  postgresSchema,
  postgresStore,
} from 'holdpoint/stores/postgres';
import { afterAll, describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { appendPlain, plainEnd, plainEntry, plainSummary } from '../support/plain-entries.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { book, travelWorld } from '../support/travel-world.ts';

const server = sharedPostgres();
afterAll(async () => server[Symbol.asyncDispose]());

const onWake: OnWake = async (wake, transaction) =>
  transaction.query('insert into wakes (wake) values ($1)', [JSON.stringify(wake)]);

/** A schema with a table of wakes, for the hook. */
async function wakeTable() {
  const place = await server.createSchema();
  const pool = server.pool(place);
  await pool.query('create table wakes (id serial, wake json not null)');
  const wakes = async (): Promise<Parameters<OnWake>[0][]> =>
    (await pool.query('select wake from wakes order by id')).rows.map(({ wake }) => wake);
  return { place, pool, wakes };
}

describe('onWake', () => {
  test('is called when no run holds the thread any more: it waits, is due, or is done', async () => {
    const { pool, wakes } = await wakeTable();
    const { model } = scriptedModel([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }]);
    const world = travelWorld({ model, requests: 0 }, () => postgresStore(pool, { onWake }));
    const agent = world.agent({ name: 'sales' });
    const { thread, approvalRequests } = await agent.run('Book', await agent.thread('t'));
    await agent.respond(
      approvalRequests.map((request) => request.approve()),
      thread,
    );
    await agent.run([], thread);
    const wake = { threadId: 't', agent: 'sales' };
    expect(await wakes()).toEqual([
      { ...wake, status: 'waiting' },
      { ...wake, status: 'due', nextDeadline: 0 },
      { ...wake, status: 'idle' },
    ]);
  });

  test('has the time of the next attempt after a run that failed, and not now', async () => {
    const { pool, wakes } = await wakeTable();
    const { model } = scriptedModel([{ fail: 'overloaded' }]);
    const agent = createAgent({ model, store: postgresStore(pool, { onWake }), maxRetries: 0 });
    const thread = await agent.thread('t');
    await expect(agent.run('Hello', thread)).rejects.toThrow('overloaded');
    const [wake, ...others] = await wakes();
    expect(others).toEqual([]);
    expect(wake?.nextDeadline).toBe(thread.nextDeadline);
    expect(wake?.nextDeadline).toBeGreaterThan(agent.now());
  });

  test('writes nothing for an append that a concurrent one prevented', async () => {
    const { pool, wakes } = await wakeTable();
    const store = postgresStore(pool, { onWake });
    await appendPlain(store, 't');
    const stale = store.append('t', plainEnd(0), [plainEntry(1)], plainSummary('t'));
    expect(await errorCode(stale)).toBe('revision-conflict');
    expect(await wakes()).toHaveLength(1);
  });

  test('takes the append with it when it fails, and the connection can be used again', async () => {
    const { place, wakes } = await wakeTable();
    const one = server.pool(place, { max: 1 });
    const failing = postgresStore(one, {
      onWake: async (_wake, transaction) => {
        await transaction.query("insert into wakes (wake) values ('{}')");
        await transaction.query('select from nowhere');
      },
    });
    await expect(appendPlain(failing, 't')).rejects.toThrow('nowhere');
    expect(await failing.read('t')).toEqual([]);
    expect(await wakes()).toEqual([]);
  });

  test('fails the append when it ignores that its query failed (regression: the append was lost and reported as made)', async () => {
    const { pool } = await wakeTable();
    const careless = postgresStore(pool, {
      onWake: async (_wake, transaction) =>
        transaction.query('select from nowhere').catch(() => {}),
    });
    await expect(appendPlain(careless, 't')).rejects.toThrow('transaction is aborted');
    expect(await careless.read('t')).toEqual([]);
  });

  test('can not use the transaction once it has returned', async () => {
    const { pool, wakes } = await wakeTable();
    const late = Promise.withResolvers<void>();
    const ended: Promise<unknown>[] = [];
    const store = postgresStore(pool, {
      onWake: async (wake, transaction) => {
        await onWake(wake, transaction);
        ended.push(late.promise.then(async () => transaction.query('select from nowhere')));
      },
    });
    await appendPlain(store, 't');
    late.resolve();
    await expect(ended[0]).rejects.toThrow('Await every query in onWake');
    expect(await store.read('t')).toHaveLength(1);
    expect(await wakes()).toHaveLength(1);
  });

  test('fails the append with its own error, also with that of a unique index (regression: the append was repeated for ever)', async () => {
    const { pool } = await wakeTable();
    await pool.query('create table jobs (id text unique)');
    await pool.query("insert into jobs values ('t')");
    const { model } = scriptedModel([{ text: 'Hello.' }]);
    const store = postgresStore(pool, {
      onWake: async ({ threadId }, transaction) =>
        transaction.query('insert into jobs values ($1)', [threadId]),
    });
    const agent = createAgent({ model, store });
    await expect(agent.run('Hello', await agent.thread('t'))).rejects.toThrow('duplicate key');
  });

  test('fails the append with the error of a constraint that is checked at the end of its transaction', async () => {
    const { pool } = await wakeTable();
    await pool.query('create table jobs (id text unique deferrable initially deferred)');
    await pool.query("insert into jobs values ('t')");
    const { model } = scriptedModel([{ text: 'Hello.' }]);
    let wakes = 0;
    const store = postgresStore(pool, {
      onWake: async ({ threadId }, transaction) => {
        wakes += 1;
        if (wakes > 10) throw new Error('The append is repeated for ever.');
        await transaction.query('insert into jobs values ($1)', [threadId]);
      },
    });
    const agent = createAgent({ model, store });
    await expect(agent.run('Hello', await agent.thread('t'))).rejects.toThrow('duplicate key');
  });

  test('takes one statement for an append when it writes nothing', async () => {
    const { pool } = await wakeTable();
    const statements: string[] = [];
    const counted: PostgresPool = {
      async query(asked) {
        statements.push(asked.text);
        return pool.query(asked);
      },
      connect: async () => Promise.reject(new Error('A connection is held.')),
    };
    const store = postgresStore(counted, { createSchema: false, onWake: () => {} });
    await pool.query(postgresSchema);
    await appendPlain(store, 't');
    expect(statements).toHaveLength(1);
  });
});
