/*
 * A process of its own that serves the route of AG-UI clients, and says at which port. Arguments: the file of the threads, the file of
 * what calls did, the script of the model as JSON, and `dies` where it is killed in the middle of a call.
 */
import { appendFileSync } from 'node:fs';
import { tool } from 'ai';
import { createAgent } from 'holdpoint';
import { createAgUiHandler } from 'holdpoint/ag-ui';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { serveFetch } from '../../examples/serve-fetch.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { cityInput } from '../support/travel-world.ts';

const [file = '', effects = '', script = '[]', dies = ''] = process.argv.slice(2);
const book = tool({
  description: 'book a flight',
  inputSchema: cityInput,
  execute: async ({ city }) => {
    appendFileSync(effects, `${city}\n`);
    if (dies === 'dies') process.kill(process.pid, 'SIGKILL');
    return { booked: city };
  },
});
const agent = createAgent({
  model: scriptedModel(JSON.parse(script)).model,
  tools: { book },
  toolApproval: { book: 'user-approval' },
  store: sqliteStore(file),
  leaseMs: 300,
});
const handler = createAgUiHandler({
  agent,
  authorize: () => ({ principal: 'ann' }),
  pollMs: 50,
});
const server = await serveFetch(handler, 0);
console.log(JSON.stringify(server.address()));
