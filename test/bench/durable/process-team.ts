import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import type { DurableWork } from '../durable-work.ts';
import type { Database } from './database.ts';
import { type Team, total } from './team.ts';

const file = new URL('./worker-process.ts', import.meta.url);
const execArgv = ['--conditions=holdpoint-source'];

/** Workers in processes of their own, one in each. */
export async function processTeam(
  database: Database,
  size: number,
  durableWork: DurableWork,
  name: string,
): Promise<Team> {
  const children = Array.from({ length: size }, (_, index) => {
    const order = { database, durableWork, name: `${name}-${index}` };
    return fork(file, [JSON.stringify(order)], { execArgv });
  });
  await Promise.all(children.map(reply));
  return {
    async work(task, durationMs) {
      const replies = children.map(reply);
      for (const child of children) child.send({ task, durationMs });
      return total(z.array(z.number()).parse(await Promise.all(replies)));
    },
    async [Symbol.asyncDispose]() {
      const exits = children.map(async (child) => once(child, 'exit'));
      for (const child of children) child.disconnect();
      await Promise.all(exits);
    },
  };
}

async function reply(child: ChildProcess): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const died = (code: number | null): void => reject(new Error(`A worker died (${code}).`));
  child.once('message', resolve).once('exit', died);
  return promise.finally(() => child.off('exit', died));
}
