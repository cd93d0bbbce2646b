import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createAgent, type StoreNotice, type ThreadStore } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { sqliteStoreOn } from 'holdpoint/stores/sqlite-on';
import { describe, expect, test } from 'vitest';
import { appendOnce } from '../../src/thread/append-once.ts';
import { errorCode } from '../support/error-code.ts';
import { nodeDriver } from '../support/node-driver.ts';
import { appendPlain, plainEnd, plainEntry, plainSummary } from '../support/plain-entries.ts';
import { createGrants, plainGrant, uses, usesLeft } from '../support/plain-grants.ts';
import { appendRows, closed, opened, plainRow } from '../support/row-requests.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, travelWorld } from '../support/travel-world.ts';
import { withSqliteStore } from '../support/with-sqlite-store.ts';
import type { SqliteHooks } from '../../src/stores/sqlite-on/hooks.ts';

const insertJob = 'insert into jobs (name) values (?)';

/** A store with hooks, in a database that has a table for them. */
function storeWithJobs(hooks: SqliteHooks) {
  const database = new DatabaseSync(':memory:');
  database.exec('create table jobs (name text not null unique) strict');
  return {
    store: sqliteStoreOn(nodeDriver(database), hooks),
    jobs: (): unknown[] =>
      database
        .prepare('select name from jobs order by rowid')
        .all()
        .map(({ name }) => name),
  };
}

const noting: SqliteHooks = {
  onRequests: (changes, { run }) => {
    for (const { type, request } of changes) run(insertJob, [`${type} ${request.requestId}`]);
  },
  onWake: async ({ threadId, status }, { run }) => run(insertJob, [`${threadId} is ${status}`]),
};

describe('a hook of a SQLite store', () => {
  test('writes with the append that opens or closes a request, or after which no run holds the thread', async () => {
    const { store, jobs } = storeWithJobs(noting);
    const waiting = plainSummary('t', { status: 'waiting' });
    await store.append('t', plainEnd(0), [plainEntry(1)], waiting, {
      requests: [opened('a'), opened('b')],
    });
    const running = plainSummary('t', { revision: 2, status: 'running' });
    await store.append('t', plainEnd(1), [plainEntry(2)], running, {
      requests: [closed('a')],
    });
    await appendPlain(store, 't', { revision: 3 });
    const first = ['opened a', 'opened b', 't is waiting'];
    expect(jobs()).toEqual([...first, 'closed a', 't is idle']);
  });

  test('is called by a store in a file too, and its wake has when the thread is due', async () => {
    const { model } = scriptedModel([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }]);
    const wakes: unknown[] = [];
    await withSqliteStore(async (_, path) => {
      const options: SqliteHooks = { onWake: (wake) => wakes.push(wake) };
      using store = sqliteStore(path, options);
      const world = travelWorld({ model, requests: 0 }, () => store);
      const agent = world.agent({ name: 'sales' });
      const { thread, approvalRequests } = await agent.run('Book', await agent.thread('t'));
      const answers = approvalRequests.map((request) => request.approve());
      await agent.respond(answers, thread);
      await agent.run([], thread);
    });
    expect(wakes).toEqual([
      expect.objectContaining({ threadId: 't', agent: 'sales', status: 'waiting' }),
      expect.objectContaining({ threadId: 't', agent: 'sales' }),
      expect.objectContaining({ threadId: 't', agent: 'sales', status: 'idle' }),
    ]);
  });

  test.each<[string, number, Parameters<typeof uses>, string]>([
    ['that a concurrent one prevented', 0, [], 'revision-conflict'],
    ['whose thread is gone on, and whose grant has ended', 0, ['used up'], 'revision-conflict'],
    ['whose grant has ended', 1, ['used up'], 'grant-ended'],
    ['of which one of two grants has ended', 1, ['left', 'used up'], 'grant-ended'],
  ])('writes nothing for an append %s', async (_, expected, grantIds, code) => {
    const { store, jobs } = storeWithJobs(noting);
    await createGrants(store, plainGrant('left', { usesLeft: 1 }));
    await appendPlain(store, 't');
    const before = jobs();
    const appending = store.append(
      't',
      plainEnd(expected),
      [plainEntry(expected + 1)],
      plainSummary('t', { revision: expected + 1 }),
      { requests: [opened('a')], grants: uses(...grantIds) },
    );
    expect(await errorCode(appending)).toBe(code);
    expect(jobs()).toEqual(before);
    expect(await store.read('t')).toHaveLength(1);
    expect(await store.requests?.count({})).toBe(0);
    expect(await usesLeft(store)).toEqual({ left: 1 });
  });

  test.each<[string, SqliteHooks, string]>([
    [
      'onWake throws',
      {
        onWake() {
          throw new Error('The queue is down.');
        },
      },
      'onWake failed, so nothing was appended: The queue is down.',
    ],
    [
      'onRequests rejects',
      { onRequests: async () => Promise.reject(new Error('No.')) },
      'onRequests failed, so nothing was appended: No.',
    ],
    [
      'a statement of it fails',
      { onWake: (_, { run }) => run('insert into nowhere values (1)') },
      'no such table: nowhere',
    ],
    [
      'a row of it exists (regression: on Postgres the append was repeated for ever)',
      {
        onRequests: (_, { run }) => {
          run(insertJob, ['twice']);
          run(insertJob, ['twice']);
        },
      },
      'UNIQUE constraint failed: jobs.name',
    ],
  ])('takes the append with it when %s', async (_, hooks, message) => {
    const { store, jobs } = storeWithJobs(hooks);
    const appending = appendRows(store, 't', [opened('a')]);
    await expect(appending).rejects.toThrow(message);
    expect(await store.read('t')).toEqual([]);
    expect(await store.head('t')).toBeUndefined();
    expect(await store.requests?.count({})).toBe(0);
    expect(jobs()).toEqual([]);
  });

  test('adds its rows once where the reply of the append is lost and it is made again', async () => {
    const { store, jobs } = storeWithJobs(noting);
    const lossy: ThreadStore = {
      ...store,
      async append(...input) {
        await store.append(...input);
        throw new Error('The reply is lost.');
      },
    };
    const append = { end: plainEnd(0), entry: plainEntry(1), summary: plainSummary('t') };
    expect(await appendOnce(lossy, 't', append)).toBe(true);
    expect(await store.read('t')).toHaveLength(1);
    expect(jobs()).toEqual(['t is idle']);
  });

  test('fails a run with its error, and does not repeat the append for ever', async () => {
    let calls = 0;
    const { store } = storeWithJobs({
      onWake(_, { run }) {
        calls += 1;
        run('insert into holdpoint_threads (thread_id) values (null)');
      },
    });
    const { model } = scriptedModel([{ text: 'Hello.' }]);
    const agent = createAgent({ model, store });
    await expect(agent.run('Hello', await agent.thread('t'))).rejects.toThrow('NOT NULL');
    expect(calls).toBeLessThan(10);
  });

  test('can add nothing once it has returned', async () => {
    const late: (() => void)[] = [];
    const { store, jobs } = storeWithJobs({
      onWake: (_, { run }) => late.push(() => run(insertJob, ['late'])),
    });
    await appendPlain(store, 't');
    expect(late[0]).toThrow('Call run before onWake ends');
    expect(jobs()).toEqual([]);
  });

  test('changes nothing in the batch of an append for which it adds nothing', async () => {
    const sizes: number[] = [];
    const driver = nodeDriver(new DatabaseSync(':memory:'));
    const store = sqliteStoreOn(
      {
        ...driver,
        batch(statements) {
          sizes.push(statements.length);
          return driver.batch(statements);
        },
      },
      { onWake: () => {}, onRequests: () => {} },
    );
    await appendPlain(store, 't');
    await appendRows(store, 't', [opened('a')], 2);
    expect(sizes.slice(1)).toEqual([2, 5]);
  });
});

