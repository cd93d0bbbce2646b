import type { UserModelMessage } from 'ai';
import { HoldpointError, type RunInput, type RunOptions } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { storeKits } from '../support/store-kits.ts';
import { book, memoryWorld, travelWorld } from '../support/travel-world.ts';

test('a message that is sent again adds nothing and gives the recorded reply', async () => {
  const world = memoryWorld([{ text: 'Paris it is.' }]);
  const agent = world.agent();
  const thread = await agent.thread('t');
  const first = await agent.run('Where to?', thread, { messageId: 'm1' });
  const { revision } = thread;
  const elsewhere = world.agent();
  const again = await elsewhere.run('Where to?', await elsewhere.thread('t'), { messageId: 'm1' });
  expect([again.status, again.text]).toEqual(['completed', 'Paris it is.']);
  expect(again.messages).toEqual(first.messages.slice(1));
  expect([again.thread.revision, world.requests()]).toEqual([revision, 1]);
});

test('the reply is that message’s own, when the conversation has gone on since', async () => {
  const world = memoryWorld([{ text: 'Paris.' }, { text: 'In May.' }, { text: 'By train.' }]);
  const agent = world.agent();
  const thread = await agent.thread('t');
  for (const [index, question] of ['Where?', 'When?', 'How?'].entries()) {
    await agent.run(question, thread, { messageId: `m${index}` });
  }
  const replies = [];
  for (const [index, question] of ['Where?', 'When?', 'How?'].entries()) {
    const messageId = `m${index}`;
    const { text, status, messages } = await agent.run(question, thread, { messageId });
    replies.push([text, status, messages.map(({ role }) => role)]);
  }
  expect(replies).toEqual([
    ['Paris.', 'completed', ['assistant']],
    ['In May.', 'completed', ['assistant']],
    ['By train.', 'completed', ['assistant']],
  ]);
  expect(world.requests()).toBe(3);
});

test('while its turn is open it goes on from there: a failed run is run again, a request is shown again', async () => {
  const world = memoryWorld([
    { fail: 'overloaded' },
    { calls: [book('c1', 'Paris')] },
    { text: 'Booked.' },
  ]);
  const agent = world.agent();
  const thread = await agent.thread('t');
  const send = async () => agent.run('Book', thread, { messageId: 'job-7' });
  await expect(send()).rejects.toThrow('overloaded');
  const waiting = await send();
  expect(waiting.approvalRequests).toHaveLength(1);
  const shown = await send();
  expect(shown.approvalRequests).toEqual(waiting.approvalRequests);
  const done = await agent.run(
    shown.approvalRequests.map((request) => request.approve()),
    thread,
  );
  expect([done.status, (await send()).text]).toEqual(['completed', 'Booked.']);
  expect(thread.messages.filter(({ role }) => role === 'user')).toHaveLength(1);
  expect(world.ran).toHaveLength(1);
});

test('a stream of a message that is sent again ends with the recorded reply', async () => {
  const world = memoryWorld([{ text: 'Paris.' }, { text: 'In May.' }]);
  const agent = world.agent();
  const thread = await agent.thread('t');
  await agent.stream('Where?', thread, { messageId: 'm1' }).response;
  await agent.stream('When?', thread, { messageId: 'm2' }).response;
  const types: string[] = [];
  const stream = agent.stream('Where?', thread, { messageId: 'm1' });
  for await (const event of stream) types.push(event.type);
  expect([types, (await stream.response).text]).toEqual([['finish'], 'Paris.']);
});

test('two processes that send it at one moment record it once, and one of them runs it', async () => {
  const world = memoryWorld([{ text: 'Done.' }]);
  const runs = [1, 2, 3, 4].map(async () => {
    const agent = world.agent();
    return agent.run('Book', await agent.thread('t'), { messageId: 'm1' });
  });
  const statuses = (await Promise.all(runs)).map(({ status }) => status);
  expect(statuses).toContain('completed');
  expect(world.requests()).toBe(1);
});

test.each([
  ['an id without a message', [], 'm1'],
  ['an empty id', 'Hi', ''],
  ['an id of 257 characters', 'Hi', 'x'.repeat(257)],
  ['half of a surrogate pair', 'Hi', '\uD800'],
])('%s is refused, and nothing is recorded', async (_what, input, messageId) => {
  const world = memoryWorld([{ text: 'Done.' }]);
  const agent = world.agent();
  const thread = await agent.thread('t');
  expect(await errorCode(agent.run(input, thread, { messageId }))).toBe('invalid-input');
  expect(await world.store.read('t')).toEqual([]);
});

/** A message that has its client's id. */
function named(messageId: string, content: UserModelMessage['content']): UserModelMessage {
  return { role: 'user', content, providerOptions: { holdpoint: { messageId } } };
}

/** A thread in which Ada was told where to go, and then when. */
async function advised() {
  const world = memoryWorld([{ text: 'Paris.' }, { text: 'In May.' }, { text: 'By train.' }]);
  const agent = world.agent();
  const thread = await agent.thread('t');
  await agent.run(['We are two.', 'Where?'], thread, { messageId: 'm1', principal: 'ada' });
  await agent.run('When?', thread, { messageId: 'm2', principal: 'ada' });
  return { world, agent, thread };
}

