import type { ModelMessage } from 'ai';
import { expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book, memoryWorld } from '../support/travel-world.ts';

const message = (messageId: string, content = 'Book'): ModelMessage => ({
  role: 'user',
  content,
  providerOptions: { holdpoint: { messageId } },
});

test('a message that its client sends again, under its own id for it, is recorded once', async () => {
  const world = memoryWorld([{ text: 'Done.' }, { text: 'Again.' }]);
  const agent = world.agent();
  const { thread } = await agent.run(message('m1'), await agent.thread('t'));
  const { revision } = thread;
  expect(await agent.run(message('m1'), thread)).toMatchObject({ text: 'Done.' });
  expect(await errorCode(agent.run(message('m1', 'Other words'), thread))).toBe('invalid-input');
  expect(thread.revision).toBe(revision);
  expect(await agent.run([message('m1'), message('m2')], thread)).toMatchObject({ text: 'Again.' });
  expect(thread.messages.filter(({ role }) => role === 'user')).toHaveLength(2);
});

test('twice in one input, it is one message; without an id, it is two', async () => {
  const world = memoryWorld([{ text: 'Done.' }]);
  const agent = world.agent();
  const input = [message('m1'), message('m1'), 'Book', 'Book'];
  const { thread } = await agent.run(input, await agent.thread('t'));
  expect(thread.messages.filter(({ role }) => role === 'user')).toHaveLength(3);
});

test('it is known while people are asked, when it is queued, and in other processes', async () => {
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const agent = world.agent();
  const first = await agent.run(message('m1'), await agent.thread('t'));
  const [request] = first.approvalRequests;
  if (request === undefined) throw new Error('Nothing is asked.');
  const elsewhere = world.agent();
  expect(await elsewhere.run(message('m1'), await elsewhere.thread('t'))).toMatchObject({
    status: 'waiting',
  });
  const input = [request.approve(), message('m2'), message('m1'), message('m2')];
  const { thread } = await elsewhere.run(input, await elsewhere.thread('t'));
  expect(thread.messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'user',
    'assistant',
  ]);
});

test('two processes that take it at one moment record it once', async () => {
  const world = memoryWorld([{ text: 'Done.' }]);
  const runs = [world.agent(), world.agent(), world.agent()].map(async (agent) =>
    agent.run(message('m1'), await agent.thread('t')),
  );
  await Promise.all(runs);
  const agent = world.agent();
  const { messages } = await agent.thread('t');
  expect(messages.filter(({ role }) => role === 'user')).toHaveLength(1);
  expect(world.requests()).toBe(1);
});
