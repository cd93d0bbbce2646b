import { tool } from 'ai';
import { type AgentOptions, createAgent, memoryStore } from 'holdpoint';
import { scriptedModel } from 'holdpoint/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

const cities = ['a', 'b', 'c', 'd'];

/** Agents on one store whose tool `slow` ends when it is allowed to; `start` resolves when a number of calls has begun. */
function slowWorld(options: Partial<AgentOptions> = {}) {
  const store = memoryStore();
  const clock = { now: 1_000 };
  const begun: string[] = [];
  const ends = new Map<string, (text: string) => void>();
  let running = 0;
  let most = 0;
  const slow = tool({
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => {
      begun.push(city);
      running += 1;
      most = Math.max(most, running);
      return new Promise<string>((resolve) => {
        ends.set(city, resolve);
      });
    },
  });
  const calls = cities.map((city) => ({ id: city, name: 'slow', input: { city } }));
  const played = scriptedModel([{ calls }, { text: 'Done.' }]);
  const agent = (own: Partial<AgentOptions> = {}) =>
    createAgent({
      model: played.model,
      tools: { slow },
      store,
      now: () => clock.now,
      leaseMs: 1_000,
      abortGraceMs: 0,
      ...options,
      ...own,
    });
  const end = async (city: string): Promise<void> => {
    running -= 1;
    ends.get(city)?.(`${city}!`);
    await new Promise((resolve) => {
      setTimeout(resolve, 30);
    });
  };
  return { agent, begun, end, clock, played, most: () => most };
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) {
    await new Promise((resolve) => {
      setTimeout(resolve, 1);
    });
  }
}

test('at most so many calls run at once, in order, and none is recorded as started before its turn', async () => {
  const world = slowWorld();
  const agent = world.agent({ toolCallConcurrency: 2 });
  const thread = await agent.thread('t');
  const running = agent.run('Go', thread);
  await until(() => world.begun.length === 2);
  const statuses = () => thread.calls.map(({ status }) => status);
  expect(statuses()).toEqual(['started', 'started', 'proposed', 'proposed']);
  await world.end('b');
  expect(world.begun).toEqual(['a', 'b', 'c']);
  expect(statuses()).toEqual(['started', 'succeeded', 'started', 'proposed']);
  for (const city of ['a', 'c', 'd']) await world.end(city);
  expect(await running).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(world.begun).toEqual(cities);
  expect(world.most()).toBe(2);
  expect(thread.calls.map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1]);
});

test('approved calls wait for their turn as well', async () => {
  const world = slowWorld({ toolApproval: { slow: 'user-approval' }, toolCallConcurrency: 1 });
  const agent = world.agent();
  const { approvalRequests, thread } = await agent.run('Go', await agent.thread('t'));
  const running = agent.run(
    approvalRequests.map((request) => request.approve()),
    thread,
  );
  for (const city of cities) {
    await until(() => world.begun.at(-1) === city);
    expect(thread.calls.filter(({ status }) => status === 'started')).toHaveLength(1);
    await world.end(city);
  }
  expect(await running).toMatchObject({ text: 'Done.' });
  expect(world.begun).toEqual(cities);
});

test('after a crash the calls that waited for their turn start, once, and the lost one does not', async () => {
  const world = slowWorld({ toolCallConcurrency: 1 });
  const dying = world.agent();
  void dying.run('Go', await dying.thread('t')).catch(() => {});
  await until(() => world.begun.length === 1);
  world.clock.now += 2_000;
  const agent = world.agent();
  const thread = await agent.thread('t');
  expect(thread.calls.map(({ status }) => status)).toEqual([
    'indeterminate',
    'proposed',
    'proposed',
    'proposed',
  ]);
  expect(await agent.run([], thread)).toMatchObject({ status: 'indeterminate' });
  await agent.settle(thread, 'a', { status: 'failed', error: 'lost' });
  expect(thread.nextDeadline).toBe(0);
  const running = agent.run([], thread);
  for (const city of ['b', 'c', 'd']) {
    await until(() => world.begun.at(-1) === city);
    await world.end(city);
  }
  expect(await running).toMatchObject({ text: 'Done.' });
  expect(world.begun).toEqual(cities);
});

test('a call that waited for its turn is decided again: other rules may apply now', async () => {
  const world = slowWorld({ toolCallConcurrency: 1 });
  const dying = world.agent();
  void dying.run('Go', await dying.thread('t')).catch(() => {});
  await until(() => world.begun.length === 1);
  world.clock.now += 2_000;
  const agent = world.agent({
    toolApproval: {
      slow: ({ city }: { city: string }) =>
        city === 'b' ? { type: 'denied', reason: 'not b' } : 'user-approval',
    },
  });
  const thread = await agent.thread('t');
  await agent.settle(thread, 'a', { status: 'failed', error: 'lost' });
  const waiting = await agent.run([], thread);
  expect(world.begun).toEqual(['a']);
  expect(thread.calls).toMatchObject([
    { status: 'failed' },
    { outcome: { status: 'denied', reason: 'not b' } },
    { status: 'waiting' },
    { status: 'waiting' },
  ]);
  expect(waiting.approvalRequests).toHaveLength(2);
});

test('a call whose tool is gone waits for an agent that has it', async () => {
  const world = slowWorld({ toolCallConcurrency: 1 });
  const dying = world.agent();
  void dying.run('Go', await dying.thread('t')).catch(() => {});
  await until(() => world.begun.length === 1);
  world.clock.now += 2_000;
  const agent = world.agent({ tools: {}, toolApproval: {} });
  const thread = await agent.thread('t');
  await agent.settle(thread, 'a', { status: 'failed', error: 'lost' });
  await expect(agent.run([], thread)).rejects.toMatchObject({ code: 'missing-tool' });
  expect(thread.calls.slice(1).every(({ status }) => status === 'proposed')).toBe(true);
});

test.each(['stop', 'cancel'] as const)(
  '%s ends the calls that wait for their turn',
  async (how) => {
    const world = slowWorld({ toolCallConcurrency: 1 });
    const agent = world.agent();
    const thread = await agent.thread('t');
    const running = agent.run('Go', thread).catch((error: unknown) => error);
    await until(() => world.begun.length === 1);
    const ended = how === 'stop' ? agent.stop(thread) : agent.cancel(thread);
    await world.end('a');
    await ended;
    await running;
    expect(world.begun).toEqual(['a']);
    expect(thread.calls.slice(1).map(({ status }) => status)).toEqual([
      'denied',
      'denied',
      'denied',
    ]);
  },
);

test('an aborted run leaves the calls that wait, and the next run starts them', async () => {
  const world = slowWorld({ toolCallConcurrency: 2 });
  const agent = world.agent();
  const thread = await agent.thread('t');
  const abort = new AbortController();
  const { signal: abortSignal } = abort;
  const running = agent.run('Go', thread, { abortSignal }).catch((error: unknown) => error);
  await until(() => world.begun.length === 2);
  abort.abort(new Error('gone'));
  for (const city of ['a', 'b']) await world.end(city);
  await running;
  expect(thread.calls.slice(2).map(({ status }) => status)).toEqual(['proposed', 'proposed']);
  for (const toolCallId of ['a', 'b']) {
    const call = thread.calls.find((each) => each.toolCallId === toolCallId);
    if (call?.outcome === undefined)
      await agent.settle(thread, toolCallId, { status: 'failed', error: 'gone' });
  }
  const again = agent.run([], thread);
  await until(() => world.begun.length === 4);
  for (const city of ['c', 'd']) await world.end(city);
  expect(await again).toMatchObject({ text: 'Done.' });
  expect(world.begun).toEqual(cities);
});