const picture = { type: 'image' as const, image: 'aGk=' };
const where = { type: 'text' as const, text: 'Where?' };

describe('what is sent under the id of a message and is not that message is refused, and changes nothing:', () => {
  test.each<[string, RunInput, RunOptions?]>([
    ['another text', ['We are two.', 'How?'], { messageId: 'm1' }],
    ['another text in the latest turn', 'How?', { messageId: 'm2' }],
    ['another text, with the id in the message', named('m1', 'How?')],
    ['another text, above a new message', [named('m1', 'How?'), named('m3', 'How?')]],
    ['another text, below a new message', [named('m3', 'How?'), named('m1', 'How?')]],
    ['a file beside the text', named('m1', [where, picture])],
    ['another message above it', ['I am Eve.', 'Where?'], { messageId: 'm1' }],
    ['one message more above it', ['Hm.', 'We are two.', 'Where?'], { messageId: 'm1' }],
    ['a message that was not above it', ['Hm.', 'When?'], { messageId: 'm2' }],
    ['two texts under one new id', [named('m3', 'How?'), named('m3', 'Why?')]],
    ['the same text by somebody else', 'When?', { messageId: 'm2', principal: 'eve' }],
    ['the same text by nobody', 'When?', { messageId: 'm2', principal: undefined }],
    ['the same, in the message, by somebody else', named('m2', 'When?'), { principal: 'eve' }],
  ])('%s', async (_what, input, more) => {
    const { world, agent, thread } = await advised();
    const { revision } = thread;
    const options = { principal: 'ada', ...more };
    expect(await errorCode(agent.run(input, thread, options))).toBe('invalid-input');
    expect(await errorCode(agent.stream(input, thread, options).response)).toBe('invalid-input');
    expect([thread.revision, world.requests()]).toEqual([revision, 2]);
  });
});

test.each<[string, RunInput, RunOptions?]>([
  ['the same text', 'Where?', { messageId: 'm1' }],
  ['the same text as a part', { role: 'user', content: [where] }, { messageId: 'm1' }],
  ['the whole input', ['We are two.', 'Where?'], { messageId: 'm1' }],
  ['the id in the message', named('m1', 'Where?')],
  ['the last message', [named('m2', 'When?'), named('m1', 'Where?')]],
  ['the named one', [named('m1', 'Where?'), named('m2', 'When?')], { messageId: 'm1' }],
])('the reply belongs to the message that is meant: %s', async (_what, input, more) => {
  const { world, agent, thread } = await advised();
  const { revision } = thread;
  const reply = await agent.run(input, thread, { principal: 'ada', ...more });
  expect([reply.text, reply.messages.length]).toEqual(['Paris.', 1]);
  expect([thread.revision, world.requests()]).toEqual([revision, 2]);
});

test('a message that is new runs, whatever else is sent again with it', async () => {
  const { agent, thread } = await advised();
  const input = [named('m1', 'Where?'), named('m2', 'When?'), named('m3', 'How?')];
  const reply = await agent.run(input, thread, { principal: 'ada', messageId: 'm1' });
  expect(reply.text).toBe('By train.');
  expect(thread.messages.at(-2)).toMatchObject({ content: 'How?' });
});

test("a person is the same by the app's principalId, whatever else the principal says", async () => {
  const world = memoryWorld([{ text: 'Paris.' }]);
  const agent = world.agent({
    principalId: (principal) => String(Reflect.get(Object(principal), 'sub')),
  });
  const thread = await agent.thread('t');
  const send = async (principal: object) =>
    agent.run('Where?', thread, { messageId: 'm1', principal });
  await send({ sub: 'ada', session: 1 });
  expect((await send({ sub: 'ada', session: 2 })).text).toBe('Paris.');
  expect(await errorCode(send({ sub: 'eve', session: 1 }))).toBe('invalid-input');
});

test('a text that was refused under one id is accepted under another', async () => {
  const { agent, thread } = await advised();
  expect(await errorCode(agent.run('When?', thread, { messageId: 'm2', principal: 'eve' }))).toBe(
    'invalid-input',
  );
  const reply = await agent.run('When?', thread, { messageId: 'm3', principal: 'eve' });
  expect(reply.text).toBe('By train.');
});

test.each(storeKits)(
  'on a $name, of Ada and Eve who send it at one moment one is recorded, and the other refused',
  async (kit) => {
    using kept = kit.keep();
    const world = travelWorld(scriptedModel([{ text: 'Done.' }]), () => kept.open());
    const sent = ['ada', 'eve'].map(async (principal) => {
      const agent = world.agent();
      return agent.run('Book', await agent.thread('t'), { messageId: 'm1', principal });
    });
    const outcomes = (await Promise.allSettled(sent)).map((outcome) =>
      outcome.status === 'fulfilled' ? outcome.value.text : codeOf(outcome.reason),
    );
    expect(new Set(outcomes)).toEqual(new Set(['Done.', 'invalid-input']));
    const agent = world.agent();
    expect((await agent.thread('t')).messages).toHaveLength(2);
  },
);

function codeOf(error: unknown): unknown {
  return HoldpointError.isInstance(error) ? error.code : error;
}
