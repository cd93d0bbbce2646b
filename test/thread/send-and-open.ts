import { createAgent, memoryStore } from 'holdpoint';
import { scriptedModel } from 'holdpoint/testing';
import type { UserModelMessage } from 'ai';

type Part = Exclude<UserModelMessage['content'], string>[number];

/** Sends a message of one part and opens the thread in another agent; gives the message as that one has it. */
export async function sendAndOpen(part: Part) {
  const store = memoryStore();
  const open = () => createAgent({ model: scriptedModel([{ text: 'Seen.' }]).model, store });
  const agent = open();
  await agent.run({ role: 'user', content: [part] }, await agent.thread('t'));
  const { messages } = await open().thread('t');
  return messages[0];
}
