import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ThreadStore } from 'holdpoint';
import { postgresStore } from 'holdpoint/stores/postgres';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { runWorker } from 'holdpoint/worker';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, travelWorld } from '../support/travel-world.ts';
import { answeredThreads, counting, runFleet } from '../support/worker-fleet.ts';
import { waitUntil } from '../support/waiting.ts';

const idsOf = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `t${String(index).padStart(4, '0')}`);

describe('workers on Postgres', () => {
  const server = sharedPostgres();
  afterAll(async () => server[Symbol.asyncDispose]());

  /** Runs 200 answered threads with so many workers, and says what the store was asked for each. */
  async function asked(workers: number) {
    const database = await server.createDatabase();
    const threads = 200;
    await answeredThreads(postgresStore(server.pool(database)), idsOf(threads));
    const { store, counts } = counting(postgresStore(server.pool(database, { max: 20 })));
    const ran = await runFleet(() => store, { workers, threads });
    expect(ran).toHaveLength(threads);
    expect(new Set(ran.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(threads);
    const { read, claim, head, append } = counts;
    return { reads: read / threads, appends: append / threads, others: (claim + head) / threads };
  }

  test('eight workers read each thread no more often than one does: they keep out of each other’s way', async () => {
    const [one, eight] = [await asked(1), await asked(8)];
    expect(eight.reads).toBeLessThanOrEqual(1.5 * one.reads);
    expect(eight.appends).toBeLessThanOrEqual(one.appends * 1.05);
    expect(eight.others).toBeLessThanOrEqual(one.others + 2);
  });

  test('of eight idle workers one claims each answer, once they have heard of each other', async () => {
    const database = await server.createDatabase();
    const ids = idsOf(120);
    const played = scriptedModel([{ calls: [book('c1', 'Paris')] }], { repeat: true });
    const inbox = travelWorld(played, () => postgresStore(server.pool(database))).agent();
    for (const id of ids) await inbox.run('Book', await inbox.thread(id));
    const stopping = new AbortController();
    let claims = 0;
    const ended = new Set<string>();
    const working = Array.from({ length: 8 }, async () => {
      const { signal } = stopping;
      const opened = postgresStore(server.pool(database, { max: 3 }));
      const store: ThreadStore = {
        ...opened,
        async claim(claim) {
          if (claim.threadId !== undefined) claims += 1;
          return opened.claim(claim);
        },
      };
      const done = scriptedModel([{ text: 'Done.' }], { repeat: true });
      const agent = travelWorld(done, () => store).agent();
      agent.on('run-ended', ({ threadId }) => ended.add(threadId));
      return runWorker({ agent, store, signal });
    });
    for (const [index, id] of ids.entries()) {
      const thread = await inbox.thread(id);
      await inbox.respond(
        thread.activeApprovalRequests.map((request) => request.approve()),
        thread,
      );
      await waitUntil(() => ended.size === index + 1, { interval: 1 });
    }
    stopping.abort();
    await Promise.all(working);
    expect(claims).toBeLessThanOrEqual(1.5 * ids.length);
  });

  test('eight workers on one pool of eight connections get on with the work: one connection listens for all', async () => {
    const database = await server.createDatabase();
    await answeredThreads(postgresStore(server.pool(database)), idsOf(40));
    const name = 'one-pool';
    const pool = server.pool(database, { max: 8, application_name: name });
    const ran = await runFleet(() => postgresStore(pool), { workers: 8, threads: 40 });
    expect(ran).toHaveLength(40);
  });

  test('a pool with no connection to spare is refused at the start, with what to do', async () => {
    const database = await server.createDatabase();
    const store = postgresStore(server.pool(database, { max: 1 }));
    const fleet = runFleet(() => store, { workers: 1, threads: 1 });
    await expect(fleet).rejects.toThrow(/max of 2 or more.*listenPool/);
  });

  test('a failing run wakes no other worker: four of them keep to the times in the log', async () => {
    const database = await server.createDatabase();
    const played = scriptedModel([{ fail: 'overloaded' }], { repeat: true });
    const open = () => postgresStore(server.pool(database));
    const retry = { initialDelayMs: 100, maxAttempts: 5 };
    const agent = () => travelWorld(played, open).agent({ retry });
    const own = agent();
    await expect(own.run('Hi', await own.thread('t'))).rejects.toThrow('overloaded');
    const stopping = new AbortController();
    const stuck: string[] = [];
    const onStuck = ({ threadId }: { threadId: string }) => stuck.push(threadId);
    const { signal } = stopping;
    const working = [1, 2, 3, 4].map(async () =>
      runWorker({ agent: agent(), signal, pollMs: 20, onStuck }),
    );
    await waitUntil(() => stuck.length > 0);
    stopping.abort();
    await Promise.all(working);
    expect([played.requests, stuck]).toEqual([5, ['t']]);
    const { events } = await own.thread('t');
    const ends = events.filter((event) => event.type === 'run-ended');
    const starts = events.filter(({ type }) => type === 'run-started').slice(1);
    const isEarly = starts.map(({ at }, nth) => at < (ends[nth]?.retryAt ?? Infinity));
    expect(isEarly).toEqual([false, false, false, false]);
  });

  test('an idle worker asks the server at most once a second', async () => {
    const database = await server.createDatabase();
    const { store, counts } = counting(postgresStore(server.pool(database)));
    const agent = travelWorld(scriptedModel([]), () => store).agent();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const stopping = new AbortController();
      const working = runWorker({ agent, store, signal: stopping.signal });
      await waitUntil(() => counts.claim > 0);
      const before = { ...counts };
      await vi.advanceTimersByTimeAsync(60_000);
      await waitUntil(async () => (await store.count({})) === 0);
      stopping.abort();
      await working;
      expect(counts.claim - before.claim).toBeLessThanOrEqual(60);
      expect([counts.read, counts.head, counts.append]).toEqual([0, 0, 0]);
    } finally {
      vi.useRealTimers();
    }
  });
});

test('on SQLite a worker begins within 100 ms with what another process has answered', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-fleet-'));
  const path = join(folder, 'threads.sqlite');
  try {
    using store = sqliteStore(path);
    const stopping = new AbortController();
    const started = new Map<string, number>();
    const played = scriptedModel([{ text: 'Done.' }], { repeat: true });
    const agent = travelWorld(played, () => store).agent();
    agent.on('run-started', ({ threadId }) =>
      started.set(threadId, performance.timeOrigin + performance.now()),
    );
    const working = runWorker({ agent, store, signal: stopping.signal, pollMs: 60_000 });
    const script = join(import.meta.dirname, '..', 'support', 'responding-process.ts');
    const child = spawn(process.execPath, ['--conditions=holdpoint-source', script, path, '20'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    await once(child, 'exit');
    const answered = said
      .trim()
      .split('\n')
      .map((line) => line.split(' '));
    expect(answered).toHaveLength(20);
    await waitUntil(() => started.size === 20, { timeout: 5_000 });
    stopping.abort();
    await working;
    const waits = answered.map(([id = '', at]) => (started.get(id) ?? Infinity) - Number(at));
    const median = waits.toSorted((one, other) => one - other)[10];
    expect(median).toBeLessThan(100);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
