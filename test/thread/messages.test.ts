import type { ModelMessage } from 'ai';
import * as fc from 'fast-check';
import type { ThreadEvent, ThreadStore } from 'holdpoint';
import { eventsOf } from 'holdpoint/schemas';
import { expect, test } from 'vitest';
import { look, memoryWorld, travelTools } from '../support/travel-world.ts';
import { countTrials } from '../support/sampling.ts';

const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
const message: ModelMessage = {
  role: 'user',
  content: [
    { type: 'text', text: 'What is this?', providerOptions: { acme: { $bytes: 'not bytes' } } },
    { type: 'file', data: bytes, mediaType: 'image/png' },
    { type: 'file', data: new URL('https://example.com/a.png?x=1#y'), mediaType: 'image/png' },
    { type: 'file', data: { type: 'data', data: bytes.subarray(3, 9) }, mediaType: 'image/png' },
    { type: 'file', data: bytes.slice().buffer, mediaType: 'application/pdf' },
  ],
};

test('bytes and URLs in messages come through the log and the JSON form unchanged', async () => {
  const world = memoryWorld([{ text: 'A picture.' }]);
  const agent = world.agent();
  const { thread } = await agent.run(message, await agent.thread('t'));
  const reopened = await world.agent().thread('t');
  const restored = await world.agent({ store: undefined }).restore(JSON.stringify(thread));
  for (const { messages } of [thread, reopened, restored]) expect(messages[0]).toEqual(message);
  expect(await writtenEvents(world.store)).toEqual(thread.events);
});

/** The events of the thread, read off the texts that the store has, and not off what this process remembers of them. */
async function writtenEvents(store: ThreadStore): Promise<ThreadEvent[]> {
  const entries = await store.read('t');
  return entries.flatMap(({ revision, text }) => eventsOf({ revision, text }));
}

test('what is not bytes but looks like our tags is data, and stays so', async () => {
  const json = fc.jsonValue({ maxDepth: 4 });
  const key = fc.constantFrom('$bytes', '$url', '$buffer', '$$bytes', '$$$url', 'role');
  const tagLike = fc.oneof(
    json,
    fc.dictionary(key, json, { minKeys: 1, maxKeys: 2 }),
    fc.dictionary(key, fc.dictionary(key, json, { minKeys: 1, maxKeys: 1 })),
  );
  await fc.assert(
    fc.asyncProperty(tagLike, async (content) => {
      const output: unknown = JSON.parse(JSON.stringify(content));
      const world = memoryWorld([{ calls: [look('c1', 'Rome')] }, { text: 'Done.' }]);
      const tools = { look: { ...travelTools([]).look, execute: async () => output } };
      const agent = world.agent({ tools, toolApproval: {} });
      const { thread } = await agent.run('Look', await agent.thread('t'));
      expect(thread.calls).toMatchObject([{ outcome: { status: 'succeeded' } }]);
      const written = await writtenEvents(world.store);
      const ended = written.find((event) => event.type === 'call-ended');
      expect(ended?.outcome).toEqual({ status: 'succeeded', output });
      expect(written).toEqual(thread.events);
    }),
    { numRuns: countTrials(500) },
  );
});

test('a message that the app changes after it was taken stays as it was taken', async () => {
  const world = memoryWorld([{ text: 'Hi.' }]);
  const agent = world.agent();
  const mine: ModelMessage = { role: 'user', content: [{ type: 'text', text: 'Hello' }] };
  const { thread } = await agent.run(mine, await agent.thread('t'));
  mine.content = 'changed';
  expect(thread.messages[0]?.content).toEqual([{ type: 'text', text: 'Hello' }]);
});

test('system messages are taken where the agent allows them, as in the AI SDK', async () => {
  const agent = memoryWorld([{ text: 'Hi.' }]).agent({ allowSystemInMessages: true });
  const { thread } = await agent.run(
    [{ role: 'system', content: 'Be brief.' }, 'Hello'],
    await agent.thread('t'),
  );
  expect(thread.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant']);
});

test('what is in memory is what is stored, whatever is lossy about a value', async () => {
  const lossy = {
    at: new Date(0),
    minus: -0,
    no: Number.NaN,
    gone: undefined,
    map: new Map([[1, 2]]),
  };
  const world = memoryWorld([
    { calls: [{ id: 'c1', name: 'look', input: { city: 'Rome' } }] },
    { text: 'Done.' },
  ]);
  const agent = world.agent({
    tools: { look: { ...travelTools(world.ran).look, execute: async () => lossy } },
    toolApproval: {},
  });
  const { thread } = await agent.run('Look', await agent.thread('t'));
  const reopened = await world.agent().thread('t');
  expect(thread.events).toEqual(reopened.events);
  expect(thread.events).toEqual(await writtenEvents(world.store));
  expect(thread.calls[0]?.outcome).toMatchObject({ output: JSON.parse(JSON.stringify(lossy)) });
});
