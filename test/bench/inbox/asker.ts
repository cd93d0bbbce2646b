import { fork } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import type { Database } from '../durable/database.ts';

const file = new URL('./asking-process.ts', import.meta.url);

const askedSchema = z.array(z.object({ text: z.string(), at: z.number() }));

/** An agent in a process of its own. */
export interface Asker extends AsyncDisposable {
  /** Makes requests, one after another: what each asks, and when it began to, in milliseconds since 1970. */
  ask(count: number): Promise<z.infer<typeof askedSchema>>;
}

/** Starts an agent in a process of its own, which asks Ada what is more urgent than all that is open. */
export async function startAsker(database: Database): Promise<Asker> {
  const execArgv = ['--conditions=holdpoint-source'];
  const child = fork(file, [JSON.stringify(database)], { execArgv });
  const reply = async (): Promise<unknown> => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const died = (code: number | null): void => reject(new Error(`The agent died (${code}).`));
    child.once('message', resolve).once('exit', died);
    return promise.finally(() => child.off('exit', died));
  };
  await reply();
  return {
    async ask(count) {
      const asked = reply();
      child.send({ count });
      return askedSchema.parse(await asked);
    },
    async [Symbol.asyncDispose]() {
      if (!child.connected) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
