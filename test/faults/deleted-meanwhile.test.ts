import { memoryStore, type ThreadStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { travelWorld } from '../support/travel-world.ts';

/** A thread of some events, and a store in which it grows after the first read, and is deleted before the second. */
async function shortLife(eventsRead: 'none' | 'some') {
  const store = memoryStore();
  const world = travelWorld(scriptedModel([{ text: 'Hello.' }], { repeat: true }), () => store);
  const agent = world.agent();
  const thread = await agent.thread('t');
  if (eventsRead === 'some') await agent.run('Hi', thread);
  let reads = 0;
  const racing: ThreadStore = {
    ...store,
    async read(...input) {
      reads += 1;
      if (reads === 2) await agent.delete(thread);
      const entries = await store.read(...input);
      if (reads === 1) await agent.run('Hi again', thread);
      return entries;
    },
  };
  return world.agent({ store: racing });
}

test('a thread that was begun and deleted while it was being opened is a new one', async () => {
  const agent = await shortLife('none');
  expect((await agent.thread('t')).revision).toBe(0);
});

test('a thread that was deleted while it was being opened is not said to be damaged', async () => {
  const agent = await shortLife('some');
  expect(await errorCode(agent.thread('t'))).toBe('thread-deleted');
});
