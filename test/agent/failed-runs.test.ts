import { type AgentOptions, memoryStore, type ThreadStore } from 'holdpoint';
import { runWorker } from 'holdpoint/worker';
import { expect, test, vi } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { eventsIn } from '../support/events-in.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import type { ScriptedStep } from '../support/script.ts';
import { book, travelTools, travelWorld } from '../support/travel-world.ts';
import { waitUntil } from '../support/waiting.ts';

const overloaded: ScriptedStep = { fail: 'overloaded' };

/** A thread that needs a run, and agents on it whose model plays a script. */
function failingWorld(script: ScriptedStep[], options: Partial<AgentOptions> = {}) {
  const store = memoryStore();
  const clock = { now: 1_000 };
  const played = scriptedModel(script, { repeat: true });
  const world = travelWorld(played, () => store);
  const agent = (over: Partial<AgentOptions> = {}) =>
    world.agent({ now: () => clock.now, ...options, ...over });
  return { store, clock, played, agent };
}

test('failed runs are counted in the log, with the time of the next attempt, which is later each time', async () => {
  const { store, clock, agent } = failingWorld([overloaded]);
  const own = agent();
  const thread = await own.thread('t');
  await expect(own.run('Hi', thread)).rejects.toThrow('overloaded');
  const delays: number[] = [];
  for (let failures = 1; failures <= 5; failures += 1) {
    expect(thread.failure).toMatchObject({ failures, error: 'overloaded' });
    expect(thread.nextDeadline).toBe(thread.failure?.retryAt);
    expect(await store.head('t')).toMatchObject({ failures, nextDeadline: thread.nextDeadline });
    delays.push((thread.nextDeadline ?? 0) - clock.now);
    clock.now = thread.nextDeadline ?? 0;
    await expect(own.run([], thread, { onlyWhenDue: true })).rejects.toThrow('overloaded');
  }
  /* From 1 s, doubled each time, less up to a half of it. */
  for (const [index, delay] of delays.entries()) {
    expect(delay).toBeGreaterThan(500 * 2 ** index);
    expect(delay).toBeLessThanOrEqual(1_000 * 2 ** index);
  }
});

test('the delay has a cap, and threads that failed together are tried again at different times', async () => {
  const { clock, agent } = failingWorld([overloaded], {
    retry: { maxAttempts: 50, maxDelayMs: 4_000 },
  });
  const own = agent();
  const resumed: number[] = [];
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
    clock.now = 1_000;
    const thread = await own.thread(id);
    await expect(own.run('Hi', thread)).rejects.toThrow('overloaded');
    for (let nth = 0; nth < 6; nth += 1) {
      clock.now = thread.nextDeadline ?? 0;
      await expect(own.run([], thread)).rejects.toThrow('overloaded');
    }
    const delay = (thread.nextDeadline ?? 0) - clock.now;
    expect(delay).toBeLessThanOrEqual(4_000);
    resumed.push(delay);
  }
  expect(new Set(resumed).size).toBeGreaterThan(4);
});

test('a run that comes too early does nothing, and says when to come again', async () => {
  const { clock, agent, played } = failingWorld([overloaded, { text: 'Done.' }]);
  const own = agent();
  const thread = await own.thread('t');
  await expect(own.run('Hi', thread)).rejects.toThrow('overloaded');
  const { revision, nextDeadline = 0 } = thread;
  clock.now = nextDeadline - 1;
  const early = await own.run([], thread, { onlyWhenDue: true });
  expect(early).toMatchObject({ status: 'waiting', nextDeadline });
  expect([thread.revision, played.requests]).toEqual([revision, 1]);
  clock.now = nextDeadline;
  const { status, nextDeadline: later } = await own.run([], thread, { onlyWhenDue: true });
  expect([status, later, thread.failure]).toEqual(['completed', undefined, undefined]);
});

test('onlyWhenDue is refused beside a message, which is news whenever it comes', async () => {
  const { agent } = failingWorld([{ text: 'Done.' }]);
  const own = agent();
  const run = own.run('Hi', await own.thread('t'), { onlyWhenDue: true });
  expect(await errorCode(run)).toBe('invalid-input');
});

test('after as many failures as the app allows the thread is stuck: listed, reported once, left alone', async () => {
  const { store, clock, agent, played } = failingWorld([overloaded], { retry: { maxAttempts: 3 } });
  const own = agent();
  await expect(own.run('Hi', await own.thread('t'))).rejects.toThrow('overloaded');
  const stuck: unknown[] = [];
  const errors: unknown[] = [];
  const stopping = new AbortController();
  const working = runWorker({
    agent: agent(),
    store,
    signal: stopping.signal,
    pollMs: 1,
    onError: (error, threadId) => errors.push([String(error), threadId]),
    onStuck: (news) => stuck.push(news),
  });
  await waitUntil(async () => {
    clock.now += 1_000;
    return stuck.length > 0;
  });
  for (let polls = 0; polls < 20; polls += 1) {
    clock.now += 1_000_000;
    await new Promise(setImmediate);
  }
  stopping.abort();
  await working;
  expect(stuck).toEqual([{ threadId: 't', failure: { failures: 3, error: 'overloaded' } }]);
  expect(errors).toEqual([
    ['Error: overloaded', 't'],
    ['Error: overloaded', 't'],
  ]);
  expect(played.requests).toBe(3);
  expect(await store.list({ status: 'stuck' })).toMatchObject([{ threadId: 't', failures: 3 }]);
  const thread = await own.thread('t');
  expect([thread.status, thread.nextDeadline]).toEqual(['stuck', undefined]);
  expect(await own.run([], thread, { onlyWhenDue: true })).toMatchObject({ status: 'stuck' });
});

