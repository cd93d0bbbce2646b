import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ThreadStore } from 'holdpoint';
import { postgresStore } from 'holdpoint/stores/postgres';
import { afterAll, expect, test } from 'vitest';
import { eventsIn } from '../support/events-in.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { waitUntil } from '../support/waiting.ts';
import { answeredThreads } from '../support/worker-fleet.ts';
import { audit } from './auditor.ts';
import { callHistories } from './call-histories.ts';
import { ledgersOf } from './ledger-file.ts';

const program = join(import.meta.dirname, '..', 'support', 'claiming-process.ts');
const fleetSize = 3;
const patience = { timeout: 60_000, interval: 20 };

const server = sharedPostgres();
afterAll(async () => server[Symbol.asyncDispose]());

/** Workers in processes of their own on one database, and what they did. */
class KilledFleet implements Disposable {
  readonly store: ThreadStore;
  readonly #folder = mkdtempSync(join(tmpdir(), 'holdpoint-claims-killed-'));
  readonly #input: string[];
  readonly #children = new Set<ChildProcess>();
  #ready = 0;

  private constructor(store: ThreadStore, connectionString: string, pollMs: number) {
    this.store = store;
    this.#input = [connectionString, this.#folder, String(pollMs)];
  }

  static async open({ pollMs }: { pollMs: number }): Promise<KilledFleet> {
    const database = await server.createDatabase();
    const store = postgresStore(server.pool(database));
    const fleet = new KilledFleet(store, server.connectionString(database), pollMs);
    await store.count({});
    await fleet.fill();
    return fleet;
  }

  /** Starts workers for those that have died, and waits until all listen. */
  async fill(): Promise<void> {
    while (this.#children.size < fleetSize) this.#start();
    await waitUntil(() => this.#ready === fleetSize, patience);
  }

  /** Answers a thread and waits until no worker has to do anything about it. Says whether a worker has died of it. */
  async lead(threadId: string): Promise<boolean> {
    await answeredThreads(this.store, [threadId], { name: 'sales' });
    await waitUntil(async () => {
      const { status, nextDeadline } = (await this.store.head(threadId)) ?? {};
      return status !== 'running' && nextDeadline === undefined;
    }, patience);
    const hasDied = existsSync(join(this.#folder, `${threadId}.death`));
    if (hasDied) await waitUntil(() => this.#children.size < fleetSize, patience);
    return hasDied;
  }

  /** What is wrong with a thread, and whether somebody has to settle its call. */
  async judge(threadId: string): Promise<{ faults: string[]; isUnknown: boolean }> {
    const events = await eventsIn(this.store, threadId);
    const effects = ledgersOf(this.#folder, threadId).effects.read();
    const [call] = callHistories(events);
    const isUnknown = call?.started.length === 1 && call.ended.length === 0;
    const faults = audit({ events, effects, prompts: [], gated: new Set(['book']) });
    const { status } = (await this.store.head(threadId)) ?? {};
    if (status !== (isUnknown ? 'indeterminate' : 'idle')) faults.push(`It is ${status}.`);
    return { faults, isUnknown };
  }

  [Symbol.dispose](): void {
    for (const child of this.#children) child.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true });
  }

  #start(): void {
    const parameters = ['--conditions=holdpoint-source', program, ...this.#input];
    const child = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#children.add(child);
    let isReady = false;
    createInterface({ input: child.stdout }).on('line', () => {
      if (!isReady) this.#ready += 1;
      isReady = true;
    });
    child.on('exit', () => {
      this.#children.delete(child);
      if (isReady) this.#ready -= 1;
    });
  }
}

const boundaries = ['claim', 'notice', 'append', 'effect'].flatMap((act) => [
  `before-${act}`,
  `after-${act}`,
]);

/* A poll may find a thread before its notice does, and the worker then passes fewer boundaries. */
const mostAttempts = 8;

test('the worker that has a thread is killed at each of its boundaries, and another one goes on: no effect doubles', async () => {
  using fleet = await KilledFleet.open({ pollMs: 200 });
  const unknown: string[] = [];
  let kills = 0;
  /** Leads threads until a worker has died of one. Says of which. */
  const leadToDeath = async (name: string, attempts: number): Promise<string | undefined> => {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const threadId = `${name}.${attempt}`;
      if (await fleet.lead(threadId)) return threadId;
    }
    return undefined;
  };
  for (const boundary of boundaries) {
    for (let nth = 1; ; nth += 1) {
      const threadId = await leadToDeath(`${boundary}.${nth}`, nth === 1 ? mostAttempts : 1);
      expect({ boundary, isPassed: nth > 1 || threadId !== undefined }).toEqual({
        boundary,
        isPassed: true,
      });
      if (threadId === undefined) break;
      kills += 1;
      const { faults, isUnknown } = await fleet.judge(threadId);
      expect(faults).toEqual([]);
      if (isUnknown) unknown.push(`${boundary}.${nth}`);
      await fleet.fill();
    }
  }
  console.log(`${kills} kills; calls to settle: ${unknown.join()}`);
  /* Between the start that was recorded and the result. */
  expect(unknown).toEqual(expect.arrayContaining(['before-effect.1', 'after-effect.1']));
  expect(unknown.length).toBeLessThanOrEqual(6);
});

test('a worker that is killed when it is its turn is not waited for: the next one claims the thread, without a poll', async () => {
  using fleet = await KilledFleet.open({ pollMs: 3_600_000 });
  for (const round of ['a', 'b', 'c', 'd']) {
    /* So that all know each other. */
    for (let nth = 0; nth < 12; nth += 1) await fleet.lead(`${round}${nth}`);
    const threadId = `before-claim.1.${round}`;
    expect(await fleet.lead(threadId)).toBe(true);
    expect(await fleet.judge(threadId)).toEqual({ faults: [], isUnknown: false });
    await fleet.fill();
  }
});
