import { tool } from 'ai';
import { createAgent, memoryStore, type ThreadStore } from 'holdpoint';
import { expect, test, vi } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, cityInput, look, travelWorld } from '../support/travel-world.ts';

const script = [{ calls: [look('c1', 'Rome'), book('c2', 'Paris')] }, { text: 'Done.' }];

/** A world whose `look` takes as long as the test says. */
function slowWorld({ leaseMs }: { leaseMs: number | undefined } = { leaseMs: 1_000 }) {
  const store = memoryStore();
  const clock = { now: 0 };
  const begun = Promise.withResolvers<void>();
  const found = Promise.withResolvers<string>();
  const played = scriptedModel(script);
  const world = travelWorld(played, () => store);
  const slow = tool({
    description: 'look',
    inputSchema: cityInput,
    execute: async () => {
      begun.resolve();
      return found.promise;
    },
  });
  const quick = tool({
    description: 'book',
    inputSchema: cityInput,
    execute: async (input, options) => {
      world.ran.push({
        name: 'book',
        input,
        idempotencyKey: Reflect.get(options, 'idempotencyKey'),
      });
      return { booked: input.city };
    },
  });
  const agent = (over: ThreadStore = store) =>
    world.agent({
      store: over,
      tools: { look: slow, book: quick },
      ...(leaseMs === undefined ? {} : { leaseMs }),
      now: () => clock.now,
    });
  return { world, store, clock, begun: begun.promise, found, agent };
}

test('while a run is at work: answers are recorded and return running, messages are refused', async () => {
  const { world, begun, found, agent } = slowWorld();
  const runner = agent();
  const running = runner.run('Go', await runner.thread('t'));
  await begun;
  const other = agent();
  const thread = await other.thread('t');
  expect(thread.status).toBe('running');
  expect(await errorCode(other.run('Hello?', thread))).toBe('thread-busy');
  const answers = thread.activeApprovalRequests.map((request) => request.approve());
  expect(await other.run(answers, thread)).toMatchObject({
    status: 'running',
    approvalRequests: [],
  });
  expect(world.ran).toEqual([]);
  found.resolve('a flight');
  expect(await running).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(world.ran).toHaveLength(1);
});

test('an approval that comes while a sibling runs starts its call at once', async () => {
  const { world, begun, found, agent } = slowWorld();
  const runner = agent();
  const running = runner.run('Go', await runner.thread('t'));
  await begun;
  const ended = new Promise((resolve) => runner.on('call-ended', resolve));
  const thread = await runner.thread('t');
  await runner.respond(
    thread.activeApprovalRequests.map((request) => request.approve()),
    thread,
  );
  await ended;
  expect(world.ran).toMatchObject([{ input: { city: 'Paris' } }]);
  found.resolve('a flight');
  expect(await running).toMatchObject({ status: 'completed' });
});

test('a run that works long renews its lease', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const { clock, begun, found, agent, store } = slowWorld();
    const runner = agent();
    const running = runner.run('Go', await runner.thread('t'));
    await begun;
    for (const now of [400, 800, 1_200]) {
      clock.now = now;
      const renewed = new Promise((resolve) => runner.on('run-renewed', resolve));
      await vi.advanceTimersByTimeAsync(334);
      await renewed;
      expect(await store.head('t')).toMatchObject({ status: 'running', nextDeadline: now + 1_000 });
    }
    const other = agent();
    expect(await errorCode(other.run('Hello?', await other.thread('t')))).toBe('thread-busy');
    found.resolve('a flight');
    await running;
  } finally {
    vi.useRealTimers();
  }
});

test('a lease is a minute, unless the app says otherwise', async () => {
  const { begun, found, agent, store } = slowWorld({ leaseMs: undefined });
  const runner = agent();
  const running = runner.run('Go', await runner.thread('t'));
  await begun;
  expect(await store.head('t')).toMatchObject({ status: 'running', nextDeadline: 60_000 });
  found.resolve('a flight');
  await running;
});