test.each([
  ['a run by hand', []],
  ['a new message', 'Hello?'],
])('a stuck thread goes on with %s', async (_what, input) => {
  const { store, agent, played } = failingWorld([overloaded, { text: 'Done.' }], {
    retry: { maxAttempts: 1 },
  });
  const own = agent();
  const thread = await own.thread('t');
  await expect(own.run('Hi', thread)).rejects.toThrow('overloaded');
  expect(thread.status).toBe('stuck');
  expect(await own.run(input, thread)).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(played.requests).toBe(2);
  expect(await store.head('t')).toMatchObject({ status: 'idle', failures: 0 });
});

test('a run that its app has aborted is not a failure: the thread is due at once', async () => {
  const { store, agent } = failingWorld([{ text: 'Done.' }]);
  const stopping = new AbortController();
  const own = agent();
  own.on('run-started', () => stopping.abort(new Error('shutdown')));
  const thread = await own.thread('t');
  await expect(own.run('Hi', thread, { abortSignal: stopping.signal })).rejects.toThrow('shutdown');
  expect(await store.head('t')).toMatchObject({ failures: 0, nextDeadline: 0 });
  expect((await eventsIn(store, 't')).at(-1)).toMatchObject({ type: 'run-ended', aborted: true });
});

test('a process that dies each time it runs the thread counts as failing, and ends up stuck', async () => {
  const { store, clock, agent } = failingWorld([{ text: 'Done.' }], {
    retry: { maxAttempts: 3 },
    leaseMs: 1_000,
  });
  const dead: ThreadStore = {
    ...store,
    append: async (threadId, expected, entries, summary, ...beside) => {
      if (summary.status !== 'running') throw new Error('the process is gone');
      return store.append(threadId, expected, entries, summary, ...beside);
    },
  };
  const dying = agent({ store: dead });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    await expect(dying.run('Hi', await dying.thread('t'))).rejects.toThrow('gone');
    const worker = agent();
    for (let died = 1; died < 3; died += 1) {
      clock.now += 1_000;
      const found = await worker.thread('t');
      expect(await worker.run([], found, { onlyWhenDue: true })).toMatchObject({
        status: 'waiting',
      });
      expect(found.failure).toMatchObject({ failures: died });
      clock.now = found.nextDeadline ?? 0;
      await expect(dying.run([], await dying.thread('t'))).rejects.toThrow('gone');
    }
    clock.now += 1_000;
    const thread = await worker.thread('t');
    expect(await worker.run([], thread, { onlyWhenDue: true })).toMatchObject({ status: 'stuck' });
    expect(await store.list({ status: 'stuck' })).toHaveLength(1);
  } finally {
    vi.useRealTimers();
  }
});

test('four workers ask a provider that always fails at most 12 times in 10 seconds', async () => {
  vi.useFakeTimers();
  try {
    const { store, agent, played } = failingWorld([overloaded], { now: Date.now });
    const own = agent();
    await expect(own.run('Hi', await own.thread('t'))).rejects.toThrow('overloaded');
    const stopping = new AbortController();
    const working = [1, 2, 3, 4].map(async () =>
      runWorker({ agent: agent(), store, signal: stopping.signal, pollMs: 10 }),
    );
    await vi.advanceTimersByTimeAsync(10_000);
    stopping.abort();
    await Promise.all(working);
    expect(played.requests).toBeGreaterThan(3);
    expect(played.requests).toBeLessThanOrEqual(12);
  } finally {
    vi.useRealTimers();
  }
});

test('an approved call whose tool is gone waits for an agent that has it, and says why', async () => {
  const store = memoryStore();
  const clock = { now: 1_000 };
  const played = scriptedModel([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const world = travelWorld(played, () => store);
  const agent = world.agent({ now: () => clock.now });
  const { thread, approvalRequests } = await agent.run('Book', await agent.thread('t'));
  await agent.respond(
    approvalRequests.map((request) => request.approve()),
    thread,
  );
  const { book: _gone, ...others } = travelTools([]);
  const without = world.agent({ tools: others, toolApproval: {}, now: () => clock.now });
  const found = await without.thread('t');
  expect(await errorCode(without.run([], found))).toBe('missing-tool');
  expect(found.calls).toMatchObject([{ status: 'approved', attempts: 0 }]);
  expect(found.failure?.error).toContain("no tool 'book'");
  expect(await store.head('t')).toMatchObject({ status: 'due', failures: 1 });
  const restored = await agent.run([], thread);
  expect([restored.status, world.ran.length]).toEqual(['completed', 1]);
});

test('who does not want to wait for a tool that is gone cancels its call', async () => {
  const world = failingWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const agent = world.agent();
  const { thread, approvalRequests } = await agent.run('Book', await agent.thread('t'));
  const { book: _gone, ...others } = travelTools([]);
  const without = world.agent({ tools: others, toolApproval: {} });
  const found = await without.thread('t');
  const answers = approvalRequests.map((request) => request.approve());
  expect(await errorCode(without.run(answers, found))).toBe('missing-tool');
  await without.cancel(found, 'The tool is gone.', { principal: 'ann' });
  expect(await without.run([], found)).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(thread.id).toBe('t');
});

test.each([
  { maxAttempts: 0 },
  { maxAttempts: Number.NaN },
  { initialDelayMs: 0 },
  { initialDelayMs: Infinity },
  { maxDelayMs: Number.NaN },
])('retry: %o can not be used, and is a TypeError', (retry) => {
  expect(() => failingWorld([], { retry }).agent()).toThrow(TypeError);
});
