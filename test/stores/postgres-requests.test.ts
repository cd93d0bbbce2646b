import type { HoldpointErrorCode, ThreadStore } from 'holdpoint';
import { type PostgresPool, postgresStore } from 'holdpoint/stores/postgres';
import { afterAll, describe, expect, test } from 'vitest';
import { describeChanges } from '../../src/testing/conformance/requests-in-case.ts';
import { errorCode } from '../support/error-code.ts';
import { listening } from '../support/listening.ts';
import { appendPlain, plainEnd, plainEntry, plainSummary } from '../support/plain-entries.ts';
import { createGrants, plainGrant, uses, usesLeft } from '../support/plain-grants.ts';
import { appendRows, closed, opened, plainRow, requestsOf } from '../support/row-requests.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { holdCommits, recordTexts } from '../support/watched-pool.ts';
import { pickCases } from '../support/sampling.ts';

const server = sharedPostgres();
afterAll(async () => server[Symbol.asyncDispose]());

const levels = ['read committed', 'repeatable read', 'serializable'];

/** A new schema with this isolation level, and pools of processes that share it. */
async function pools(level = 'read committed') {
  const place = await server.createSchema();
  const options = `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`;
  return [1, 2, 3].map(() => server.pool(place, { options }));
}

/** A store on a new schema. */
async function oneStore() {
  const [pool] = await pools();
  if (pool === undefined) throw new Error('There are pools.');
  return { pool, store: postgresStore(pool), requests: requestsOf(postgresStore(pool)) };
}

/** Appends as the agent does: again after a conflict, which in some levels any other write may be. */
async function appendUntil(...input: Parameters<typeof appendRows>): Promise<void> {
  const code = await errorCode(appendRows(...input));
  if (code === ('revision-conflict' satisfies HoldpointErrorCode)) return appendUntil(...input);
  if (code !== 'no error') throw code;
}

const openTo = async (store: ThreadStore, ...approver: string[]) =>
  (await requestsOf(store).list({ state: 'open', approver })).map(({ requestId }) => requestId);

/** Finds a statement that waits for another transaction. */
const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

/** What an append writes beside its requests. */
const besides = [
  { name: 'nothing else', beside: {} },
  { name: 'a snapshot', beside: { snapshot: 'taken' } },
  {
    name: 'standing approvals',
    beside: { grants: uses('g') },
  },
];