test('a store that stalls gets one renewal when it goes on, not all that were due', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const { begun, found, agent, store } = slowWorld();
    let stalled: Promise<void> = Promise.resolve();
    const { promise, resolve: goOn } = Promise.withResolvers<void>();
    const stalling: ThreadStore = {
      ...store,
      async append(...input) {
        await stalled;
        return store.append(...input);
      },
    };
    const runner = agent(stalling);
    const running = runner.run('Go', await runner.thread('t'));
    await begun;
    stalled = promise;
    await vi.advanceTimersByTimeAsync(10_000);
    goOn();
    found.resolve('a flight');
    const { thread } = await running;
    expect(thread.events.filter(({ type }) => type === 'run-renewed')).toHaveLength(1);
  } finally {
    vi.useRealTimers();
  }
});

test('a store that does not reply is read once more when it does, not once for each second', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const { begun, found, agent, store } = slowWorld({ leaseMs: 600_000 });
    let stalled: Promise<void> = Promise.resolve();
    let reads = 0;
    const { promise, resolve: goOn } = Promise.withResolvers<void>();
    const stalling: ThreadStore = {
      ...store,
      async read(...input) {
        reads += 1;
        await stalled;
        return store.read(...input);
      },
    };
    const runner = agent(stalling);
    const running = runner.run('Go', await runner.thread('t'));
    await begun;
    stalled = promise;
    reads = 0;
    await vi.advanceTimersByTimeAsync(20_000);
    found.resolve('a flight');
    goOn();
    await running;
    expect(reads).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});

test('a tool that never settles does not hold the thread once its result has come from outside', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const { begun, agent } = slowWorld();
    const runner = agent();
    const running = runner.run('Go', await runner.thread('t'));
    await begun;
    const other = agent();
    await other.deliver(await other.thread('t'), 'c1', { status: 'succeeded', output: 'a flight' });
    await vi.advanceTimersByTimeAsync(334);
    expect(await running).toMatchObject({ status: 'waiting', approvalRequests: [{}] });
  } finally {
    vi.useRealTimers();
  }
});

/** A store whose process dies at the append after these: it neither writes nor returns. */
function dyingAfter(appends: number, store: ThreadStore) {
  let left = appends;
  const died = Promise.withResolvers<void>();
  const append: ThreadStore['append'] = async (...input) => {
    left -= 1;
    if (left >= 0) return store.append(...input);
    died.resolve();
    return new Promise(() => {});
  };
  return { store: { ...store, append }, died: died.promise };
}

test('an answer that comes just before a run that has nothing left to do ends goes on in it', async () => {
  const store = memoryStore();
  const begun = Promise.withResolvers<void>();
  const { promise: never } = Promise.withResolvers<string>();
  const endless = tool({
    inputSchema: cityInput,
    execute: async () => {
      begun.resolve();
      return never;
    },
  });
  let booked = 0;
  const execute = async (): Promise<string> => `booked ${(booked += 1)}`;
  const tools = { look: endless, book: tool({ inputSchema: cityInput, execute }) };
  const calls = [look('c1', 'Paris'), book('c2', 'Paris')];
  const { model } = scriptedModel([{ calls }, { text: 'Done.' }]);
  const settings = { model, tools, toolApproval: { book: 'user-approval' } } as const;
  const other = createAgent({ ...settings, store });
  const elsewhere = await other.thread('t');
  let status: string | undefined;
  const append: ThreadStore['append'] = async (...input) => {
    if (status === undefined && JSON.stringify(input[2]).includes('run-ended')) {
      const answers = elsewhere.activeApprovalRequests.map((request) => request.approve());
      ({ status } = await other.run(answers, elsewhere));
    }
    return store.append(...input);
  };
  const agent = createAgent({ ...settings, store: { ...store, append } });
  const running = agent.run('Go.', await agent.thread('t'));
  await begun.promise;
  await other.run([], elsewhere);
  await other.deliver(elsewhere, 'c1', { status: 'succeeded', output: 'Sunny.' });
  expect(await running).toMatchObject({ status: 'completed', text: 'Done.' });
  expect([status, booked]).toEqual(['running', 1]);
});

