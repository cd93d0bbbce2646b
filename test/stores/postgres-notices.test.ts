import { setImmediate as turn } from 'node:timers/promises';
import { type PostgresPool, postgresStore } from 'holdpoint/stores/postgres';
import { runWorker } from 'holdpoint/worker';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { listening } from '../support/listening.ts';
import { appendPlain } from '../support/plain-entries.ts';
import { appendRows, opened } from '../support/row-requests.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { travelWorld } from '../support/travel-world.ts';
import { answeredThreads, counting } from '../support/worker-fleet.ts';
import { waitUntil } from '../support/waiting.ts';
import type { ClaimNotice } from '../../src/thread/thread-store.ts';

const server = sharedPostgres();
afterAll(async () => server[Symbol.asyncDispose]());

const due = { status: 'due', nextDeadline: 0 } as const;

/** A pool that does as `whileNotifying` says with statements that notify; it keeps how many notices each of them has. */
function watchNotices(pool: PostgresPool, whileNotifying: () => Promise<unknown>) {
  const sizes: number[] = [];
  const watched: PostgresPool = {
    connect: async () => pool.connect(),
    options: pool.options,
    async query(query) {
      if (!query.text.includes('pg_notify')) return pool.query(query);
      const [channels] = query.values ?? [];
      sizes.push(Array.isArray(channels) ? channels.length : 0);
      await whileNotifying();
      return pool.query(query);
    },
  };
  return { pool: watched, sizes };
}

async function dropConnection(): Promise<void> {
  throw new Error('The connection is gone.');
}

describe('the notice of an append', () => {
  test('is sent after the commit, and an answer resolves when it is sent', async () => {
    const { promise: free, resolve: letGo } = Promise.withResolvers<void>();
    const inner = server.pool(await server.createDatabase());
    const { pool, sizes } = watchNotices(inner, async () => free);
    const store = postgresStore(pool);
    let isOver = false;
    const appended = appendPlain(store, 't', due).then(() => (isOver = true));
    await waitUntil(() => sizes.length === 1);
    expect(await postgresStore(inner).head('t')).toMatchObject({ revision: 1, ...due });
    expect(isOver).toBe(false);
    letGo();
    await appended;
  });

  test('keeps no append waiting that makes no thread due', async () => {
    const { pool, sizes } = watchNotices(
      server.pool(await server.createDatabase()),
      async () => new Promise(() => {}),
    );
    const store = postgresStore(pool);
    await appendRows(store, 't', [opened('r')]);
    await appendPlain(store, 'later', { status: 'waiting', nextDeadline: 5 });
    await waitUntil(() => sizes.length === 1);
  });

  test('shares a statement with those that come while another is sent', async () => {
    const { promise: free, resolve: letGo } = Promise.withResolvers<void>();
    const database = await server.createDatabase();
    const { pool, sizes } = watchNotices(server.pool(database), async () => free);
    const store = postgresStore(pool);
    const { heard, hears, stop } = listening(postgresStore(server.pool(database)));
    await hears(1);
    const first = appendPlain(store, 't0', due);
    await waitUntil(() => sizes.length === 1);
    const others = Array.from({ length: 9 }, async (_, index) =>
      appendPlain(store, `t${index + 1}`, due),
    );
    await waitUntil(async () => (await store.count({})) === 10);
    letGo();
    await Promise.all([first, ...others]);
    await hears(11);
    expect(sizes).toEqual([1, 9]);
    expect(new Set(heard.map((notice) => notice?.threadId)).size).toBe(11);
    await stop();
  });

  test('waits for a moment alone if the server does not reply, and so does the next one', async () => {
    const { pool, sizes } = watchNotices(
      server.pool(await server.createDatabase()),
      async () => new Promise(() => {}),
    );
    const store = postgresStore(pool);
    await store.count({});
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      for (const count of [1, 2]) {
        const appended = appendPlain(store, `t${count}`, due);
        while (sizes.length < count) await turn();
        vi.advanceTimersByTime(2_000);
        await appended;
      }
    } finally {
      vi.useRealTimers();
    }
  });

  test('fails no append when it can not be sent, and a poll finds the thread', async () => {
    const database = await server.createDatabase();
    const { pool, sizes } = watchNotices(server.pool(database), dropConnection);
    await appendPlain(postgresStore(pool), 'plain', due);
    const played = scriptedModel([{ text: 'Done.' }], { repeat: true });
    const { store, counts } = counting(postgresStore(server.pool(database)));
    const world = travelWorld(played, () => store);
    const stopping = new AbortController();
    const { signal } = stopping;
    const working = runWorker({ agent: world.agent(), store, signal, pollMs: 50 });
    await waitUntil(() => counts.claim > 0);
    await answeredThreads(postgresStore(pool), ['t']);
    await waitUntil(() => world.ran.length === 1);
    stopping.abort();
    await working;
    expect(sizes.length).toBeGreaterThan(1);
  });

  test('fails no append where the pool throws, and later notices are sent', async () => {
    const database = await server.createDatabase();
    const inner = server.pool(database);
    let fails = true;
    const store = postgresStore({
      connect: async () => inner.connect(),
      query(query) {
        if (fails && query.text.includes('pg_notify')) throw new Error('It is closed.');
        return inner.query(query);
      },
    });
    const { heard, hears, stop } = listening(postgresStore(server.pool(database)));
    await hears(1);
    await appendPlain(store, 'unheard', due);
    store.send({ type: 'claim', worker: 'w', isFree: true });
    fails = false;
    await appendPlain(store, 'heard', due);
    await hears(2);
    expect(heard.at(-1)).toMatchObject({ threadId: 'heard' });
    await stop();
  });
});

