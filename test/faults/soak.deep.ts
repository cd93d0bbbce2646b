import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { approve, createAgent } from 'holdpoint';
import { type PostgresPool, postgresStore } from 'holdpoint/stores/postgres';
import { runWorker } from 'holdpoint/worker';
import type { Pool } from 'pg';
import { z } from 'zod';
import { afterAll, expect, test } from 'vitest';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { benchModel } from '../bench/bench-model.ts';
import { Ledger, transferTool } from '../bench/transfer-tool.ts';

setFlagsFromString('--expose-gc');
const collect = z.custom<() => void>((gc) => typeof gc === 'function').parse(runInNewContext('gc'));

const cycles = 20_000;
const windows = 10;
const atOnce = 20;

/** What a process holds and asks for, after so many cycles. */
interface Reading {
  heapMegabytes: number;
  handles: number;
  connections: number;
  queriesPerCycle: number;
}

const server = sharedPostgres();
afterAll(async () => server[Symbol.asyncDispose]());

/** The pool, counting its queries. */
function counted(pool: Pool): { pool: PostgresPool; queries: () => number } {
  let count = 0;
  return {
    queries: () => count,
    pool: {
      options: pool.options,
      connect: async () => pool.connect(),
      query: async (query) => {
        count += 1;
        return pool.query(query);
      },
    },
  };
}

/** Agents on one store: two workers, and an inbox through which every cycle is begun and answered. */
function soakedAgents(pool: PostgresPool) {
  const store = postgresStore(pool, { prepare: true });
  const ledger = new Ledger();
  /* A model that keeps nothing: mocks remember what they were asked. */
  const agent = () =>
    createAgent({ model: benchModel(1), tools: { transfer: transferTool(ledger) }, store });
  const stopping = new AbortController();
  const ended = new Map<string, () => void>();
  const working = [1, 2].map(async () => {
    const own = agent();
    own.on('run-ended', ({ threadId }) => ended.get(threadId)?.());
    return runWorker({ agent: own, store, signal: stopping.signal, concurrency: 8 });
  });
  const inbox = agent();
  const cycle = async (id: string): Promise<void> => {
    const { thread, approvalRequests } = await inbox.run('Pay', await inbox.thread(id));
    const { promise, resolve } = Promise.withResolvers<void>();
    ended.set(id, resolve);
    await inbox.respond(
      approvalRequests.map((request) => approve(request)),
      thread,
    );
    await promise;
    ended.delete(id);
  };
  const stop = async (): Promise<void> => {
    stopping.abort();
    await Promise.all(working);
  };
  return { store, ledger, cycle, stop };
}

/** Runs one window's share of the cycles, some at once. */
async function runWindow(window: number, cycle: (id: string) => Promise<void>): Promise<void> {
  const lanes = Array.from({ length: atOnce }, async (_, lane) => {
    for (let nth = 0; nth < cycles / windows / atOnce; nth += 1) {
      await cycle(`w${window}-${lane}-${nth}`);
    }
  });
  await Promise.all(lanes);
  collect();
}

test(`${cycles} cycles with two workers: heap, handles, connections and queries a cycle stay flat`, async () => {
  const database = await server.createDatabase();
  const admin = server.pool(database);
  const { pool, queries } = counted(server.pool(database, { max: 12, application_name: 'soak' }));
  const { store, ledger, cycle, stop } = soakedAgents(pool);
  const readings: Reading[] = [];
  for (let window = 0; window < windows; window += 1) {
    const before = queries();
    await runWindow(window, cycle);
    const queriesPerCycle = (queries() - before) / (cycles / windows);
    const { rows } = await admin.query(
      `select count(*)::int as open from pg_stat_activity where application_name = 'soak'`,
    );
    readings.push({
      heapMegabytes: process.memoryUsage().heapUsed / 2 ** 20,
      handles: process.getActiveResourcesInfo().length,
      connections: Number(rows[0]?.open),
      queriesPerCycle,
    });
  }
  await stop();
  console.log(readings.map((reading) => JSON.stringify(reading)).join('\n'));
  expect(ledger.transfers).toBe(cycles);
  expect(await store.count({ status: 'idle' })).toBe(cycles);
  const [, second] = readings;
  const last = readings.at(-1);
  if (second === undefined || last === undefined) throw new Error('Readings were expected.');
  expect(last.heapMegabytes).toBeLessThan(second.heapMegabytes + 10);
  expect(last.handles).toBeLessThanOrEqual(second.handles + 2);
  expect(last.connections).toBeLessThanOrEqual(12);
  expect(last.queriesPerCycle).toBeLessThan(second.queriesPerCycle * 1.2);
});