describe('an append that changes requests', () => {
  test.each(pickCases(besides, 3))(
    'writes them beside $name in one statement, prepared under a name of its own',
    async ({ beside }) => {
      const { pool } = await oneStore();
      await createGrants(postgresStore(pool), plainGrant('g', { usesLeft: 2 }));
      await postgresStore(pool).requests?.count({});
      const names = new Map<string | undefined, string>();
      const recording: PostgresPool = {
        connect: async () => Promise.reject(new Error('A connection is held.')),
        async query(query) {
          /* Notices are sent after it. */
          if (query.name !== 'holdpoint-notify') names.set(query.name, query.text);
          return pool.query(query);
        },
      };
      const store = postgresStore(recording, { prepare: true, createSchema: false });
      for (const [revision, change] of [opened('r'), closed('r')].entries()) {
        const summary = plainSummary('t', { revision: revision + 1 });
        const entries = [plainEntry(revision + 1)];
        const requests = [change];
        await store.append('t', plainEnd(revision), entries, summary, { ...beside, requests });
      }
      expect([...names.keys()].filter((name) => name?.endsWith('-requests'))).toHaveLength(2);
      expect(names.size).toBe(2);
      expect(await store.requests?.get('r')).toEqual(closed('r').request);
      expect(await store.read('t')).toHaveLength(2);
      expect(await store.snapshots?.read('t')).toBe(beside.snapshot);
      expect(await usesLeft(store)).toEqual(beside.grants === undefined ? { g: 2 } : {});
      expect(describeChanges(await store.requests?.changes({ after: 0 }))).toEqual([
        'opened r',
        'closed r',
      ]);
    },
  );

  test('writes nothing of them after a concurrent append, nor when a standing approval has ended', async () => {
    const { store, requests } = await oneStore();
    await appendRows(store, 't', [opened('r')]);
    expect(await errorCode(appendRows(store, 't', [closed('r')]))).toBe('revision-conflict');
    const beside = { grants: uses('none'), requests: [closed('r')] };
    const summary = plainSummary('t', { revision: 2 });
    const append = store.append('t', plainEnd(1), [plainEntry(2)], summary, beside);
    expect(await errorCode(append)).toBe('grant-ended');
    expect(await requests.get('r')).toEqual(plainRow('r'));
    expect(describeChanges(await requests.changes({ after: 0 }))).toEqual(['opened r']);
  });

  test('finds a request by those whom it names now: a new one, nobody, and no more when it is closed', async () => {
    const { store } = await oneStore();
    await appendRows(store, 't', [opened('r', { approvers: ['ada', 'bob'] }), opened('free')]);
    expect(await openTo(store, 'ada')).toEqual(['free', 'r']);
    const reassigned = { ...plainRow('r', { approvers: ['bob', 'cem'], expiresAt: 1e15 }) };
    await appendRows(store, 't', [{ type: 'changed', request: reassigned }], 2);
    expect(await openTo(store, 'ada')).toEqual(['free']);
    expect(await openTo(store, 'ada', 'cem', 'bob')).toEqual(['free', 'r']);
    const [, row] = await requestsOf(store).list({
      state: 'open',
      approver: ['bob'],
      order: 'newest',
    });
    expect(row?.expiresAt).toBe(1e15);
    await appendRows(store, 't', [closed('r', { approvers: ['bob', 'cem'] })], 3);
    expect(await openTo(store, 'ada', 'cem', 'bob')).toEqual(['free']);
    const decided = await requestsOf(store).list({ state: 'decided', approver: ['cem'] });
    expect(decided.map(({ requestId }) => requestId)).toEqual(['r']);
  });

  test('keeps what Postgres can store of names that it can not', async () => {
    const { store, requests } = await oneStore();
    const long = 'x'.repeat(10_000);
    const odd = `a\0b\uD800"\\${long}`;
    const kept = `a\uFFFDb\uFFFD"\\${long}`;
    const key = kept.slice(0, 256);
    const names = { requesters: [odd], approvers: [odd], tenant: odd, toolName: odd };
    await appendRows(store, 't', [opened('r', names), opened('plain', { requesters: ['ada'] })]);
    const [row, ...others] = await requests.list({
      state: 'open',
      approver: [key],
      requester: odd,
    });
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      toolName: kept,
      requesters: [kept],
      tenant: null,
      approvers: [key],
    });
    expect(await requests.count({ toolName: odd })).toBe(1);
    expect(await requests.count({ tenant: odd })).toBe(0);
    expect(await requests.count({ requester: 'ada' })).toBe(1);
  });

  test('is planned once for each connection, and not anew for each append, if statements are prepared', async () => {
    const database = await server.createDatabase();
    const pool = server.pool(database, { max: 1 });
    const store = postgresStore(pool, { prepare: true });
    for (let index = 0; index < 40; index += 1) {
      await appendRows(store, 't', [opened(`r${index}`)], index + 1);
    }
    const { rows } = await pool.query(
      `select name, custom_plans::int as anew from pg_prepared_statements where name like 'holdpoint-append-next%'`,
    );
    /* The server plans the first five of a statement anew, to compare. */
    expect(rows).toEqual([{ name: 'holdpoint-append-next-requests', anew: 5 }]);
  });

  test('leaves appends without any as they were: one statement, about the tables of threads alone', async () => {
    const { pool } = await oneStore();
    await postgresStore(pool).read('t');
    const { pool: recording, texts } = recordTexts(pool);
    const store = postgresStore(recording);
    for (const revision of [1, 2]) await appendPlain(store, 't', { revision });
    expect(texts).toHaveLength(3);
    expect(texts.join('\n')).not.toContain('holdpoint_request');
  });

  test('has a notice with their ids, also while a run holds the thread and without a deadline', async () => {
    const { store } = await oneStore();
    const { heard, hears, stop } = listening(store);
    await hears(1);
    const summary = plainSummary('t', { status: 'running' });
    const requests = [opened('r'), opened('s')];
    await store.append('t', plainEnd(0), [plainEntry(1)], summary, { requests });
    await hears(2);
    expect(heard[1]).toEqual({ type: 'thread', threadId: 't', requestIds: ['r', 's'] });
    await stop();
  });
});

