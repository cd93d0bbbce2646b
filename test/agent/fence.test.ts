import { tool } from 'ai';
import { memoryStore, type ThreadStore, type ToolRunOptions } from 'holdpoint';
import { expect, test } from 'vitest';
import { eventsIn } from '../support/events-in.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, cityInput, look, travelWorld } from '../support/travel-world.ts';

const leaseMs = 1_000;

/** A waiting thread, and an agent whose store takes as long as `stall` does to say that the start of a call is durable. */
async function stalledStart(stall: (world: Awaited<ReturnType<typeof waiting>>) => Promise<void>) {
  const world = await waiting();
  const stalling: ThreadStore = {
    ...world.store,
    async append(...input) {
      await world.store.append(...input);
      if (input[2].some(({ text }) => text.includes('"call-started"'))) await stall(world);
    },
  };
  const agent = world.agent(stalling);
  const thread = await agent.thread('t');
  const answers = thread.activeApprovalRequests.map((request) => request.approve());
  const response = await agent.run(answers, thread);
  return { ...world, response, thread };
}

async function waiting() {
  const store = memoryStore();
  const clock = { now: 0 };
  const script = [{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }];
  const world = travelWorld(scriptedModel(script, { repeat: true }), () => store);
  const agent = (over: ThreadStore = store) =>
    world.agent({ store: over, leaseMs, now: () => clock.now });
  const first = agent();
  await first.run('Book', await first.thread('t'));
  return { store, clock, world, agent };
}

test('a start that is durable only after the lease is not followed by the call: the model is told that nothing happened', async () => {
  const { world, thread, response } = await stalledStart(async ({ clock }) => {
    clock.now += leaseMs;
  });
  expect(world.ran).toEqual([]);
  expect(thread.calls).toMatchObject([{ status: 'failed', attempts: 1 }]);
  expect(thread.calls[0]?.outcome).toMatchObject({ error: expect.stringContaining('Not run') });
  expect(response.status).toBe('completed');
});

test('where a person has settled the call meanwhile, it does not run, and what the run knows is kept beside it', async () => {
  const { world, store, response } = await stalledStart(async ({ clock, agent }) => {
    clock.now += leaseMs;
    const operator = agent();
    const thread = await operator.thread('t');
    await operator.settle(thread, 'c1', { status: 'succeeded', output: 'booked by phone' });
  });
  expect(world.ran).toEqual([]);
  const events = await eventsIn(store, 't');
  expect(events.filter(({ type }) => type === 'call-ended')).toMatchObject([
    { source: 'settled', outcome: { status: 'succeeded', output: 'booked by phone' } },
  ]);
  expect(response).toMatchObject({ status: 'completed', text: 'Done.' });
});

test('a start that is durable in time is followed by the call', async () => {
  const { world } = await stalledStart(async ({ clock }) => {
    clock.now += leaseMs - 1;
  });
  expect(world.ran).toHaveLength(1);
});

test('no model is asked on a lease that has run out: the run renews it first, or stops where another has the thread', async () => {
  const { store, clock, agent, world } = await waiting();
  const stalling: ThreadStore = {
    ...store,
    async append(...input) {
      await store.append(...input);
      if (input[2].some(({ text }) => text.includes('"call-ended"'))) clock.now += leaseMs;
    },
  };
  const running = agent(stalling);
  const thread = await running.thread('t');
  const asked = world.requests();
  const answers = thread.activeApprovalRequests.map((request) => request.approve());
  await running.run(answers, thread);
  const types = thread.events.map(({ type }) => type);
  expect(types.slice(types.indexOf('call-ended'))).toEqual([
    'call-ended',
    'run-renewed',
    'step-finished',
    'run-ended',
  ]);
  expect(world.requests()).toBe(asked + 1);
});

