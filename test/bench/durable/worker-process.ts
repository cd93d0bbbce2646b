/*
 * A process of its own with one worker. It says when it is ready, and then answers each order with its cycles a second.
 * It ends when its parent lets go of it.
 */
import { z } from 'zod';
import { databaseSchema } from './database.ts';
import { tasks, warmUp } from './durable-worker.ts';
import { asyncTeam } from './team.ts';

const [order = ''] = process.argv.slice(2);
const { database, durableWork, name } = z
  .object({
    database: databaseSchema,
    durableWork: z.object({ appends: z.int(), events: z.int(), bytes: z.number() }),
    name: z.string(),
  })
  .parse(JSON.parse(order));
const messageSchema = z.object({ task: z.enum(tasks), durationMs: z.number() });
const team = asyncTeam(database, 1, durableWork, name);

process.on('message', (message) => {
  const { task, durationMs } = messageSchema.parse(message);
  void team.work(task, durationMs).then((rate) => process.send?.(rate));
});
process.on('disconnect', () => void team[Symbol.asyncDispose]());
await warmUp(300);
process.send?.('ready');
