/*
 * A process of its own with an agent. It asks as often as its parent says, one request after another, and reports for each when it began, in
 * milliseconds since 1970, and what it asked. It ends when its parent lets go of it.
 */
import { z } from 'zod';
import { databaseSchema, openDatabase } from '../durable/database.ts';
import { openAgent } from './bench-inbox.ts';

const [order = ''] = process.argv.slice(2);
const open = openDatabase(databaseSchema.parse(JSON.parse(order)));
let asked = 0;

const countSchema = z.object({ count: z.int() });

/* Each is older than all before, so that it stands at the top of a list by risk. */
async function ask(): Promise<{ text: string; at: number }> {
  asked += 1;
  const agent = openAgent(open.store, -asked);
  const text = `Arrival ${asked}`;
  const thread = await agent.thread(`arrival-${process.pid}-${asked}`);
  const at = Date.now();
  await agent.requestApproval(thread, { text, risk: 'critical', approvers: ['ada'] });
  return { text, at };
}

process.on('message', (message) => {
  const { count } = countSchema.parse(message);
  void (async () => {
    const done: { text: string; at: number }[] = [];
    for (let each = 0; each < count; each += 1) done.push(await ask());
    process.send?.(done);
  })();
});
process.on('disconnect', () => void open[Symbol.asyncDispose]());
process.send?.('ready');