/** A thread whose tool returns when the test says, and whose call is settled before. */
async function lateResult(settled: object, returned: unknown) {
  const store = memoryStore();
  const clock = { now: 0 };
  const begun = Promise.withResolvers<void>();
  const result = Promise.withResolvers<unknown>();
  const attempts: (number | undefined)[] = [];
  const execute = async (_input: unknown, { attempt }: ToolRunOptions) => {
    attempts.push(attempt);
    begun.resolve();
    return result.promise;
  };
  const world = travelWorld(
    scriptedModel([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]),
    () => store,
  );
  const tools = { book: tool({ description: 'book', inputSchema: cityInput, execute }) };
  const agent = () => world.agent({ tools, leaseMs, now: () => clock.now });
  const first = agent();
  const { approvalRequests, thread } = await first.run('Book', await first.thread('t'));
  const running = first.run(
    approvalRequests.map((request) => request.approve()),
    thread,
  );
  await begun.promise;
  clock.now += leaseMs;
  const operator = agent();
  const seen = await operator.thread('t');
  const outcome = { status: 'succeeded', output: settled } as const;
  await operator.settle(seen, 'c1', outcome);
  const late = new Promise<void>((resolve) => {
    first.on('late-result', () => resolve());
    first.on('run-ended', () => setImmediate(resolve));
  });
  result.resolve(returned);
  await running;
  await Promise.race([late, new Promise(setImmediate)]);
  return { store, attempts };
}

test('a result that comes after a person has settled the call is recorded, and changes nothing', async () => {
  const { store, attempts } = await lateResult({ booked: 'by phone' }, { booked: 'online' });
  const events = await eventsIn(store, 't');
  expect(events.find(({ type }) => type === 'late-result')).toMatchObject({
    step: 0,
    index: 0,
    attempt: 1,
    outcome: { status: 'succeeded', output: { booked: 'online' } },
  });
  expect(events.filter(({ type }) => type === 'call-ended')).toMatchObject([
    { outcome: { output: { booked: 'by phone' } } },
  ]);
  expect(attempts).toEqual([1]);
});

test('a result that says what was settled is no news', async () => {
  const { store } = await lateResult({ booked: 'online' }, { booked: 'online' });
  const events = await eventsIn(store, 't');
  expect(events.some(({ type }) => type === 'late-result')).toBe(false);
});

test('the result of an earlier attempt is late while a later one is under way', async () => {
  const store = memoryStore();
  const clock = { now: 0 };
  const world = travelWorld(
    scriptedModel([{ calls: [look('c1', 'Paris')] }, { text: 'Done.' }]),
    () => store,
  );
  const attempts = [1, 2].map(() => ({
    begun: Promise.withResolvers<void>(),
    result: Promise.withResolvers<string>(),
  }));
  const execute = async (_input: unknown, { attempt = 0 }: ToolRunOptions) => {
    const own = attempts[attempt - 1];
    own?.begun.resolve();
    return own?.result.promise;
  };
  const agent = () =>
    world.agent({
      tools: { look: tool({ inputSchema: cityInput, execute }) },
      toolApproval: {},
      toolRecovery: { look: { idempotent: true } },
      leaseMs,
      now: () => clock.now,
    });
  const [first, second] = attempts;
  const stalled = agent();
  const recorded = new Promise<void>((resolve) => {
    stalled.on('late-result', () => resolve());
    stalled.on('call-ended', () => resolve());
  });
  const runs = [stalled.run('Look', await stalled.thread('t'))];
  await first?.begun.promise;
  clock.now += leaseMs;
  const other = agent();
  runs.push(other.run([], await other.thread('t')));
  await second?.begun.promise;
  first?.result.resolve('from the first');
  await recorded;
  second?.result.resolve('from the second');
  await Promise.all(runs);
  const events = await eventsIn(store, 't');
  const ends = events.filter(({ type }) => type === 'call-ended' || type === 'late-result');
  expect(ends).toMatchObject([
    { type: 'late-result', attempt: 1, outcome: { output: 'from the first' } },
    { type: 'call-ended', outcome: { output: 'from the second' } },
  ]);
});
