import { type AgentOptions, memoryStore, type ThreadStore } from 'holdpoint';
import { expect } from 'vitest';
import type { ScriptedStep } from './script.ts';
import { scriptedModel } from './scripted-model.ts';
import { book, travelWorld } from './travel-world.ts';

/** A thread that waits for the approval of a flight to Paris, over a store that records in `read` which threads were read. */
export async function waitingThread(script: ScriptedStep[], options: Partial<AgentOptions> = {}) {
  const read: string[] = [];
  const kept = memoryStore();
  const store: ThreadStore = {
    ...kept,
    async read(threadId, after) {
      read.push(threadId);
      return kept.read(threadId, after);
    },
    async head(threadId) {
      read.push(threadId);
      return kept.head(threadId);
    },
  };
  const played = scriptedModel([{ calls: [book('c1', 'Paris')] }, ...script]);
  const world = travelWorld(played, () => store);
  const agent = world.agent(options);
  const { thread, approvalRequests } = await agent.run('Book', await agent.thread('t'));
  const [request] = approvalRequests;
  if (request === undefined) throw new Error('Nothing is asked.');
  const before = JSON.stringify(thread);
  read.length = 0;
  /** Expects that nothing was recorded, run, or asked of the model. */
  const unchanged = async (): Promise<void> => {
    expect(JSON.stringify(await agent.thread('t'))).toBe(before);
    expect(world.ran).toEqual([]);
    expect(played.requests).toBe(1);
  };
  return { agent, world, played, request, read, unchanged };
}
