import { tool } from 'ai';
import {
  type AgentOptions,
  memoryStore,
  type SettledOutcome,
  type ThreadEvent,
  type ThreadStore,
  createAgent,
  UnknownOutcomeError,
} from 'holdpoint';
import { eventsOf } from 'holdpoint/schemas';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { chained, endOf } from '../support/chained.ts';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, cityInput, travelTools, travelWorld } from '../support/travel-world.ts';

const leaseMs = 1_000;

/** A thread whose process died after its approved call ran and before the result was recorded. */
async function lostCall(options: Partial<AgentOptions> = {}) {
  const store = memoryStore();
  const clock = { now: 0 };
  const played = scriptedModel([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const world = travelWorld(played, () => store);
  const agentOn = (over: ThreadStore = store, more: Partial<AgentOptions> = {}) =>
    world.agent({ store: over, leaseMs, now: () => clock.now, ...options, ...more });
  const first = agentOn();
  const { approvalRequests } = await first.run('Book', await first.thread('t'));
  const answers = approvalRequests.map((request) => request.approve());
  const dying = agentOn(losing(store, 'call-ended'));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const dead = errorCode(dying.run(answers, await dying.thread('t')));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(String(await dead)).toContain('connection lost');
  } finally {
    vi.useRealTimers();
  }
  clock.now += leaseMs;
  const agent = agentOn();
  const thread = await agent.thread('t');
  expect(world.ran).toHaveLength(1);
  return { world, store, agent, agentOn, thread, clock, played };
}

/** A store that can't be reached any more from the first append on that holds an event of a type. */
function losing(store: ThreadStore, type: string): ThreadStore {
  let lost = false;
  return {
    ...store,
    async append(...input) {
      lost ||= input[2].flatMap(eventsOf).some((event) => event.type === type);
      if (lost) throw new Error('connection lost');
      return store.append(...input);
    },
  };
}

test('a tool that throws UnknownOutcomeError leaves a call that is not run again, and that a person settles', async () => {
  let ran = 0;
  const pay = tool({
    inputSchema: z.object({}),
    execute: (): string => {
      ran += 1;
      throw new UnknownOutcomeError('The bank did not reply in time.');
    },
  });
  const { model } = scriptedModel([
    { calls: [{ id: 'c1', name: 'pay', input: {} }] },
    { text: 'Paid.' },
  ]);
  const agent = createAgent({ model, tools: { pay } });
  const thread = await agent.thread('t');
  expect(await agent.run('Pay.', thread)).toMatchObject({ status: 'indeterminate' });
  expect(thread.events.find(({ type }) => type === 'call-lost')).toMatchObject({
    error: 'The bank did not reply in time.',
  });
  await agent.run([], thread);
  expect(ran).toBe(1);
  await agent.settle(thread, 'c1', { status: 'succeeded', output: 'Paid.' });
  expect(await agent.run([], thread)).toMatchObject({ status: 'completed', text: 'Paid.' });
  expect(ran).toBe(1);
});

describe('a call whose outcome is unknown', () => {
  test('is reported; nothing runs, and the model is not asked', async () => {
    const { agent, thread, world, played } = await lostCall();
    expect(thread.status).toBe('indeterminate');
    expect(thread.calls).toMatchObject([{ status: 'indeterminate', attempts: 1 }]);
    expect(await agent.run([], thread)).toMatchObject({ status: 'indeterminate' });
    expect(await errorCode(agent.run('Hello?', thread))).toBe('thread-indeterminate');
    expect(world.ran).toHaveLength(1);
    expect(played.requests).toBe(1);
  });

  test.each([
    [
      { status: 'succeeded', output: { booked: 'Paris' } },
      { type: 'json', value: { booked: 'Paris' } },
    ],
    [{ status: 'failed', error: 'the airline never heard of it' }, { type: 'error-text' }],
  ] satisfies [SettledOutcome, object][])(
    'is settled by a person as %j, who is in the log',
    async (outcome, seen) => {
      const { agent, thread, world } = await lostCall();
      const principal = { subject: 'ann' };
      await agent.settle(thread, 'c1', outcome, { principal, channel: 'phone' });
      expect(thread.status).toBe('due');
      expect(thread.events.at(-1)).toMatchObject({
        type: 'call-ended',
        source: 'settled',
        principal,
        channel: 'phone',
      });
      await agent.settle(thread, 'c1', outcome);
      expect(await agent.run([], thread)).toMatchObject({ status: 'completed', text: 'Done.' });
      expect(thread.messages.at(-2)).toMatchObject({ content: [{ output: seen }] });
      expect(world.ran).toHaveLength(1);
    },
  );

  test('is tried again when a person says so: a new approval, the same key and input', async () => {
    const { agent, thread, world } = await lostCall();
    await agent.settle(thread, 'c1', { status: 'retry' }, { principal: 'ann' });
    expect(thread.status).toBe('due');
    expect(world.ran).toHaveLength(1);
    expect(await agent.run([], thread)).toMatchObject({ status: 'completed' });
    expect(world.ran).toHaveLength(2);
    expect(world.ran[1]).toEqual(world.ran[0]);
    const answered = thread.events.filter(({ type }) => type === 'request-answered');
    expect(answered).toMatchObject([{}, { principal: 'ann', response: { approved: true } }]);
  });

  test('is never said to be denied: tried again and cancelled, the model is told that nobody knows', async () => {
    const { agent, thread, world } = await lostCall();
    await agent.settle(thread, 'c1', { status: 'retry' });
    await agent.cancel(thread, 'Never mind.', { principal: 'ann' });
    expect(thread.calls).toMatchObject([
      {
        status: 'failed',
        outcome: { error: expect.stringContaining('it is unknown whether that took effect') },
      },
    ]);
    expect(world.ran).toHaveLength(1);
  });

  test('is never said to be denied: a rule that denies its second start does not undo the first', async () => {
    const { agent, agentOn, thread, store } = await lostCall();
    await agent.settle(thread, 'c1', { status: 'retry' });
    const strict = agentOn(store, { toolApproval: { book: 'denied' } });
    const response = await strict.run([], await strict.thread('t'));
    expect(response.thread.calls).toMatchObject([{ status: 'failed' }]);
  });

  test('takes the result that its tool brings after all, once', async () => {
    const { agent, thread, world } = await lostCall();
    const late = { status: 'succeeded', output: { booked: 'Paris' } } as const;
    await agent.deliver(thread, 'c1', late);
    await agent.deliver(thread, 'c1', late);
    expect(await agent.run([], thread)).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(thread.calls).toMatchObject([{ status: 'succeeded', outcome: late }]);
    expect(world.ran).toHaveLength(1);
  });

  test('is settled once: another outcome is refused, and so is an outcome for a call that waits for none', async () => {
    const { agent, thread } = await lostCall();
    expect(await errorCode(agent.settle(thread, 'c9', { status: 'failed', error: 'x' }))).toBe(
      'not-found',
    );
    expect(await errorCode(agent.deliver(thread, 'c9', { status: 'failed', error: 'x' }))).toBe(
      'not-found',
    );
    await agent.settle(thread, 'c1', { status: 'failed', error: 'x' });
    const { revision } = thread;
    const other = agent.settle(thread, 'c1', { status: 'succeeded', output: 1 });
    expect(await errorCode(other)).toBe('already-answered');
    expect(await errorCode(agent.settle(thread, 'c1', { status: 'retry' }))).toBe(
      'already-answered',
    );
    expect(thread.revision).toBe(revision);
  });

  test.each([{ status: 'done' }, { status: 'succeeded' }, { status: 'failed' }, 'succeeded', null])(
    'can not be settled as %j',
    async (outcome) => {
      const { agent, thread } = await lostCall();
      const settle = agent.settle(thread, 'c1', JSON.parse(JSON.stringify(outcome)));
      expect(await errorCode(settle)).toBe('invalid-input');
      expect(thread.status).toBe('indeterminate');
    },
  );

  test("is reconciled by the tool's own word, asked first, with the key and the input", async () => {
    const asked: unknown[] = [];
    const reconcile = async (call: unknown) => {
      asked.push(call);
      return { status: 'succeeded', output: { booked: 'Paris' } } as const;
    };
    const { agent, thread, world } = await lostCall({ toolRecovery: { book: { reconcile } } });
    expect(await agent.run([], thread)).toMatchObject({ status: 'completed', text: 'Done.' });
    const { idempotencyKey } = world.ran[0] ?? {};
    expect(asked).toEqual([{ input: { city: 'Paris' }, idempotencyKey, toolCallId: 'c1' }]);
    expect(world.ran).toHaveLength(1);
    expect(thread.events.find(({ type }) => type === 'call-ended')).toMatchObject({
      source: 'reconciled',
    });
  });

  test.each([
    ['does not know', async () => undefined],
    ['fails', async () => Promise.reject(new Error('no answer'))],
    ['says what is no outcome', async () => JSON.parse('{"status":"maybe"}')],
  ])('stays so when the tool %s', async (_what, reconcile) => {
    const { agent, thread, world } = await lostCall({ toolRecovery: { book: { reconcile } } });
    expect(await agent.run([], thread)).toMatchObject({ status: 'indeterminate' });
    expect(world.ran).toHaveLength(1);
  });

  test('stays so when another attempt began and was lost while the tool was asked about the first', async () => {
    const known = Promise.withResolvers<ThreadStore>();
    const reconcile = async () => {
      const store = await known.promise;
      const before = await store.read('t');
      const added: ThreadEvent[] = [
        { type: 'run-started', at: 1, runId: 'another', leaseUntil: 2 },
        { type: 'call-started', at: 1, step: 0, index: 0 },
      ];
      const entries = [chained(added, endOf(before))];
      await store.append('t', endOf(before), entries, {
        threadId: 't',
        status: 'running',
        ...endOf(entries),
        openRequests: 0,
        failures: 0,
        updatedAt: 1,
      });
      return { status: 'failed', error: 'never heard of it' } as const;
    };
    const { agent, thread, store } = await lostCall({ toolRecovery: { book: { reconcile } } });
    known.resolve(store);
    expect(await agent.run([], thread)).toMatchObject({ status: 'indeterminate' });
    expect(thread.calls).toMatchObject([{ status: 'indeterminate', attempts: 2 }]);
  });

  test('of an idempotent tool is started again under the same key and bytes', async () => {
    const { agent, thread, world } = await lostCall({
      toolRecovery: { book: { idempotent: true } },
    });
    expect(await agent.run([], thread)).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(world.ran).toHaveLength(2);
    expect(world.ran[1]).toEqual(world.ran[0]);
    expect(thread.calls).toMatchObject([{ status: 'succeeded', attempts: 2 }]);
  });

  test('of an idempotent tool is started a bounded number of times', async () => {
    const toolRecovery = { book: { idempotent: true, maxAttempts: 1 } };
    const { agent, thread, world } = await lostCall({ toolRecovery });
    expect(await agent.run([], thread)).toMatchObject({ status: 'indeterminate' });
    expect(world.ran).toHaveLength(1);
  });

  test('of an idempotent tool is started three times in all, unless the app says otherwise', async () => {
    const { agent, agentOn, store, clock, thread, world } = await lostCall({
      toolRecovery: { book: { idempotent: true } },
    });
    for (const attempts of [2, 3]) {
      const dying = agentOn(losing(store, 'call-ended'));
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      try {
        const ended = dying.run([], await dying.thread('t')).catch(() => undefined);
        await vi.advanceTimersByTimeAsync(60_000);
        await ended;
      } finally {
        vi.useRealTimers();
      }
      clock.now += leaseMs;
      expect(world.ran).toHaveLength(attempts);
    }
    expect(await agent.run([], thread)).toMatchObject({ status: 'indeterminate' });
    expect(world.ran).toHaveLength(3);
  });
});

test('recovery of a name that is no tool is a TypeError at construction', () => {
  const world = travelWorld(scriptedModel([]), () => memoryStore());
  expect(() => world.agent({ toolRecovery: { bok: { idempotent: true } } })).toThrow(TypeError);
});

test('an outcome that can not be written is tried again, then handed whole to onUnrecorded', async () => {
  const unrecorded: unknown[] = [];
  const { world } = await lostCall({ onUnrecorded: (outcome) => unrecorded.push(outcome) });
  expect(world.ran).toHaveLength(1);
  expect(unrecorded).toMatchObject([
    {
      threadId: 't',
      call: { toolCallId: 'c1', input: { city: 'Paris' } },
      outcome: { status: 'succeeded', output: { booked: 'Paris' } },
      error: new Error('connection lost'),
    },
  ]);
});

test('a store that fails for a moment while a result is written fails nothing', async () => {
  const store = memoryStore();
  let faults = 0;
  const shaky: ThreadStore = {
    ...store,
    async append(...input) {
      if (input[2].flatMap(eventsOf).some(({ type }) => type === 'call-ended') && faults < 2) {
        faults += 1;
        throw new Error('connection lost');
      }
      return store.append(...input);
    },
  };
  const script = [{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }];
  const world = travelWorld(scriptedModel(script), () => shaky);
  const agent = world.agent({ toolApproval: {} });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const running = agent.run('Book', await agent.thread('t'));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await running).toMatchObject({ status: 'completed', text: 'Done.' });
  } finally {
    vi.useRealTimers();
  }
  expect(faults).toBe(2);
  expect(world.ran).toHaveLength(1);
});

