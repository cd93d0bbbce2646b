import { isDeepStrictEqual } from 'node:util';
import { type MortalWorld, threadId } from './mortal-world.ts';

/** What is wrong with the replies to messages that are sent once more, when all is said: each must be its own, and nothing happens. */
export async function replyFaults(world: MortalWorld): Promise<string[]> {
  const { hasIds = false, turns } = world.scenario;
  if (!hasIds) return [];
  /* Nobody dies any more. */
  const { agent } = world.start({ isImmortal: true });
  const faults: string[] = [];
  for (const [nth, { message }] of turns.entries()) {
    const thread = await agent.thread(threadId);
    const { revision, messages } = thread;
    const reply = await agent.run(message, thread, { messageId: message });
    const begins = messages.flatMap(({ role }, index) => (role === 'user' ? [index] : []));
    const own = messages.slice((begins[nth] ?? 0) + 1, begins[nth + 1] ?? messages.length);
    if (!isDeepStrictEqual(reply.messages, own)) faults.push(`'${message}' has another reply.`);
    if (reply.status !== 'completed') faults.push(`'${message}' again ended ${reply.status}.`);
    if (thread.revision > revision) faults.push(`'${message}' was recorded again.`);
  }
  return faults;
}
