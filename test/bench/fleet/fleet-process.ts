/*
 * A process of its own with one worker. It says when it is ready. At each order it makes an agent of the name in the order and runs
 * its threads, reporting every 25 milliseconds how many have ended, until it has to stop.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { tool } from 'ai';
import { createAgent, type ThreadStore } from 'holdpoint';
import { runWorker } from 'holdpoint/worker';
import { z } from 'zod';
import { databaseSchema, openDatabase } from '../durable/database.ts';
import { warmUp } from '../durable/durable-worker.ts';
import { scriptedModel } from '../../support/scripted-model.ts';
import { cityInput } from '../../support/travel-world.ts';

const database = databaseSchema.parse(JSON.parse(process.argv[2] ?? ''));
const orderSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('work'), name: z.string(), toolMs: z.number() }),
  z.object({ type: z.literal('stop') }),
]);

/** Runs the agent's threads until the signal aborts; gives how often the store was read. */
async function work(name: string, toolMs: number, signal: AbortSignal): Promise<number> {
  /* One to listen, and two for the queries of four threads: more backends than cores only crowd each other. */
  await using open = openDatabase(database, 3);
  let reads = 0;
  const store: ThreadStore = {
    ...open.store,
    read: async (...input) => {
      reads += 1;
      return open.store.read(...input);
    },
  };
  const execute = async () => {
    if (toolMs > 0) await pause(toolMs);
    return 'booked';
  };
  const agent = createAgent({
    name,
    model: scriptedModel([{ text: 'Done.' }], { repeat: true }).model,
    tools: { book: tool({ description: 'book a flight', inputSchema: cityInput, execute }) },
    toolApproval: { book: 'user-approval' },
    store,
  });
  let ended = 0;
  agent.on('run-ended', () => (ended += 1));
  const telling = setInterval(() => process.send?.({ ended }), 25);
  await runWorker({ agent, store, signal }).finally(() => clearInterval(telling));
  return reads;
}

let stopping = new AbortController();
process.on('message', (message) => {
  const order = orderSchema.parse(message);
  if (order.type === 'stop') {
    stopping.abort();
    return;
  }
  stopping = new AbortController();
  void work(order.name, order.toolMs, stopping.signal).then((reads) => process.send?.({ reads }));
});
process.on('disconnect', () => process.exit());
await warmUp(300);
process.send?.('ready');