describe('requests in SQLite', () => {
  test('are written with the append, or not at all', async () => {
    const store = sqliteStoreOn(nodeDriver(new DatabaseSync(':memory:')));
    await appendPlain(store, 't');
    const named = { approvers: ['ada'] };
    for (const change of [opened('a', named), closed('a', named)]) {
      const stale = appendRows(store, 't', [change]);
      expect(await errorCode(stale)).toBe('revision-conflict');
    }
    expect(await store.requests?.count({})).toBe(0);
    expect(await store.requests?.changes({ after: 0 })).toEqual([]);
    const found = await store.requests?.list({ state: 'open', approver: ['ada'] });
    expect(found).toEqual([]);
  });

  test('stay open when the append that would close them is not made, for those who are named too', async () => {
    const store = sqliteStoreOn(nodeDriver(new DatabaseSync(':memory:')));
    const named = { approvers: ['ada'] };
    const open = plainRow('a', named);
    await appendRows(store, 't', [opened('a', named)]);
    const closing = appendRows(store, 't', [closed('a', named)]);
    expect(await errorCode(closing)).toBe('revision-conflict');
    expect(await store.requests?.list({ state: 'open', approver: ['ada'] })).toEqual([open]);
    await store.delete('t', plainEnd(7)).catch(() => {});
    expect(await store.requests?.list({ state: 'open', approver: ['ada'] })).toEqual([open]);
    expect(await store.requests?.changes({ after: 0 })).toHaveLength(1);
  });

  test('are left out with requests: false, but deleted with their thread', async () => {
    const driver = nodeDriver(new DatabaseSync(':memory:'));
    const store = sqliteStoreOn(driver);
    await appendRows(store, 't', [opened('a')]);
    const without: ThreadStore = sqliteStoreOn(driver, { requests: false });
    expect(without.requests).toBeUndefined();
    await without.delete('t', plainEnd(1));
    expect(await store.requests?.count({})).toBe(0);
    await withSqliteStore(async (_, path) => {
      using file = sqliteStore(path, { requests: false });
      expect(file).not.toHaveProperty('requests');
    });
  });

  test('of a changed thread have no row with an approver who is no longer named', async () => {
    const store = sqliteStoreOn(nodeDriver(new DatabaseSync(':memory:')));
    await appendRows(store, 't', [opened('a', { approvers: ['ada', 'ada'] })]);
    const request = plainRow('a', { approvers: ['bob'] });
    await appendRows(store, 't', [{ type: 'changed', request }], 2);
    expect(await store.requests?.list({ state: 'open', approver: ['ada'] })).toEqual([]);
    expect(await store.requests?.list({ state: 'open', approver: ['bob'] })).toEqual([request]);
  });

  test('are told of at once, whatever becomes of the thread, and with the notice of its deadline', async () => {
    await withSqliteStore(async (store) => {
      const heard: (StoreNotice | undefined)[] = [];
      const stop = store.subscribe((notice) => heard.push(notice));
      await appendRows(store, 't', [opened('a'), opened('b')]);
      const running = plainSummary('t', { revision: 2, status: 'running', nextDeadline: 5 });
      const requests = [closed('a')];
      await store.append('t', plainEnd(1), [plainEntry(2)], running, { requests });
      await Promise.resolve();
      expect(heard).toEqual([
        { type: 'thread', threadId: 't', requestIds: ['a', 'b'] },
        { type: 'thread', threadId: 't', nextDeadline: 5, requestIds: ['a'] },
      ]);
      await stop();
    });
  });

  test('go with a thread however its row is deleted', async () => {
    await withSqliteStore(async (store, path) => {
      await appendRows(store, 't', [opened('a', { approvers: ['ada'] }), closed('b')]);
      await appendRows(store, 'u', [opened('c', { approvers: ['ada'] })]);
      using database = new DatabaseSync(path);
      database.exec("delete from holdpoint_entries where thread_id = 't'");
      database.exec("delete from holdpoint_threads where thread_id = 't' and revision = 1");
      const { requests } = store;
      expect(await requests?.list({})).toMatchObject([{ requestId: 'c' }]);
      const [last] = (await requests?.changes({ after: 3 })) ?? [];
      expect(last).toMatchObject({ type: 'deleted', requestId: 'a', threadId: 't' });
      const approvers = database
        .prepare('select request_id from holdpoint_request_approvers')
        .all();
      expect(approvers).toEqual([{ request_id: 'c' }]);
      expect(await requests?.deleteChanges({ before: Date.now() - 60_000 })).toBe(0);
    });
  });

  test.each(['a thread with an open one is deleted', 'a thread is deleted', 'they are erased'])(
    'leave no byte of their text in the file when %s',
    async (what) => {
      const isOpen = what.includes('open');
      await withSqliteStore(async (store, _path, folder) => {
        const marker = 'the-secret-of-request';
        const holders = (): string[] =>
          readdirSync(folder).filter((file) => readFileSync(join(folder, file)).includes(marker));
        const ids = Array.from({ length: 40 }, (_each, round) => `secret ${round}`);
        /* Of sizes that split and merge pages. */
        for (const [round, id] of ids.entries()) {
          const other = `other ${round}`;
          await appendRows(store, other, [
            opened(other, { text: 'x'.repeat((round * 131) % 1_500) }),
          ]);
          const text = `${marker} ${'x'.repeat((round * 977) % 3_000)}`;
          await appendRows(store, id, [opened(id, { text })]);
          if (!isOpen) await appendRows(store, id, [closed(id, { text })], 2);
        }
        expect(holders()).not.toEqual([]);
        for (const id of ids) {
          if (what.includes('erased')) await store.requests?.erase(id);
          else await store.delete(id, plainEnd(isOpen ? 1 : 2));
        }
        expect(holders()).toEqual([]);
        expect(await store.requests?.count({ state: 'open' })).toBe(40);
      });
    },
  );
});

test('a store without requests takes no hook that is for them alone', () => {
  const driver = nodeDriver(new DatabaseSync(':memory:'));
  const hooks: SqliteHooks = { onRequests: () => {} };
  expect(() => sqliteStoreOn(driver, { ...hooks, requests: false })).toThrow(TypeError);
  expect(() => sqliteStore(':memory:', { ...hooks, requests: false })).toThrow(/never called/);
  expect(sqliteStoreOn(driver, { ...hooks }).requests).toBeDefined();
  expect(sqliteStoreOn(driver, { onWake: () => {}, requests: false }).requests).toBeUndefined();
});
