import type { HoldpointErrorCode, ThreadStore } from 'holdpoint';
import { postgresStore } from 'holdpoint/stores/postgres';
import type { Pool, PoolClient } from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { appendOnce } from '../../src/thread/append-once.ts';
import { errorCode } from '../support/error-code.ts';
import { appendPlain, plainEnd, plainEntry, plainSummary } from '../support/plain-entries.ts';
import { appendGrants, createGrants, plainGrant, uses, usesLeft } from '../support/plain-grants.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { waitUntil } from '../support/waiting.ts';
import { recordTexts } from '../support/watched-pool.ts';
import { countTrials } from '../support/sampling.ts';

const rounds = countTrials(50);

const server = sharedPostgres();
afterAll(async () => server[Symbol.asyncDispose]());

const levels = ['read committed', 'repeatable read', 'serializable'];

/** A new schema with this isolation level, and two stores that share it through pools of their own. */
async function twoStores(level: string) {
  const place = await server.createSchema();
  const options = `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`;
  const pools = [1, 2].map(() => server.pool(place, { options }));
  const [one, other] = pools.map((pool) => postgresStore(pool));
  if (one === undefined || other === undefined) throw new Error('There are two pools.');
  return { place, one, other };
}

/** Appends as the agent does: again after a conflict. */
async function appendUntil(...input: Parameters<typeof appendGrants>): Promise<unknown> {
  for (;;) {
    const code = await errorCode(appendGrants(...input));
    if (code !== ('revision-conflict' satisfies HoldpointErrorCode)) return code;
  }
}

/** Runs `work` while a transaction holds what `sql` locks. The transaction ends after `check`, once a statement waits for it. */
async function whileHeld(
  admin: Pool,
  { sql, end, check }: { sql: string; end: 'commit' | 'rollback'; check?: () => Promise<void> },
  work: () => Promise<unknown>,
): Promise<unknown> {
  const holder: PoolClient = await admin.connect();
  await holder.query('begin');
  await holder.query(sql);
  const working = work();
  const isWaiting = async (): Promise<boolean> => {
    const { rows } = await admin.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  };
  await waitUntil(isWaiting, { interval: 5 });
  await check?.();
  await holder.query(end);
  holder.release();
  return working;
}

describe.each(levels)('in %s', (level) => {
  test(`two appends to different threads that use the last use of a grant have one winner, ${rounds} times`, async () => {
    const { one, other } = await twoStores(level);
    for (let round = 0; round < rounds; round += 1) {
      const id = `grant ${round}`;
      await createGrants(one, plainGrant(id, { usesLeft: 1 }));
      const codes = await Promise.all([
        appendUntil(one, `one ${round}`, uses(id)),
        appendUntil(other, `other ${round}`, uses(id)),
      ]);
      expect(codes.toSorted()).toEqual(['grant-ended', 'no error']);
      const ids = [`one ${round}`, `other ${round}`];
      const logs = await Promise.all(ids.map(async (threadId) => one.read(threadId)));
      expect(logs.map((log) => log.length)).toEqual(
        codes.map((code) => Number(code === 'no error')),
      );
    }
  });

  test('an append that meets another use of a grant with uses left does not find it ended', async () => {
    const { one, other } = await twoStores(level);
    await createGrants(one, plainGrant('many', { usesLeft: 100 }), plainGrant('always'));
    for (let round = 0; round < 25; round += 1) {
      const codes = await Promise.all(
        [one, other, one, other].map(async (store, index) =>
          appendUntil(store, `${index} ${round}`, uses('many', 'always')),
        ),
      );
      expect(codes).toEqual(['no error', 'no error', 'no error', 'no error']);
    }
    expect(await usesLeft(one)).toEqual({ always: undefined });
  });

  test('appends that use two grants in opposite order do not block each other', async () => {
    const { one, other } = await twoStores(level);
    await createGrants(one, plainGrant('a', { usesLeft: 60 }), plainGrant('b', { usesLeft: 60 }));
    for (let round = 0; round < 30; round += 1) {
      const codes = await Promise.all([
        appendUntil(one, `one ${round}`, uses('a', 'b')),
        appendUntil(other, `other ${round}`, uses('b', 'a')),
      ]);
      expect(codes).toEqual(['no error', 'no error']);
    }
    expect(await usesLeft(one)).toEqual({});
  });
});