describe('a deleted thread', () => {
  test('takes its rows with it, and tells the feed of those that were open', async () => {
    const { pool, store, requests } = await oneStore();
    await appendRows(store, 't', [opened('r', { approvers: ['ada'] }), closed('done')]);
    await appendRows(store, 'other', [opened('s')]);
    expect(await errorCode(store.delete('t', plainEnd(7)))).toBe('revision-conflict');
    expect(await requests.count({})).toBe(3);
    await store.delete('t', plainEnd(1));
    expect((await requests.list({})).map(({ requestId }) => requestId)).toEqual(['s']);
    const approvers = await pool.query('select request_id from holdpoint_request_approvers');
    expect(approvers.rows).toEqual([{ request_id: 's' }]);
    expect(describeChanges(await requests.changes({ after: 3 }))).toEqual(['deleted r']);
  });
});

describe.each(levels)('the feed in %s', (level) => {
  test('gives a change that is committed late a late position, so that no reader misses it', async () => {
    const [pool, other, third] = await pools(level);
    if (pool === undefined || other === undefined || third === undefined) throw new Error('None.');
    const reader = requestsOf(postgresStore(third));
    await reader.count({});
    const held = holdCommits(pool);
    const late = postgresStore(held.pool, {
      onRequests: async (_changes, transaction) => transaction.query('select'),
    });
    const first = appendUntil(late, 'late', [opened('late')]);
    await held.reached;
    await appendUntil(postgresStore(other), 'early', [opened('early')]);
    const read = await reader.changes({ after: 0 });
    expect(describeChanges(read)).toEqual(['opened early']);
    held.letGo();
    await first;
    const after = read.at(-1)?.position ?? 0;
    expect(describeChanges(await reader.changes({ after }))).toEqual(['opened late']);
    const all = await reader.changes({ after: 0 });
    expect(describeChanges(all)).toEqual(['opened early', 'opened late']);
  });

  test('is the same for readers that read at once, while others append', async () => {
    const [pool, other, third] = await pools(level);
    if (pool === undefined || other === undefined || third === undefined) throw new Error('None.');
    const writers = [pool, other].map((writer) => postgresStore(writer));
    await writers[0]?.requests?.count({});
    const count = 20;
    const follow = async (): Promise<string[]> => {
      const requests = requestsOf(postgresStore(third));
      const seen: string[] = [];
      let after = 0;
      while (seen.length < count) {
        for (const { position, requestId } of await requests.changes({ after, limit: 3 })) {
          expect(position).toBeGreaterThan(after);
          after = position;
          seen.push(`${position} ${requestId}`);
        }
      }
      return seen;
    };
    const appendAll = async (store: ThreadStore, name: number): Promise<void> => {
      for (let round = 0; round < count / 2; round += 1) {
        await appendUntil(store, `${name} ${round}`, [opened(`r${name} ${round}`)]);
      }
    };
    const writing = writers.map(appendAll);
    const [one, ...others] = await Promise.all([follow(), follow(), follow(), follow()]);
    await Promise.all(writing);
    expect(new Set(one).size).toBe(count);
    for (const seen of others) expect(seen).toEqual(one);
  });
});