test('a process that dies before the model answers: when its lease is over, the next run goes on', async () => {
  const { store, clock, agent, found } = slowWorld();
  found.resolve('a flight');
  const process = dyingAfter(1, store);
  const dying = agent(process.store);
  void dying.run('Go', await dying.thread('t'));
  await process.died;
  const next = agent();
  const thread = await next.thread('t');
  expect(await next.run([], thread)).toMatchObject({ status: 'running' });
  clock.now = 1_000;
  expect(thread.status).toBe('due');
  await expect(next.run([], thread)).resolves.toMatchObject({ status: 'completed' });
});

test('a process that dies while a call runs: the call is indeterminate, and neither it nor the model runs again', async () => {
  const { world, store, clock, agent, found } = slowWorld();
  found.resolve('a flight');
  const process = dyingAfter(2, store);
  const dying = agent(process.store);
  void dying.run('Go', await dying.thread('t'));
  await process.died;
  clock.now = 1_000;
  const next = agent();
  const thread = await next.thread('t');
  expect(thread.status).toBe('indeterminate');
  expect(thread.calls).toMatchObject([{ status: 'indeterminate' }, { status: 'waiting' }]);
  const answers = thread.activeApprovalRequests.map((request) => request.approve());
  expect(await next.run(answers, thread)).toMatchObject({ status: 'indeterminate' });
  expect(thread.calls).toMatchObject([{ status: 'indeterminate' }, { status: 'approved' }]);
  expect(world.ran).toEqual([]);
  expect(world.requests()).toBe(1);
});

test('a run that lost its lease to another stops, and says that another is running', async () => {
  const { store, clock } = slowWorld();
  const answered = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const model = scriptedModel([{ text: 'First.' }]).model;
  const { agent: plain } = travelWorld(scriptedModel([{ text: 'Second.' }]), () => store);
  const slowModel = new Proxy(Object(model), {
    get: (target, name) =>
      name === 'doGenerate'
        ? async (options: unknown) => {
            asked.resolve();
            await answered.promise;
            return Reflect.apply(target.doGenerate, target, [options]);
          }
        : Reflect.get(target, name),
  });
  const first = travelWorld({ model: slowModel, requests: 0 }, () => store).agent({
    now: () => clock.now,
    leaseMs: 1_000,
  });
  const running = first.run('Hi', await first.thread('t'));
  await asked.promise;
  clock.now = 1_000;
  const second = plain({ now: () => clock.now, leaseMs: 1_000 });
  expect(await second.run([], await second.thread('t'))).toMatchObject({ text: 'Second.' });
  answered.resolve();
  expect(await running).toMatchObject({ status: 'running', text: 'Second.' });
});

test.each([
  ...[Number.NaN, Infinity, -Infinity, 0, -1, 0.5, 2 ** 31].map((leaseMs) => ({ leaseMs })),
  ...[Number.NaN, Infinity, -1, 2 ** 31].map((abortGraceMs) => ({ abortGraceMs })),
])('a time that no timer can wait for is a TypeError at construction: %o', (options) => {
  expect(() => createAgent({ model: 'none', ...options })).toThrow(TypeError);
});

test('a step of the model during which others append to the thread is taken once', async () => {
  const store = memoryStore();
  const [asked, replies] = [Promise.withResolvers<unknown>(), Promise.withResolvers<unknown>()];
  let steps = 0;
  const { model } = scriptedModel(async () => {
    steps += 1;
    asked.resolve(undefined);
    await replies.promise;
    return { text: `Reply ${steps}.` };
  });
  const agent = createAgent({ model, store });
  const thread = await agent.thread('t');
  const running = agent.run('Hi', thread);
  await asked.promise;
  const elsewhere = createAgent({ model: scriptedModel([]).model, store });
  const other = await elsewhere.thread('t');
  const request = await elsewhere.requestApproval(other, { key: 'k', text: 'May I?' });
  await elsewhere.respond(request.approve(), other);
  replies.resolve(undefined);
  expect(await running).toMatchObject({ text: 'Reply 1.' });
  expect(steps).toBe(1);
});
