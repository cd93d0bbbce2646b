import { hasToolCall, isLoopFinished, isStepCount } from 'ai';
import { runWorker } from 'holdpoint/worker';
import { expect, test } from 'vitest';
import { book, look, memoryWorld } from '../support/travel-world.ts';

const looking = [
  { calls: [look('c1', 'Rome')] },
  { calls: [look('c2', 'Oslo')] },
  { calls: [look('c3', 'Bonn')] },
  { text: 'Done.' },
];

test("the AI SDK's conditions end the run, and run([], thread) continues", async () => {
  const world = memoryWorld(looking);
  const agent = world.agent({ stopWhen: [isStepCount(2), isLoopFinished()] });
  const thread = await agent.thread('t');
  expect(await agent.run('Look', thread)).toMatchObject({ status: 'max-steps' });
  expect(world.requests()).toBe(2);
  expect(world.ran).toHaveLength(2);
  expect(thread.nextDeadline).toBeUndefined();
  expect(await agent.run([], thread)).toMatchObject({ status: 'completed', text: 'Done.' });
});

test('no worker continues where a condition was met', async () => {
  const world = memoryWorld(looking);
  const agent = world.agent({ stopWhen: hasToolCall('look') });
  await agent.run('Look', await agent.thread('t'));
  const signal = AbortSignal.timeout(80);
  await runWorker({ agent, store: world.store, signal, pollMs: 10 });
  expect(world.requests()).toBe(1);
});

test('a condition is checked when the approved call has ended, in another process too', async () => {
  const world = memoryWorld([{ calls: [book('c1', 'Rome')] }, { text: 'Done.' }]);
  const stopWhen = hasToolCall('book');
  const first = world.agent({ stopWhen });
  const { approvalRequests } = await first.run('Book', await first.thread('t'));
  const second = world.agent({ stopWhen });
  const thread = await second.thread('t');
  const answers = approvalRequests.map((request) => request.approve());
  expect(await second.run(answers, thread)).toMatchObject({ status: 'max-steps' });
  expect(world.ran).toHaveLength(1);
  expect(world.requests()).toBe(1);
  /* The condition is still met, and the app says that it goes on. */
  expect(await second.run([], thread)).toMatchObject({ text: 'Done.' });
});

test('a message begins a turn, whose steps are counted anew', async () => {
  const world = memoryWorld(looking);
  const agent = world.agent({ stopWhen: isStepCount(1) });
  const thread = await agent.thread('t');
  expect(await agent.run('One', thread)).toMatchObject({ status: 'max-steps' });
  expect(await agent.run('Two', thread)).toMatchObject({ status: 'max-steps' });
  expect(world.requests()).toBe(2);
});

test('a condition that throws fails the run, and no step is taken', async () => {
  const world = memoryWorld(looking);
  const agent = world.agent({ stopWhen: async () => Promise.reject(new Error('no idea')) });
  const thread = await agent.thread('t');
  await expect(agent.run('Look', thread)).rejects.toThrow('no idea');
  expect(world.requests()).toBe(1);
  expect(thread.failure).toMatchObject({ error: 'no idea' });
});

test('a run can have a condition of its own, and the next has that of the agent', async () => {
  const world = memoryWorld(looking);
  const agent = world.agent();
  const thread = await agent.thread('t');
  await agent.run('Look', thread, { stopWhen: isStepCount(1) });
  expect(world.requests()).toBe(1);
  expect(await agent.run([], thread)).toMatchObject({ text: 'Done.' });
});