test('an idempotent call is not started again when its tool has changed since it was approved', async () => {
  const toolRecovery = { book: { idempotent: true } };
  const { agentOn, store, world } = await lostCall({ toolRecovery });
  const tools = travelTools(world.ran);
  const changed = {
    ...tools,
    book: Object.assign({}, tools.book, { description: 'book a train' }),
  };
  const agent = agentOn(store, { tools: changed });
  expect(await agent.run([], await agent.thread('t'))).toMatchObject({ status: 'indeterminate' });
  expect(world.ran).toHaveLength(1);
});

test.each(['denied', 'user-approval'] as const)(
  'an idempotent call that needed nobody is not started again under a rule that by now says %s',
  async (rule) => {
    const store = memoryStore();
    const played = scriptedModel([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
    const world = travelWorld(played, () => store);
    const leaving = new AbortController();
    const execute = async (): Promise<string> => {
      leaving.abort();
      return new Promise<never>(() => {});
    };
    const stuck = { book: tool({ description: 'book', inputSchema: cityInput, execute }) };
    const lost = world.agent({ tools: stuck, toolApproval: {}, abortGraceMs: 0 });
    const { signal } = leaving;
    await errorCode(lost.run('Book', await lost.thread('t'), { abortSignal: signal }));
    const agentUnder = (toolApproval: AgentOptions['toolApproval']) =>
      world.agent({ toolApproval, toolRecovery: { book: { idempotent: true } } });
    const agent = agentUnder({ book: rule });
    expect(await agent.run([], await agent.thread('t'))).toMatchObject({ status: 'indeterminate' });
    expect(world.ran).toEqual([]);
    const free = agentUnder({});
    expect(await free.run([], await free.thread('t'))).toMatchObject({ status: 'completed' });
    expect(world.ran).toHaveLength(1);
  },
);

test('a lost reply of the store is read back: what was written counts, and nothing is done twice', async () => {
  const store = memoryStore();
  let lost = 0;
  const deaf: ThreadStore = {
    ...store,
    async append(...input) {
      await store.append(...input);
      lost += 1;
      throw new Error('the reply was lost');
    },
  };
  const world = travelWorld(
    scriptedModel([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]),
    () => deaf,
  );
  const agent = world.agent();
  const { approvalRequests, thread } = await agent.run('Book', await agent.thread('t'));
  const answers = approvalRequests.map((request) => request.approve());
  expect(await agent.run(answers, thread)).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(world.ran).toHaveLength(1);
  expect(lost).toBe(5);
});

test('the late result of an attempt that was given up is noted, and changes nothing', async () => {
  const store = memoryStore();
  const clock = { now: 0 };
  const ends: PromiseWithResolvers<string>[] = [];
  const begun = Promise.withResolvers<void>();
  const slow = tool({
    description: 'look',
    inputSchema: cityInput,
    execute: async () => {
      const end = Promise.withResolvers<string>();
      ends.push(end);
      begun.resolve();
      return end.promise;
    },
  });
  const script = [
    { calls: [{ id: 'c1', name: 'look', input: { city: 'Rome' } }] },
    { text: 'Done.' },
  ];
  const world = travelWorld(scriptedModel(script), () => store);
  const agentHere = () =>
    world.agent({ tools: { ...travelTools([]), look: slow }, leaseMs, now: () => clock.now });
  const first = agentHere();
  const running = first.run('Look', await first.thread('t'));
  await begun.promise;
  clock.now += leaseMs;
  const second = agentHere();
  const thread = await second.thread('t');
  await second.settle(thread, 'c1', { status: 'failed', error: 'given up' });
  ends[0]?.resolve('found after all');
  expect(await running).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(await second.run([], thread)).toMatchObject({ status: 'completed' });
  expect(thread.calls).toMatchObject([{ status: 'failed', outcome: { error: 'given up' } }]);
  const late = { attempt: 1, outcome: { status: 'succeeded', output: 'found after all' } };
  expect(thread.events).toContainEqual(expect.objectContaining({ type: 'late-result', ...late }));
});
