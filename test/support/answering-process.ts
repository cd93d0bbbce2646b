/*
 * A process of its own that answers what a thread waits for, as soon as a line comes in. Its effects go to a file that
 * outlives it. Arguments: the folder of the threads, how it answers.
 */
import { appendFileSync } from 'node:fs';
import { once } from 'node:events';
import { tool } from 'ai';
import { createAgent, HoldpointError } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { scriptedModel } from './scripted-model.ts';
import { cityInput } from './travel-world.ts';

const [folder = '', decision = 'approve'] = process.argv.slice(2);
const book = tool({
  description: 'book a flight',
  inputSchema: cityInput,
  execute: async ({ city }) => {
    appendFileSync(`${folder}/effects`, `${city}\n`);
    return { booked: city };
  },
});
const agent = createAgent({
  model: scriptedModel([{ text: 'Done.' }], { repeat: true }).model,
  tools: { book },
  toolApproval: { book: 'user-approval' },
  store: sqliteStore(`${folder}/threads.sqlite`),
});
const thread = await agent.thread('t');
const answers = thread.activeApprovalRequests.map((request) =>
  decision === 'approve' ? request.approve() : request.reject(),
);
console.log('ready');
await once(process.stdin, 'data');
try {
  const { status } = await agent.run(answers, thread);
  console.log(status);
} catch (error) {
  console.log(HoldpointError.isInstance(error) ? error.code : String(error));
}
process.exit();