describe('the feed', () => {
  test('is read in one statement while nothing is new', async () => {
    const { pool, store, requests } = await oneStore();
    await appendRows(store, 't', [opened('r')]);
    const [first] = await requests.changes({ after: 0 });
    const { pool: recording, texts } = recordTexts(pool);
    const idle = requestsOf(postgresStore(recording, { createSchema: false }));
    expect(await idle.changes({ after: first?.position ?? 0 })).toEqual([]);
    expect(texts).toHaveLength(1);
  });

  test('gives no position twice after its changes were deleted', async () => {
    const { store, requests } = await oneStore();
    await appendRows(store, 't', [opened('r')]);
    const [first] = await requests.changes({ after: 0 });
    expect(await requests.deleteChanges({ before: Number.MAX_SAFE_INTEGER })).toBe(1);
    await appendRows(store, 't', [closed('r')], 2);
    const [second] = await requests.changes({ after: 0 });
    expect(second?.position).toBeGreaterThan(first?.position ?? Infinity);
    expect(await requests.deleteChanges({ before: 0 })).toBe(0);
  });

  test('has the positions that one reader gives while another waits to give them', async () => {
    const { pool, store, requests } = await oneStore();
    const { pool: recording, texts } = recordTexts(pool);
    const recorded = requestsOf(postgresStore(recording));
    await appendRows(store, 't', [opened('first')]);
    const [first] = await recorded.changes({ after: 0 });
    await appendRows(store, 't', [opened('r'), opened('s')], 2);
    const giver = await pool.connect();
    await giver.query('begin');
    await giver.query(texts.find((text) => text.includes('nextval')) ?? '');
    const given = await giver.query(
      `select position from holdpoint_request_changes where request_id in ('r', 's') order by position`,
    );
    const reading = requests.changes({ after: first?.position ?? 0 });
    await expect.poll(async () => (await pool.query(waiting)).rowCount).toBe(1);
    await giver.query('commit');
    giver.release();
    expect((await reading).map(({ position }) => String(position))).toEqual(
      given.rows.map(({ position }) => position),
    );
  });

  test('leaves out none that a reader is giving a position to while others are deleted', async () => {
    const { pool, store, requests } = await oneStore();
    await appendRows(store, 't', [opened('r'), opened('s')]);
    const holder = await pool.connect();
    await holder.query('begin');
    await holder.query(`select from holdpoint_request_changes where request_id = 'r' for update`);
    expect(await requests.deleteChanges({ before: Number.MAX_SAFE_INTEGER })).toBe(1);
    await holder.query('commit');
    holder.release();
    expect(describeChanges(await requests.changes({ after: 0 }))).toEqual(['opened r']);
  });
});

/** A database with a table for what the hooks were told. */
async function outbox() {
  const { pool } = await oneStore();
  await pool.query('create table outbox (id serial, hook text, told json)');
  const told = async () =>
    (await pool.query('select hook, told from outbox order by id')).rows.map(
      ({ hook, told: what }) => [hook, what],
    );
  return { pool, told };
}
const write = 'insert into outbox (hook, told) values ($1, $2)';

describe('onRequests', () => {
  test('is called for appends that change requests, also while a run holds the thread, and before onWake', async () => {
    const { pool, told } = await outbox();
    const store = postgresStore(pool, {
      onRequests: async (changes, transaction) =>
        transaction.query(write, ['onRequests', JSON.stringify(changes)]),
      onWake: async ({ status }, transaction) =>
        transaction.query(write, ['onWake', JSON.stringify(status)]),
    });
    const running = plainSummary('t', { status: 'running' });
    const requests = [opened('r')];
    await store.append('t', plainEnd(0), [plainEntry(1)], running, { requests });
    await appendRows(store, 't', [closed('r')], 2);
    await appendPlain(store, 't', { revision: 3 });
    expect(await told()).toEqual([
      ['onRequests', requests],
      ['onRequests', [closed('r')]],
      ['onWake', 'idle'],
      ['onWake', 'idle'],
    ]);
  });

  test('writes nothing for an append that another prevented, and prevents its own when it fails', async () => {
    const { pool, told } = await outbox();
    let isFailing = false;
    const store = postgresStore(pool, {
      onRequests: async (changes, transaction) => {
        await transaction.query(write, ['onRequests', JSON.stringify(changes)]);
        if (isFailing) throw new Error('The mail server is down.');
      },
    });
    await appendRows(store, 't', [opened('r')]);
    expect(await errorCode(appendRows(store, 't', [closed('r')]))).toBe('revision-conflict');
    isFailing = true;
    await expect(appendRows(store, 't', [closed('r')], 2)).rejects.toThrow(
      'onRequests failed, so nothing was appended: The mail server is down.',
    );
    expect(await told()).toHaveLength(1);
    expect(await store.requests?.get('r')).toEqual(plainRow('r'));
  });

  test('is refused beside `requests: false`, with which it would never be called', async () => {
    const { pool } = await oneStore();
    expect(() => postgresStore(pool, { requests: false, onRequests: () => {} })).toThrow(TypeError);
  });
});

describe('erase', () => {
  test('takes the text of a decided row, and no change brings it back', async () => {
    const { store, requests } = await oneStore();
    await appendRows(store, 't', [opened('r'), closed('done')]);
    expect(await requests.erase('r')).toBe(false);
    expect(await requests.erase('nobody knows')).toBe(false);
    expect(await requests.erase('done')).toBe(true);
    await appendRows(store, 't', [closed('done'), closed('r')], 2);
    expect(await requests.get('done')).toEqual({ ...closed('done').request, text: null });
    expect(await requests.get('r')).toEqual(closed('r').request);
  });
});
