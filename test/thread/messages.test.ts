import type { ModelMessage } from 'ai';
import * as fc from 'fast-check';
import { decodeEvents, encodeEvent, type ThreadEvent } from 'holdpoint';
import { expect, test } from 'vitest';
import { memoryWorld, travelTools } from '../support/travel-world.ts';

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
});

test('what is not bytes but looks like our tags is data, and stays so', async () => {
  const json = fc.jsonValue({ maxDepth: 4 });
  const key = fc.constantFrom('$bytes', '$url', '$buffer', '$$bytes', '$$$url', 'role');
  const tagLike = fc.oneof(
    json,
    fc.dictionary(key, json, { minKeys: 1, maxKeys: 2 }),
    fc.dictionary(key, fc.dictionary(key, json, { minKeys: 1, maxKeys: 1 })),
  );
  fc.assert(
    fc.property(tagLike, (content) => {
      const event: ThreadEvent = {
        type: 'call-ended',
        at: 1,
        hash: 'hash',
        step: 0,
        index: 0,
        outcome: { status: 'succeeded', output: JSON.parse(JSON.stringify(content)) },
      };
      expect(decodeEvents([encodeEvent(event)])).toEqual([event]);
    }),
    { numRuns: 500 },
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
  expect(thread.calls[0]?.outcome).toMatchObject({ output: JSON.parse(JSON.stringify(lossy)) });
});
