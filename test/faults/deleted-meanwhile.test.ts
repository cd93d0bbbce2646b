import { memoryStore, type ThreadStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { travelWorld } from '../support/travel-world.ts';

/** A thread of some events, and a store in which it grows between the first read and its summary's, and is deleted before the second. */
async function shortLife(eventsRead: 'none' | 'some') {
  const store = memoryStore();
  const world = travelWorld(scriptedModel([{ text: 'Hello.' }], { repeat: true }), () => store);
  const agent = world.agent();
  const thread = await agent.thread('t');
  if (eventsRead === 'some') await agent.run('Hi', thread);
  let reads = 0;
  const { promise: grown, resolve: grow } = Promise.withResolvers<void>();
  const racing: ThreadStore = {
    ...store,
    async read(...input) {
      reads += 1;
      if (reads === 2) await agent.delete(thread);
      const entries = await store.read(...input);
      if (reads === 1) {
        await agent.run('Hi again', thread);
        grow();
      }
      return entries;
    },
    async head(threadId) {
      await grown;
      return store.head(threadId);
    },
  };
  return world.agent({ store: racing });
}

test.each(['none', 'some'] as const)(
  'a thread that was deleted while it was being opened is a new one (%s of its events were read)',
  async (eventsRead) => {
    const agent = await shortLife(eventsRead);
    const thread = await agent.thread('t');
    expect(thread.revision).toBe(0);
    expect((await agent.run('Hi', thread)).text).toBe('Hello.');
  },
);

test('a store that keeps the log of a thread without its summary is refused, and not read for ever', async () => {
  const store = memoryStore();
  const world = travelWorld(scriptedModel([{ text: 'Hello.' }]), () => store);
  const agent = world.agent();
  await agent.run('Hi', await agent.thread('t'));
  const headless = world.agent({ store: { ...store, head: async () => undefined } });
  expect(await errorCode(headless.thread('t'))).toBe('thread-deleted');
});

test('the summary of a thread is asked for while its log is read, in one round trip', async () => {
  const store = memoryStore();
  const asked: string[] = [];
  const { promise: both, resolve } = Promise.withResolvers<void>();
  const note = async (name: string): Promise<void> => {
    asked.push(name);
    if (asked.length === 2) resolve();
    await both;
  };
  const slow: ThreadStore = {
    ...store,
    read: async (...input) => note('read').then(async () => store.read(...input)),
    head: async (threadId) => note('head').then(async () => store.head(threadId)),
  };
  const world = travelWorld(scriptedModel([]), () => slow);
  expect((await world.agent().thread('t')).revision).toBe(0);
  expect(asked).toEqual(['read', 'head']);
});
