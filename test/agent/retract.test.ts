import { type AgentThread, memoryStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book, memoryWorld } from '../support/travel-world.ts';

const texts = ({ messages }: AgentThread) =>
  messages.map(({ content }) => (typeof content === 'string' ? content : 'reply'));

test('a message that the provider refuses is withdrawn, and the thread can be used again', async () => {
  const world = memoryWorld([{ text: 'Hello.' }, { fail: 'bad image' }, { text: 'Better.' }]);
  const agent = world.agent();
  const thread = await agent.thread('t');
  await agent.run('Hi', thread);
  await expect(agent.run('[bad image]', thread)).rejects.toThrow('bad image');
  await agent.retract(thread, undefined, { principal: 'ann' });
  expect(texts(thread)).toEqual(['Hi', 'reply']);
  expect(thread).toMatchObject({ status: 'idle', failure: undefined, nextDeadline: undefined });
  expect(thread.events.at(-1)).toMatchObject({ type: 'message-retracted', principal: 'ann' });
  expect(await agent.run('Good words', thread)).toMatchObject({ text: 'Better.' });
  expect(JSON.stringify(world.played.prompts)).not.toContain('[bad image]","');
  expect(texts(thread)).toEqual(['Hi', 'reply', 'Good words', 'reply']);
});

test('nothing of it is left for the model: the first message of a thread can be withdrawn, too', async () => {
  const world = memoryWorld([{ fail: 'bad' }, { text: 'Hello.' }]);
  const agent = world.agent();
  const thread = await agent.thread('t');
  await expect(agent.run('Bad', thread)).rejects.toThrow('bad');
  await agent.retract(thread);
  expect(thread.messages).toEqual([]);
  expect(await agent.run([], thread)).toMatchObject({ status: 'completed', text: '' });
  expect(world.requests()).toBe(1);
});

test('an id that was withdrawn can be said anew, and its reply is the new one', async () => {
  const world = memoryWorld([{ fail: 'bad' }, { text: 'Fine.' }]);
  const agent = world.agent();
  const thread = await agent.thread('t');
  await expect(agent.run('Bad', thread, { messageId: 'm1' })).rejects.toThrow('bad');
  await agent.retract(thread, 'm1');
  expect(await agent.run('Good', thread, { messageId: 'm1' })).toMatchObject({ text: 'Fine.' });
  expect(await agent.run('Good', thread, { messageId: 'm1' })).toMatchObject({ text: 'Fine.' });
  expect(world.requests()).toBe(2);
  expect(texts(thread)).toEqual(['Good', 'reply']);
});

test('retracts the last of several messages without a reply, and the model still has to reply', async () => {
  const world = memoryWorld([{ fail: 'down' }, { fail: 'down' }, { text: 'Hello.' }]);
  const agent = world.agent();
  const thread = await agent.thread('t');
  await expect(agent.run('One', thread)).rejects.toThrow('down');
  await expect(agent.run('Two', thread)).rejects.toThrow('down');
  await agent.retract(thread);
  expect(texts(thread)).toEqual(['One']);
  expect(await agent.run([], thread)).toMatchObject({ text: 'Hello.' });
});

test('a withdrawn message does not speak for the one who asks next', async () => {
  const calls = [book('c1', 'Paris')];
  const world = memoryWorld([{ fail: 'down' }, { fail: 'down' }, { calls }]);
  const agent = world.agent();
  const thread = await agent.thread('t');
  const run = agent.run('Book', thread, { principal: 'ann' });
  await expect(run).rejects.toThrow('down');
  await expect(agent.run('Faster', thread, { principal: 'bob' })).rejects.toThrow('down');
  await agent.retract(thread);
  const { approvalRequests } = await agent.run([], thread);
  expect(approvalRequests).toMatchObject([{ requestedBy: 'ann' }]);
});

test.each([
  ['a thread without messages', async () => memoryWorld([]).agent(), undefined],
  ['a message that has a reply', replied, undefined],
  ['a message of another id', failed, 'm2'],
  ['a message whose reply proposed a call that waits', waiting, undefined],
])('%s: nothing is withdrawn', async (_name, make, messageId) => {
  const agent = await make();
  const thread = await agent.thread('t');
  const before = JSON.stringify(thread);
  expect(await errorCode(agent.retract(thread, messageId))).toBe('not-allowed');
  expect(JSON.stringify(thread)).toBe(before);
});

async function replied() {
  const agent = memoryWorld([{ text: 'Hello.' }]).agent();
  await agent.run('Hi', await agent.thread('t'));
  return agent;
}

async function failed() {
  const agent = memoryWorld([{ fail: 'down' }]).agent();
  const run = agent.run('Hi', await agent.thread('t'), { messageId: 'm1' });
  await expect(run).rejects.toThrow('down');
  return agent;
}

async function waiting() {
  const agent = memoryWorld([{ calls: [book('c1', 'Paris')] }]).agent();
  await agent.run('Hi', await agent.thread('t'));
  return agent;
}

test('a thread with a withdrawn message survives its JSON form', async () => {
  const world = memoryWorld([{ text: 'Hello.' }, { fail: 'bad' }, { text: 'Again.' }]);
  const agent = world.agent();
  const thread = await agent.thread('t');
  await agent.run('Hi', thread);
  await expect(agent.run('Bad', thread)).rejects.toThrow('bad');
  await agent.retract(thread);
  const elsewhere = world.agent({ store: memoryStore() });
  const restored = await elsewhere.restore(JSON.stringify(thread));
  expect(texts(restored)).toEqual(texts(thread));
  expect(await elsewhere.run('Go', restored)).toMatchObject({ text: 'Again.' });
});
