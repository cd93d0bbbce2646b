import type { DurableWork } from '../durable-work.ts';
import type { Database } from './database.ts';
import { startWorker, type Task } from './durable-worker.ts';

/** Workers that work at the same time. */
export interface Team extends AsyncDisposable {
  /** Works for about `durationMs`, and gives how many cycles a second all of them made together. */
  work(task: Task, durationMs: number): Promise<number>;
}

/** Workers that take turns in this process, each waiting for its own connection. */
export function asyncTeam(
  database: Database,
  size: number,
  durableWork: DurableWork,
  name: string,
): Team {
  const workers = Array.from({ length: size }, (_, index) =>
    startWorker(database, `${name}-${index}`, durableWork),
  );
  return {
    async work(task, durationMs) {
      const rates = workers.map(async (worker) => rateOf(worker[task], durationMs));
      return total(await Promise.all(rates));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(workers.map(async (worker) => worker[Symbol.asyncDispose]()));
    },
  };
}

/** The sum of what members of a team did. */
export function total(rates: readonly number[]): number {
  return rates.reduce((sum, rate) => sum + rate, 0);
}

async function rateOf(once: () => Promise<void>, durationMs: number): Promise<number> {
  const begin = performance.now();
  let cycles = 0;
  let elapsed = 0;
  while (elapsed < durationMs) {
    await once();
    cycles += 1;
    elapsed = performance.now() - begin;
  }
  return (cycles * 1_000) / elapsed;
}