test('an append locks grants in the order of their ids, so that two appends never wait for each other', async () => {
  const place = await server.createSchema();
  const admin = server.pool(place);
  const store = postgresStore(server.pool(place));
  await createGrants(store, plainGrant('b', { usesLeft: 20 }), plainGrant('a'), plainGrant('c'));
  const free = `select grant_id from holdpoint_grants where grant_id <> 'b' for update skip locked`;
  for (let round = 0; round < 5; round += 1) {
    const sql = `select from holdpoint_grants where grant_id = 'b' for update`;
    const append = async () => appendGrants(store, `t${round}`, uses('c', 'b', 'a'));
    const check = async () => expect((await admin.query(free)).rows).toEqual([{ grant_id: 'c' }]);
    await whileHeld(admin, { sql, end: 'commit', check }, append);
  }
});

describe('an append that waits for a revocation', () => {
  test.each([
    ['commit', 'grant-ended', 0],
    ['rollback', 'no error', 1],
  ] as const)('that ends with %s ends with: %s', async (end, code, length) => {
    const place = await server.createSchema();
    const admin = server.pool(place);
    const store = postgresStore(server.pool(place));
    await createGrants(store, plainGrant('g', { usesLeft: 1 }));
    const sql = `delete from holdpoint_grants where grant_id = 'g'`;
    const append = async () => errorCode(appendGrants(store, 't', uses('g')));
    expect(await whileHeld(admin, { sql, end }, append)).toBe(code);
    expect(await store.read('t')).toHaveLength(length);
  });

  test('and of a revocation that waits for an append, the append is whole', async () => {
    const { one, other } = await twoStores('read committed');
    for (let round = 0; round < rounds; round += 1) {
      const id = `g${round}`;
      await createGrants(one, plainGrant(id));
      const [code, wasThere] = await Promise.all([
        errorCode(appendGrants(one, `t${round}`, uses(id))),
        other.grants?.revoke(id),
      ]);
      expect(wasThere).toBe(true);
      expect(await one.read(`t${round}`)).toHaveLength(code === 'no error' ? 1 : 0);
      expect(await errorCode(appendGrants(one, `u${round}`, uses(id)))).toBe('grant-ended');
    }
  });
});

/** A store whose first append is sent, and fails at once. */
function cutOff(store: ThreadStore, sent: Promise<unknown>[]): ThreadStore {
  return {
    ...store,
    async append(...input) {
      const appending = store.append(...input);
      if (sent.length > 0) return appending;
      sent.push(appending.catch(() => {}));
      throw new Error('The connection is lost.');
    },
  };
}

describe('an append whose reply is lost', () => {
  const append = { end: plainEnd(0), entry: plainEntry(1) };

  test.each([
    ['the last use', 1, 'used'],
    ['one of two uses', 2, 1],
    ['a grant without a number of uses', undefined, undefined],
  ])('takes %s once, also while the first is still under way', async (_, before, after) => {
    const store = postgresStore(server.pool(await server.createSchema()));
    for (let round = 0; round < 20; round += 1) {
      const [id, grant, created] = [`t${round}`, `g${round}`, `new${round}`];
      await createGrants(
        store,
        plainGrant(grant, before === undefined ? {} : { usesLeft: before }),
      );
      const sent: Promise<unknown>[] = [];
      const grants = [...uses(grant), { type: 'create', grant: plainGrant(created) } as const];
      const change = { ...append, summary: plainSummary(id), grants };
      expect(await appendOnce(cutOff(store, sent), id, change)).toBe(true);
      await Promise.all(sent);
      expect(await store.read(id)).toHaveLength(1);
      const left = await usesLeft(store);
      expect(left).toMatchObject({ [created]: undefined });
      expect(Object.hasOwn(left, grant) ? left[grant] : 'used').toBe(after);
    }
  });
});

test('a database whose threads were dropped gets their tables again', async () => {
  const pool = server.pool(await server.createSchema());
  await createGrants(postgresStore(pool), plainGrant('g'));
  await pool.query(
    'drop table holdpoint_entries, holdpoint_threads, holdpoint_requests, holdpoint_request_approvers',
  );
  await appendPlain(postgresStore(pool), 't');
  expect(await usesLeft(postgresStore(pool))).toEqual({ g: undefined });
});

test('an append without grants is the same one statement as before, about the same two tables', async () => {
  const pool = server.pool(await server.createSchema());
  await postgresStore(pool).read('t');
  const { pool: recording, texts } = recordTexts(pool);
  const store = postgresStore(recording);
  for (const revision of [1, 2]) await appendPlain(store, 't', { revision });
  expect(texts).toHaveLength(3);
  expect(texts.join('\n')).not.toContain('grant');
});
