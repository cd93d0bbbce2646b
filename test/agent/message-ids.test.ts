import { expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book, memoryWorld } from '../support/travel-world.ts';

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
  for (const messageId of ['m0', 'm1', 'm2']) {
    const { text, status, messages } = await agent.run('Again', thread, { messageId });
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