describe('notices of claims', () => {
  const notice: ClaimNotice = {
    type: 'claim',
    worker: 'w',
    agent: 'sales',
    threadId: 't',
    isFree: true,
  };

  test('reach the subscribers of all processes', async () => {
    const database = await server.createDatabase();
    const stores = [1, 2].map(() => postgresStore(server.pool(database)));
    const heard: ClaimNotice[][] = [[], []];
    const stops = stores.map((store, index) =>
      store.subscribe((each) => {
        if (each?.type === 'claim') heard[index]?.push(each);
      }),
    );
    /* A subscription takes a moment to begin. */
    await waitUntil(() => {
      stores[0]?.send(notice);
      return heard.every((each) => each.length > 0);
    });
    stores[0]?.send({ type: 'claim', worker: 'w', isFree: false });
    await waitUntil(() => heard.every((each) => each.at(-1)?.isFree === false));
    expect(heard.map(([first]) => first)).toEqual([notice, notice]);
    expect(heard.map((each) => each.at(-1))).toEqual([
      { type: 'claim', worker: 'w', isFree: false },
      { type: 'claim', worker: 'w', isFree: false },
    ]);
    for (const stop of stops) await stop();
  });

  test('that are too long for the server, or say something else, are heard by nobody', async () => {
    const pool = server.pool(await server.createDatabase());
    const store = postgresStore(pool);
    const heard: ClaimNotice[] = [];
    const stop = store.subscribe((each) => {
      if (each?.type === 'claim') heard.push(each);
    });
    await waitUntil(() => {
      store.send(notice);
      return heard.length > 0;
    });
    for (const payload of ['', '{}', '{"worker":1}', 'null']) {
      await pool.query(`select pg_notify('holdpoint', $1)`, [payload]);
    }
    /* Together, so that one statement would have both. */
    store.send({ ...notice, threadId: 'x'.repeat(8_000) });
    store.send({ ...notice, worker: 'last' });
    await waitUntil(() => heard.at(-1)?.worker === 'last');
    expect(new Set(heard.map(({ worker }) => worker))).toEqual(new Set(['w', 'last']));
    await stop();
  });
});

test('notices of stores in other schemas of the database are not heard (regression: their workers took turns for a thread that they do not have)', async () => {
  const own = postgresStore(server.pool(await server.createSchema()));
  const other = postgresStore(server.pool(await server.createSchema()));
  const { heard, stop } = listening(own);
  const claims: string[] = [];
  const stopClaims = own.subscribe((notice) => {
    if (notice?.type === 'claim') claims.push(notice.worker);
  });
  const knows = (id: string): boolean => heard.some((notice) => notice?.threadId === id);
  let round = 0;
  /** Notices of both, the other's first; resolves with what the own store has heard of the other's. */
  const hearRound = async (): Promise<boolean> => {
    const id = `t${(round += 1)}`;
    other.send({ type: 'claim', worker: `other-${id}`, isFree: true });
    await appendPlain(other, `other-${id}`, due);
    own.send({ type: 'claim', worker: id, isFree: true });
    await appendPlain(own, id, due);
    await waitUntil(() => knows(id) && claims.includes(id), { interval: 5 });
    return knows(`other-${id}`) || claims.includes(`other-${id}`);
  };
  await waitUntil(() => heard.length > 0);
  /* It reads which tables are its own when it hears the first one. */
  await waitUntil(async () => !(await hearRound()), { interval: 5 });
  expect(await hearRound()).toBe(false);
  await stopClaims();
  await stop();
});
