import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import { answeredThreads } from '../../support/worker-fleet.ts';
import { type Database, openDatabase } from '../durable/database.ts';

const file = new URL('./fleet-process.ts', import.meta.url);
const newsSchema = z.object({ ended: z.int().optional(), reads: z.int().optional() });

/** What a fleet did. */
export interface FleetSample {
  workers: number;
  toolMs: number;
  threadsPerSecond: number;
  /** How often the log of a thread was read, on the average. */
  readsPerThread: number;
}

/** Worker processes that are ready to work, each with nothing but its code loaded. */
export class Fleet implements AsyncDisposable {
  readonly #database: Database;
  readonly #children: ChildProcess[];
  #rounds = 0;

  private constructor(database: Database, children: ChildProcess[]) {
    this.#database = database;
    this.#children = children;
  }

  static async start(database: Database, size: number): Promise<Fleet> {
    const children = Array.from({ length: size }, () =>
      fork(file, [JSON.stringify(database)], { execArgv: ['--conditions=holdpoint-source'] }),
    );
    await Promise.all(children.map(async (child) => once(child, 'message')));
    return new Fleet(database, children);
  }

  /** Answers so many threads, then has so many workers run them: their agents, pools and stores are made within the time. */
  async measure(workers: number, threads: number, toolMs: number): Promise<FleetSample> {
    this.#rounds += 1;
    const name = `fleet-${Date.now()}-${this.#rounds}`;
    await this.#answer(name, threads);
    const children = this.#children.slice(0, workers);
    const begin = performance.now();
    const ended = endOf(children, threads);
    for (const child of children) child.send({ type: 'work', name, toolMs });
    await ended;
    const seconds = (performance.now() - begin) / 1_000;
    const reads = children.map(readsOf);
    for (const child of children) child.send({ type: 'stop' });
    const total = (await Promise.all(reads)).reduce((sum, each) => sum + each, 0);
    return {
      workers,
      toolMs,
      threadsPerSecond: threads / seconds,
      readsPerThread: total / threads,
    };
  }

  async #answer(name: string, threads: number): Promise<void> {
    await using open = openDatabase(this.#database);
    const ids = Array.from({ length: threads }, (_, index) => `${name}-${index}`);
    await answeredThreads(open.store, ids, { name });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exits = this.#children.map(async (child) => once(child, 'exit'));
    for (const child of this.#children) child.disconnect();
    await Promise.all(exits);
  }
}

/** Resolves when the children have ended so many threads together. */
async function endOf(children: readonly ChildProcess[], threads: number): Promise<void> {
  const counts = new Map<ChildProcess, number>();
  const { promise, resolve } = Promise.withResolvers<void>();
  const listeners = children.map((child) => {
    const count = (message: unknown): void => {
      const { ended } = newsSchema.parse(message);
      if (ended !== undefined) counts.set(child, ended);
      if ([...counts.values()].reduce((sum, each) => sum + each, 0) >= threads) resolve();
    };
    child.on('message', count);
    return () => child.off('message', count);
  });
  await promise;
  for (const off of listeners) off();
}

async function readsOf(child: ChildProcess): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const listen = (message: unknown): void => {
    const { reads } = newsSchema.parse(message);
    if (reads === undefined) return;
    child.off('message', listen);
    resolve(reads);
  };
  child.on('message', listen);
  return promise;
}
