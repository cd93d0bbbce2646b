import { setTimeout } from 'node:timers/promises';
import { tool } from 'ai';
import { memoryStore, type StoreNotice, type ThreadStore, type ToolRunOptions } from 'holdpoint';
import { runWorker } from 'holdpoint/worker';
import { expect, test } from 'vitest';
import { aroundAgent } from '../support/around-agent.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, cityInput, look, travelWorld } from '../support/travel-world.ts';
import { answeredThreads } from '../support/worker-fleet.ts';

const threadIds = Array.from({ length: 20 }, (_, index) => `t${String(index).padStart(2, '0')}`);

/** A store in memory that wakes its subscribers, as a database with notifications does. */
function wakingStore(): ThreadStore {
  const store = memoryStore();
  const listeners = new Set<(notice?: StoreNotice) => void>();
  return {
    ...store,
    async append(...input) {
      await store.append(...input);
      for (const listener of listeners) listener({ type: 'thread', ...input[3] });
    },
    subscribe(listener) {
      listeners.add(listener);
      return async () => {
        listeners.delete(listener);
      };
    },
  };
}

/** An agent world in which every thread is a booking of the city of its name. */
async function waitingThreads(store: ThreadStore) {
  const worlds = threadIds.map((id) =>
    travelWorld(scriptedModel([{ calls: [book('c1', id)] }, { text: 'Done.' }]), () => store),
  );
  for (const [index, id] of threadIds.entries()) {
    const agent = worlds[index]?.agent();
    if (agent !== undefined) await agent.run('Book', await agent.thread(id));
  }
  return worlds;
}

test('threads that were answered through respond are resumed, each by one of three workers', async () => {
  const store = wakingStore();
  await waitingThreads(store);
  const played = scriptedModel([{ text: 'Done.' }], { repeat: true });
  const world = travelWorld(played, () => store);
  const stopping = new AbortController();
  const ended = new Set<string>();
  const all = Promise.withResolvers<void>();
  const workers = [1, 2, 3].map(async () => {
    const agent = world.agent();
    agent.on('run-ended', ({ threadId }) => {
      ended.add(threadId);
      if (ended.size === threadIds.length) all.resolve();
    });
    await runWorker({ agent, store, signal: stopping.signal });
  });
  const inbox = world.agent();
  for (const id of threadIds) {
    const thread = await inbox.thread(id);
    const rejects = id === 't07';
    const answers = thread.activeApprovalRequests.map((request) =>
      rejects ? request.reject('no') : request.approve(),
    );
    await inbox.respond(answers, thread);
  }
  await all.promise;
  stopping.abort();
  await Promise.all(workers);
  const cities = world.ran.map(({ input }) => String(Reflect.get(Object(input), 'city')));
  expect(cities.toSorted((one, other) => one.localeCompare(other))).toEqual(
    threadIds.filter((id) => id !== 't07'),
  );
  expect(played.requests).toBe(threadIds.length);
  expect(await store.list({ status: 'waiting' })).toEqual([]);
});

test('a thread whose provider fails is tried again after a while, not at once', async () => {
  const store = wakingStore();
  const clock = { now: 0 };
  const played = scriptedModel([{ fail: 'overloaded' }, { fail: 'overloaded' }, { text: 'Done.' }]);
  const world = travelWorld(played, () => store);
  const now = () => clock.now;
  const agent = world.agent({ now, retry: { initialDelayMs: 500 } });
  const thread = await agent.thread('t');
  await expect(agent.run('Hi', thread)).rejects.toThrow('overloaded');
  const { nextDeadline = Infinity } = thread;
  expect(nextDeadline).toBeGreaterThan(250);
  expect(nextDeadline).toBeLessThanOrEqual(500);

  const stopping = new AbortController();
  const errors: unknown[] = [];
  const failed = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  agent.on('step-finished', () => done.resolve());
  const working = runWorker({
    agent,
    store,
    signal: stopping.signal,
    pollMs: 1,
    onError: (error, threadId) => {
      errors.push([String(error), threadId]);
      failed.resolve();
    },
  });
  clock.now = nextDeadline - 1;
  await setTimeout(30);
  expect(played.requests).toBe(1);
  clock.now = nextDeadline;
  await failed.promise;
  await setTimeout(30);
  expect(played.requests).toBe(2);
  clock.now += 1_000;
  await done.promise;
  stopping.abort();
  await working;
  expect(errors).toEqual([['Error: overloaded', 't']]);
  expect(played.requests).toBe(3);
});

test('a store that can not be reached is told to onError, and asked again', async () => {
  const store = memoryStore();
  const stopping = new AbortController();
  const errors: unknown[] = [];
  const agent = travelWorld(scriptedModel([]), () => store).agent();
  let asked = 0;
  const claim: ThreadStore['claim'] = async () => {
    asked += 1;
    if (asked === 3) stopping.abort();
    throw new Error('no connection');
  };
  const onError = (error: unknown) => errors.push(String(error));
  await runWorker({
    agent: aroundAgent(agent),
    store: { claim, list: store.list },
    signal: stopping.signal,
    pollMs: 1,
    onError,
  });
  expect(errors).toEqual(Array.from({ length: 3 }, () => 'Error: no connection'));
});

