import { tool } from 'ai';
import { type AgentThread, later, laterWithin } from 'holdpoint';
import { runWorker } from 'holdpoint/worker';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book, cityInput, look, memoryWorld, travelTools } from '../support/travel-world.ts';
import { whichClass } from '../support/which-class.ts';

const script = [{ calls: [look('c0', 'Rome'), book('c1', 'Paris')] }, { text: 'Done.' }];
const inTime = { status: 'succeeded', output: 'booked' } as const;
/** A thread whose call `c1` goes on outside, for a second. */
async function deferredWorld() {
  const clock = { now: 0 };
  const world = memoryWorld(script);
  const made = tool({
    description: 'book',
    inputSchema: cityInput,
    execute: async () => laterWithin(1_000),
  });
  const open = () =>
    world.agent({
      tools: { ...travelTools(world.ran), book: made },
      toolApproval: {},
      now: () => clock.now,
    });
  const agent = open();
  const { thread } = await agent.run('Book', await agent.thread('t'));
  return { clock, world, open, agent, thread };
}

function overdue(thread: AgentThread): void {
  expect(thread.calls[1]).toMatchObject({
    status: 'failed',
    outcome: { error: expect.stringMatching(/did not arrive in time.*not known/) },
  });
}

test('until the last millisecond the result is taken', async () => {
  const { clock, agent, thread } = await deferredWorld();
  expect(thread.calls[1]).toMatchObject({ status: 'deferred', expiresAt: 1_000 });
  clock.now = 999;
  expect(await agent.run([], thread)).toMatchObject({ status: 'waiting' });
  await agent.deliver(thread, 'c1', inTime);
  clock.now = 5_000;
  expect(await agent.run([], thread)).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(thread.calls[1]).toMatchObject({ status: 'succeeded' });
});

test('when its time is over the call fails, the model is told so, and what comes after is refused', async () => {
  const { clock, agent, thread } = await deferredWorld();
  clock.now = 1_000;
  expect(await agent.run([], thread)).toMatchObject({ status: 'completed', text: 'Done.' });
  overdue(thread);
  expect(thread.messages.at(-2)).toMatchObject({
    content: [{ toolCallId: 'c0' }, { toolCallId: 'c1', output: { type: 'error-text' } }],
  });
  expect(await errorCode(agent.deliver(thread, 'c1', inTime))).toBe('already-answered');
});

test('a result that comes late but before anybody looked is a fact, and is taken', async () => {
  const { clock, agent, thread } = await deferredWorld();
  clock.now = 2_000;
  await agent.deliver(thread, 'c1', inTime);
  expect(await agent.run([], thread)).toMatchObject({ status: 'completed' });
  expect(thread.calls[1]).toMatchObject({ status: 'succeeded' });
});

test('a new message is taken once the time is over, and refused before', async () => {
  const { clock, agent, thread } = await deferredWorld();
  expect(await errorCode(agent.run('Hello?', thread))).toBe('requests-open');
  clock.now = 1_000;
  expect(await agent.run('Hello?', thread)).toMatchObject({ status: 'completed' });
  overdue(thread);
});

test('a store lists the thread as due at that time, and a worker goes on with it in another process', async () => {
  const { clock, world, open } = await deferredWorld();
  expect(await world.store.list({ dueBefore: 1_000 })).toEqual([]);
  expect(await world.store.list({ dueBefore: 1_001 })).toMatchObject([{ threadId: 't' }]);
  clock.now = 1_000;
  const agent = open();
  const done = new AbortController();
  agent.on('run-ended', () => done.abort());
  await runWorker({ agent, store: world.store, signal: done.signal });
  const thread = await agent.thread('t');
  expect(thread.status).toBe('idle');
  overdue(thread);
});

test('two processes that look at once end the call once', async () => {
  const { clock, open } = await deferredWorld();
  clock.now = 1_000;
  const agents = [open(), open()];
  await Promise.all(agents.map(async (agent) => agent.run([], await agent.thread('t'))));
  const [agent] = agents;
  const { events } = await (agent ?? open()).thread('t');
  const ends = events.filter((event) => event.type === 'call-ended' && event.index === 1);
  expect(ends).toHaveLength(1);
});

describe('a question beside such a call', () => {
  test('expires with it: an answer that could not be brought is refused', async () => {
    const { clock, agent, thread } = await deferredWorld();
    const { requestId, expiresAt } = await agent.requestAnswer(thread, 'c1', whichClass);
    expect(expiresAt).toBe(1_000);
    clock.now = 999;
    expect((await agent.requests({})).requests).toMatchObject([{ request: { requestId } }]);
    clock.now = 1_000;
    expect((await agent.requests({})).requests).toEqual([]);
    clock.now = 1_000;
    const answers = [{ key: 'class', optionIds: ['first'] }];
    const answer = { type: 'question-response', requestId, status: 'answered', answers } as const;
    expect(await errorCode(agent.run(answer, thread))).toBe('request-closed');
    expect(await agent.run([], thread)).toMatchObject({ status: 'completed' });
    overdue(thread);
    expect(thread.activeRequests).toEqual([]);
  });

  test('keeps its own time where that is over first', async () => {
    const { agent, thread } = await deferredWorld();
    const asked = await agent.requestAnswer(thread, 'c1', { ...whichClass, expiresAfterMs: 10 });
    expect(asked.expiresAt).toBe(10);
  });

  test('is not asked when the time is over', async () => {
    const { clock, agent, thread } = await deferredWorld();
    clock.now = 1_000;
    expect(await errorCode(agent.requestAnswer(thread, 'c1', whichClass))).toBe('not-allowed');
    expect(thread.activeRequests).toEqual([]);
  });
});

test('without a time a call waits as long as it takes', async () => {
  const clock = { now: 0 };
  const world = memoryWorld(script);
  const made = tool({ description: 'book', inputSchema: cityInput, execute: async () => later });
  const tools = { ...travelTools(world.ran), book: made };
  const agent = world.agent({ tools, toolApproval: {}, now: () => clock.now });
  const { thread } = await agent.run('Book', await agent.thread('t'));
  clock.now = 1e12;
  expect(await agent.run([], thread)).toMatchObject({ status: 'waiting' });
  expect(thread.calls[1]).not.toHaveProperty('expiresAt');
});

test.each([0, -1, Number.NaN, Infinity, 2 ** 60])('%s milliseconds are no time', (milliseconds) => {
  expect(() => laterWithin(milliseconds)).toThrow(TypeError);
});

test.each([Number.NaN, Infinity, -5, 0, 0.5, '1000', null])(
  'a made-up time of %s is none: the call waits, and the thread can be read',
  async (expiresAfterMs) => {
    const world = memoryWorld(script);
    const made = tool({
      description: 'book',
      inputSchema: cityInput,
      execute: async () => ({ [later]: { expiresAfterMs } }),
    });
    const tools = { ...travelTools(world.ran), book: made };
    const agent = world.agent({ tools, toolApproval: {} });
    const { status, thread } = await agent.run('Book', await agent.thread('t'));
    expect(status).toBe('waiting');
    const reread = await world.agent().restore(JSON.stringify(thread));
    expect(reread.calls[1]).toMatchObject({ status: 'deferred' });
    expect(reread.calls[1]?.expiresAt).toBeUndefined();
  },
);
