/*
 * A process of its own that answers the question of thread `t` with its second choice, and goes on. Arguments: the file of the
 * threads, the endpoint of the tool server, the callback URL, the lease in milliseconds.
 */
import { createAgent } from 'holdpoint';
import { remoteTool } from 'holdpoint/rap';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { z } from 'zod';
import { scriptedModel } from '../support/scripted-model.ts';
import { pick, secret } from './remote-world.ts';

const [file = '', endpoint = '', callbackUrl = '', leaseMs = ''] = process.argv.slice(2);
const write = remoteTool({
  endpoint,
  description: 'Writes a file.',
  inputSchema: z.object({ path: z.string() }),
  callbackUrl,
  secret,
});
const agent = createAgent({
  model: scriptedModel([]).model,
  tools: { write },
  store: sqliteStore(file),
  leaseMs: Number(leaseMs),
});
const thread = await agent.thread('t');
console.log((await agent.run(pick(thread, 1), thread)).status);
process.exit();
