import { createAgent, memoryStore } from 'holdpoint';
import { askConfirmation } from 'holdpoint/tools';
import { expect, test } from 'vitest';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, memoryWorld } from '../support/travel-world.ts';

const ann = { id: 'ann', roles: ['buyer'] };

test('a message is recorded with who sent it, and through which channel', async () => {
  const world = memoryWorld([{ text: 'Hello.' }]);
  const agent = world.agent();
  const thread = await agent.thread('t');
  await agent.run('Hi', thread, { principal: ann, channel: 'slack' });
  expect(thread.events.find(({ type }) => type === 'message-added')).toMatchObject({
    principal: ann,
    channel: 'slack',
  });
});

test('a request says who asked for it, also when somebody else resumes the thread in between', async () => {
  const world = memoryWorld([{ fail: 'overloaded' }, { calls: [book('c1', 'Paris')] }]);
  const agent = world.agent();
  const thread = await agent.thread('t');
  await expect(agent.run('Book', thread, { principal: ann })).rejects.toThrow('overloaded');
  const resumed = await agent.run([], thread, { principal: 'a worker' });
  expect(resumed.approvalRequests).toMatchObject([{ requestedBy: ann }]);
  expect(JSON.parse(JSON.stringify(thread.activeRequests))).toMatchObject([{ requestedBy: ann }]);
});

test('an approval is bound to who asked: a log in which that was changed asks again', async () => {
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const agent = world.agent();
  const asked = await agent.run('Book', await agent.thread('t'), { principal: ann });
  const other = memoryWorld([{ calls: [book('c1', 'Paris')] }]).agent();
  const otherwise = await other.run('Book', await other.thread('t'), { principal: 'bob' });
  expect(asked.approvalRequests[0]?.digest).not.toBe(otherwise.approvalRequests[0]?.digest);
});

test('a question says it too, and a message without a principal asks for nobody', async () => {
  const store = memoryStore();
  const calls = [{ id: 'c1', name: 'ask', input: { question: 'Sure?' } }];
  const { model } = scriptedModel([{ calls }, { calls }], { repeat: true });
  const agent = createAgent({ model, store, tools: { ask: askConfirmation() } });
  const named = await agent.run('Ask me', await agent.thread('a'), { principal: ann });
  expect(named.userInputRequests).toMatchObject([{ requestedBy: ann }]);
  const unnamed = await agent.run('Ask me', await agent.thread('b'));
  expect(unnamed.userInputRequests[0]).not.toHaveProperty('requestedBy');
});