test.each(['claimed', 'opened'])(
  'a worker that is told to stop while a thread is %s leaves it to others at once',
  async (moment) => {
    const store = memoryStore();
    await answeredThreads(store, ['t']);
    const stopping = new AbortController();
    const stopAt = (reached: string): void => {
      if (reached === moment) stopping.abort();
    };
    const watched: ThreadStore = {
      ...store,
      async claim(claim) {
        const claimed = await store.claim(claim);
        stopAt('claimed');
        return claimed;
      },
      async read(...input) {
        stopAt('opened');
        return store.read(...input);
      },
    };
    const world = travelWorld(scriptedModel([]), () => watched);
    const agent = world.agent();
    await runWorker({ agent, store: watched, signal: stopping.signal });
    expect(await store.list({ dueBefore: agent.now() + 1 })).toMatchObject([{ threadId: 't' }]);
    expect(world.ran).toEqual([]);
  },
);

test('a tool that never settles takes one place: other threads are run meanwhile', async () => {
  const store = wakingStore();
  const stopping = new AbortController();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: done, resolve: finish } = Promise.withResolvers<void>();
  const execute = async (_input: unknown, { threadId }: ToolRunOptions) => {
    if (threadId !== 'stuck') return 'booked';
    begin();
    return new Promise<never>(() => {});
  };
  const world = travelWorld(
    scriptedModel([
      { calls: [book('c1', 'Paris')] },
      { calls: [book('c1', 'Rome')] },
      { text: '' },
    ]),
    () => store,
  );
  const agent = world.agent({
    tools: { book: tool({ description: 'book', inputSchema: cityInput, execute }) },
    abortGraceMs: 0,
  });
  agent.on('call-ended', ({ threadId }) => {
    if (threadId === 'free') finish();
  });
  const working = runWorker({ agent, store, signal: stopping.signal, concurrency: 2 });
  for (const id of ['stuck', 'free']) {
    const { thread, approvalRequests } = await agent.run('Book', await agent.thread(id));
    if (id === 'free') await begun;
    await agent.respond(
      approvalRequests.map((request) => request.approve()),
      thread,
    );
  }
  await done;
  stopping.abort();
  await working;
  expect((await agent.thread('free')).calls).toMatchObject([{ status: 'succeeded' }]);
});

test.each([
  ['throws', () => stop()],
  ['rejects', async () => stop()],
])('an onError that %s stops nothing', async (_how, onError) => {
  const stopping = new AbortController();
  let asked = 0;
  const claim: ThreadStore['claim'] = async () => {
    asked += 1;
    if (asked === 3) stopping.abort();
    throw new Error('no connection');
  };
  const store = memoryStore();
  const agent = travelWorld(scriptedModel([]), () => store).agent();
  await runWorker({
    agent: aroundAgent(agent),
    store: { claim, list: store.list },
    signal: stopping.signal,
    pollMs: 1,
    onError,
  });
  expect(asked).toBe(3);
});

function stop(): never {
  throw new Error('nobody hears');
}

test.each([
  { pollMs: 0 },
  { pollMs: Number.NaN },
  { pollMs: Infinity },
  { concurrency: 0 },
  { concurrency: Number.NaN },
  { claimMs: Number.NaN },
])('%o is no limit, and a TypeError', async (options) => {
  const store = memoryStore();
  const agent = travelWorld(scriptedModel([]), () => store).agent();
  const working = runWorker({ agent, store, signal: AbortSignal.abort(), ...options });
  await expect(working).rejects.toThrow(TypeError);
});

test.each([
  { leaseMs: 0 },
  { leaseMs: Number.NaN },
  { leaseMs: Infinity },
  { leaseMs: 2 ** 31 },
  { abortGraceMs: -1 },
  { abortGraceMs: Infinity },
  { maxSteps: 0 },
  { maxSteps: Number.NaN },
])('%o is no limit of an agent, and a TypeError', (options) => {
  expect(() => travelWorld(scriptedModel([]), memoryStore).agent(options)).toThrow(TypeError);
});

test('a thread whose run took all its steps is due for no worker, and goes on when it is told to', async () => {
  const played = scriptedModel([{ calls: [look('c1', 'Rome')] }], { repeat: true });
  const store = memoryStore();
  const agent = travelWorld(played, () => store).agent({ maxSteps: 2 });
  const { status, thread } = await agent.run('Look', await agent.thread('t'));
  expect([status, played.requests]).toEqual(['max-steps', 2]);
  expect(await store.list({ dueBefore: Number.MAX_SAFE_INTEGER })).toEqual([]);
  expect(await agent.run([], thread)).toMatchObject({ status: 'max-steps' });
  expect(played.requests).toBe(4);
});
