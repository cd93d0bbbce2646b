import type { ModelMessage } from 'ai';
import { expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book, memoryWorld } from '../support/travel-world.ts';

const conversation: ModelMessage[] = [
  { role: 'user', content: 'Book Rome' },
  {
    role: 'assistant',
    content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'book', input: { city: 'Rome' } }],
  },
  {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: 'c1',
        toolName: 'book',
        output: { type: 'json', value: { booked: 'Rome' } },
      },
    ],
  },
  { role: 'user', content: 'And Oslo' },
];

/** Plays the conversation in a world whose store dies at its nth append, before or after it was written; then again, an hour later. */
async function play(deadly: number, isWritten: boolean) {
  const world = memoryWorld([{ calls: [book('c1', 'Oslo')] }, { text: 'Booked.' }]);
  const append = world.store.append.bind(world.store);
  let appends = 0;
  let now = 0;
  world.store.append = async (...write) => {
    appends += 1;
    if (appends !== deadly) return append(...write);
    if (isWritten) await append(...write);
    throw new Error('killed');
  };
  const converse = async (): Promise<void> => {
    const agent = world.agent({
      now: () => now,
      toolRecovery: { book: { reconcile: () => ({ status: 'failed', error: 'unknown' }) } },
    });
    const thread = await agent.thread('t', { messages: conversation });
    const { approvalRequests } = await agent.run([], thread);
    if (approvalRequests.length === 0) return;
    await agent.run(
      approvalRequests.map((each) => each.approve()),
      thread,
    );
  };
  const wasKilled = (await errorCode(converse())) !== 'no error';
  now += 3_600_000;
  await converse().catch(() => {});
  return { world, wasKilled, thread: await world.agent({ now: () => now }).thread('t') };
}

test.each([false, true])(
  'a death at any append of a run that begins with an import loses and repeats nothing (written: %s)',
  async (isWritten) => {
    for (let deadly = 1; ; deadly += 1) {
      const { world, wasKilled, thread } = await play(deadly, isWritten);
      const imports = thread.events.filter(({ type }) => type === 'messages-imported');
      expect([imports.length, thread.messages.slice(0, 4)]).toEqual([1, conversation]);
      expect(world.ran.length).toBeLessThanOrEqual(1);
      expect(world.ran.every(({ input }) => JSON.stringify(input).includes('Oslo'))).toBe(true);
      expect(thread.calls.filter(({ toolCallId }) => toolCallId === 'c1')).toEqual([]);
      if (!wasKilled && appendsWere(thread) < deadly) return;
    }
  },
);

/** How many entries a thread has: one for each append. */
function appendsWere(thread: { toJSON(): { entries: readonly unknown[] } }): number {
  return thread.toJSON().entries.length;
}
