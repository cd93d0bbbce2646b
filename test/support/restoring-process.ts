/*
 * A process of its own that gets a thread as JSON text, approves what it waits for, and gives the thread back as JSON, with
 * what ran here.
 */
import { text } from 'node:stream/consumers';
import { type Ran, travelTools } from './travel-world.ts';
import { createAgent } from 'holdpoint';
import { scriptedModel } from './scripted-model.ts';

const ran: Ran[] = [];
const agent = createAgent({
  model: scriptedModel([{ text: 'Done.' }]).model,
  tools: travelTools(ran),
  toolApproval: { book: 'user-approval' },
});
const thread = await agent.restore(await text(process.stdin));
const answers = thread.activeApprovalRequests.map((request) => request.approve());
const response = await agent.run(answers, thread);
console.log(JSON.stringify({ said: response.text, ran, thread }));
