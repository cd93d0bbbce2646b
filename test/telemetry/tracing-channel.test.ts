import { tool } from 'ai';
import { HoldpointError, later, memoryStore, type ThreadStore } from 'holdpoint';
import { threadEventSchema } from 'holdpoint/schemas';
import { askConfirmation } from 'holdpoint/tools';
import { describe, expect, test, vi } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { eventsIn } from '../support/events-in.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import {
  book,
  cityInput,
  look,
  memoryWorld,
  travelTools,
  travelWorld,
} from '../support/travel-world.ts';
import { listen, listenToAll, ofEvent, ofType } from './listen.ts';
import { lostCall } from './lost-call.ts';
import { waitFor } from '../support/waiting.ts';

const script = [{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }];
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('the channel publishes, as operations with one message each,', () => {
  test('of a request, its answer, the tool that runs, and its result', async () => {
    using heard = listen();
    const agent = memoryWorld(script).agent();
    const { approvalRequests, thread } = await agent.run('Book', await agent.thread('t'));
    const answers = approvalRequests.map((request) => request.approve({ reason: 'fine' }));
    await agent.run(answers, thread, { principal: 'ann', channel: 'web' });
    expect(heard.moments).toEqual([
      'start request-opened',
      'asyncEnd request-opened',
      'start request-answered',
      'asyncEnd request-answered',
      'start started',
      'asyncEnd started',
      'start call-ended',
      'asyncEnd call-ended',
    ]);
    const call = { threadId: 't', toolCallId: 'c1', toolName: 'book' };
    const { requestId } = approvalRequests[0] ?? {};
    const input = { city: 'Paris' };
    expect(heard.messages).toMatchObject([
      { ...call, requestId, request: { type: 'approval-request', toolCall: { input } } },
      {
        ...call,
        requestId,
        request: { requestId, createdAt: expect.any(Number) },
        event: {
          at: expect.any(Number),
          principal: 'ann',
          channel: 'web',
          response: { approved: true, reason: 'fine' },
        },
      },
      { ...call, requestId, attempt: 1, input, result: { booked: 'Paris' } },
      { ...call, requestId, attempt: 1, input, event: { outcome: { status: 'succeeded' } } },
    ]);
  });

  test('of a run and its model steps, around all that the run does', async () => {
    using heard = listenToAll();
    const agent = memoryWorld(script).agent({ name: 'travel' });
    const { approvalRequests, thread } = await agent.run('Book', await agent.thread('t'));
    const asking = heard.moments.splice(0);
    expect(asking.filter((moment) => !moment.startsWith('asyncEnd'))).toEqual([
      'start invoked',
      'start thread-created',
      'start message-added',
      'start run-started',
      'start prompted',
      'start step-finished',
      'start request-opened',
      'start run-ended',
    ]);
    expect(asking.filter((moment) => !moment.startsWith('start'))).toEqual([
      'asyncEnd thread-created',
      'asyncEnd message-added',
      'asyncEnd run-started',
      'asyncEnd prompted',
      'asyncEnd step-finished',
      'asyncEnd request-opened',
      'asyncEnd run-ended',
      'asyncEnd invoked',
    ]);
    const answers = approvalRequests.map((request) => request.approve());
    const response = await agent.run(answers, thread);
    expect(heard.moments.slice(0, 2)).toEqual(['start invoked', 'start request-answered']);
    expect(heard.moments.slice(-6)).toEqual([
      'asyncEnd prompted',
      'start step-finished',
      'start run-ended',
      'asyncEnd step-finished',
      'asyncEnd run-ended',
      'asyncEnd invoked',
    ]);
    const model = { provider: 'scripted', modelId: 'scripted' };
    const usage = { inputTokens: 3, outputTokens: 10 };
    expect(ofType(heard, 'invoked')).toMatchObject([
      { ...model, threadId: 't', agentName: 'travel', status: 'waiting', usage },
      { status: 'completed', finishReason: 'stop', runId: expect.any(String), result: response },
    ]);
    expect(ofType(heard, 'prompted')).toMatchObject([
      { ...model, threadId: 't', step: 0, answer: { finishReason: 'tool-calls', usage } },
      { step: 1, answer: { finishReason: 'stop' } },
    ]);
  });

  test('each event of the log once, where it is appended and not where it is read', async () => {
    const world = memoryWorld(script);
    using heard = listenToAll();
    const agent = world.agent();
    const { approvalRequests, thread } = await agent.run('Book', await agent.thread('t'));
    const other = await world.agent().thread('t');
    expect(other.events).toHaveLength(thread.events.length);
    await agent.respond(
      approvalRequests.map((request) => request.reject()),
      thread,
    );
    await agent.run([], thread);
    const appended = ofType(heard, 'appended').map(({ event }) => event);
    expect(appended).toEqual(thread.events);
    expect(appended).toEqual(await eventsIn(world.store, 't'));
  });

  test('of an append before it is tried, and once it is durable', async () => {
    const { store, ...world } = memoryWorld(script);
    const stored: number[] = [];
    using heard = listen();
    const slow: ThreadStore = {
      ...store,
      async append(...input) {
        stored.push(heard.moments.length);
        await store.append(...input);
        stored.push(heard.moments.length);
      },
    };
    const agent = world.agent({ store: slow });
    await agent.run('Book', await agent.thread('t'));
    /* The message, then the step with its request. */
    expect(stored).toEqual([0, 0, 1, 1]);
    expect(heard.moments).toEqual(['start request-opened', 'asyncEnd request-opened']);
  });

  test('a call without approval, one that fails, and a deferred one', async () => {
    using heard = listen();
    const calls = [
      look('c1', 'Rome'),
      { id: 'c2', name: 'fail', input: { city: 'Oslo' } },
      { id: 'c3', name: 'begin', input: { city: 'Bonn' } },
    ];
    const begin = tool({ description: 'x', inputSchema: cityInput, execute: async () => later });
    const agent = memoryWorld([{ calls }]).agent({ tools: { ...travelTools([]), begin } });
    const { thread } = await agent.run('Go', await agent.thread('t'));
    expect(ofType(heard, 'started')).toMatchObject([
      { toolCallId: 'c1', requestId: undefined, follows: undefined, result: 'a flight to Rome' },
      { toolCallId: 'c2', error: new Error('no flight to Oslo') },
      { toolCallId: 'c3', result: later },
    ]);
    expect(heard.moments.filter((moment) => moment === 'error started')).toHaveLength(1);
    const finished = ofEvent(heard, 'call-ended').map(
      ({ toolCallId, event }) => `${toolCallId} ${event.outcome.status}`,
    );
    expect(finished.toSorted()).toEqual(['c1 succeeded', 'c2 failed']);
    await agent.deliver(thread, 'c3', { status: 'succeeded', output: 1 }, { channel: 'queue' });
    expect(ofEvent(heard, 'call-ended')[2]).toMatchObject({
      toolCallId: 'c3',
      event: { source: 'delivered', channel: 'queue', outcome: { output: 1 } },
    });
  });

  test('of a rejection and of an expiry, after which nothing was started', async () => {
    using heard = listen();
    const clock = { now: 1_000 };
    const calls = [book('c1', 'Paris'), book('c2', 'Rome')];
    const agent = memoryWorld([{ calls }, { text: 'Done.' }]).agent({
      now: () => clock.now,
      toolApproval: { book: () => ({ type: 'user-approval', expiresAfterMs: 5_000 }) },
    });
    const { approvalRequests, thread } = await agent.run('Book', await agent.thread('t'));
    clock.now += 4_000;
    await agent.respond(
      approvalRequests.slice(0, 1).map((request) => request.reject()),
      thread,
    );
    clock.now += 4_000;
    await agent.run([], thread);
    const request = { createdAt: 1_000 };
    expect(ofEvent(heard, 'request-answered')).toMatchObject([
      { toolCallId: 'c1', request, event: { at: 5_000, response: { approved: false } } },
    ]);
    expect(ofEvent(heard, 'request-closed')).toMatchObject([
      { toolCallId: 'c2', request, wasAnswered: false, event: { at: 9_000, cause: 'expired' } },
    ]);
    expect(ofType(heard, 'started')).toEqual([]);
    const outcome = { status: 'denied' };
    expect(ofEvent(heard, 'call-ended')).toMatchObject([
      { toolCallId: 'c1', attempt: 0, event: { outcome } },
      { toolCallId: 'c2', attempt: 0, event: { outcome } },
    ]);
  });

  test('of questions, and of what the app asks by itself', async () => {
    using heard = listen();
    const calls = [{ id: 'c1', name: 'confirm', input: { question: 'Sure?' } }];
    const agent = memoryWorld([{ calls }, { text: 'Done.' }]).agent({
      tools: { confirm: askConfirmation() },
      toolApproval: {},
    });
    const { userInputRequests, thread } = await agent.run('Ask', await agent.thread('t'));
    const { requestId = '' } = userInputRequests[0] ?? {};
    await agent.run({ type: 'question-response', requestId, status: 'dismissed' }, thread);
    const own = await agent.requestApproval(thread, { text: 'Publish?' });
    await agent.respond(own.approve(), thread);
    expect(ofEvent(heard, 'request-opened')).toMatchObject([
      { request: { type: 'question-request' }, toolName: 'confirm', toolCallId: 'c1' },
      {
        request: { type: 'approval-request' },
        toolName: undefined,
        requestId: own.requestId,
      },
    ]);
    expect(ofEvent(heard, 'request-answered')).toMatchObject([
      { requestId, event: { response: { status: 'dismissed' } } },
      { requestId: own.requestId, event: { response: { approved: true } } },
    ]);
  });

  test('an indeterminate call, once, and the person who settles it', async () => {
    await using lost = await lostCall();
    using heard = listen();
    const { agent } = lost;
    const thread = await lost.open();
    expect(await agent.run([], thread)).toMatchObject({ status: 'indeterminate' });
    expect(await errorCode(agent.run('Hello?', thread))).toBe('thread-indeterminate');
    expect(heard.moments).toEqual(['start call-lost', 'asyncEnd call-lost']);
    expect(heard.messages).toMatchObject([
      { threadId: 't', toolCallId: 'c1', attempt: 1, input: { city: 'Paris' } },
    ]);
    await agent.settle(thread, 'c1', { status: 'failed', error: 'no' }, { principal: 'ann' });
    expect(ofEvent(heard, 'call-ended')).toMatchObject([
      { event: { source: 'settled', principal: 'ann', outcome: { status: 'failed' } } },
    ]);
  });
});

test('a mistake in a setting is published at once, also without other listeners', async () => {
  vi.spyOn(console, 'warn').mockReturnValue();
  using heard = listen();
  const agent = memoryWorld(script).agent({
    toolApproval: {
      book: ({ amount }: { amount?: number }) => (Number(amount) > 1 ? 'denied' : 'approved'),
    },
  });
  await agent.run('Book', await agent.thread('t'));
  vi.restoreAllMocks();
  expect(heard.moments).toEqual([
    'start setting-failed',
    'start request-opened',
    'asyncEnd request-opened',
  ]);
  expect(ofType(heard, 'setting-failed')).toMatchObject([
    {
      threadId: 't',
      setting: 'toolApproval.book',
      kind: 'unknown-field',
      problem: expect.stringContaining('amount'),
      toolCallId: 'c1',
      toolName: 'book',
      input: { city: 'Paris' },
    },
  ]);
});

describe('what is not durable', () => {
  test('has the error if the store refuses it', async () => {
    const refusing: ThreadStore = {
      ...memoryStore(),
      append: async () => Promise.reject(new Error('disk full')),
    };
    const world = travelWorld(scriptedModel(script), () => refusing);
    using heard = listen();
    const agent = world.agent();
    const asked = agent.requestApproval(await agent.thread('t'), { text: 'Publish?' });
    await expect(asked).rejects.toThrow('disk full');
    expect(heard.moments).toEqual([
      'start request-opened',
      'error request-opened',
      'asyncEnd request-opened',
    ]);
    expect(heard.messages).toMatchObject([{ error: new Error('disk full') }]);
  });

  test('is marked as outrun if another was faster: of two answers one is marked as durable', async () => {
    const { store, ...world } = memoryWorld(script);
    const first = world.agent();
    const { approvalRequests, thread } = await first.run('Book', await first.thread('t'));
    const [request] = approvalRequests;
    if (request === undefined) throw new Error('nothing was asked');
    const other = world.agent();
    const otherThread = await other.thread('t');
    using heard = listen();
    const outcomes = await Promise.all([
      errorCode(first.respond(request.approve(), thread)),
      errorCode(other.respond(request.reject(), otherThread)),
    ]);
    expect(outcomes.toSorted()).toEqual(['already-answered', 'no error']);
    const [winner, loser] = ofEvent(heard, 'request-answered').toSorted((one) =>
      'error' in one ? 1 : -1,
    );
    expect(winner).not.toHaveProperty('error');
    expect(loser?.error).toBeInstanceOf(HoldpointError);
    expect(loser?.error).toMatchObject({ code: 'revision-conflict' });
    const events = await eventsIn(store, 't');
    expect(events.filter(({ type }) => type === 'request-answered')).toMatchObject([
      { response: winner?.event.response },
    ]);
    expect(heard.messages.filter((message) => !('error' in message))).toHaveLength(
      winner?.event.response.type === 'approval-response' && !winner.event.response.approved
        ? 2
        : 1,
    );
  });
});

describe('the traceparent that a subscriber sets', () => {
  test('is stored with the request and the answer, and passed to later messages', async () => {
    let spans = 0;
    using heard = listen((message) => {
      spans += 1;
      if (message.type !== 'appended') return;
      message.traceparent = traceparent.replace('31-01', `${30 + spans}-01`);
    });
    const world = memoryWorld(script);
    const agent = world.agent();
    const { approvalRequests, thread } = await agent.run('Book', await agent.thread('t'));
    const answers = approvalRequests.map((request) => request.approve());
    const restored = await memoryWorld(script).agent().restore(JSON.stringify(thread));
    expect(restored.revision).toBe(thread.revision);
    await agent.run(answers, thread);
    const stored = thread.events.flatMap((event) =>
      'traceparent' in event ? [[event.type, event.traceparent]] : [],
    );
    expect(stored).toEqual([
      ['request-opened', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
      ['request-answered', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203332-01'],
    ]);
    expect(ofEvent(heard, 'request-answered')).toMatchObject([{ follows: stored[0]?.[1] }]);
    expect(ofType(heard, 'started')).toMatchObject([{ follows: stored[1]?.[1] }]);
    expect(await eventsIn(world.store, 't')).toEqual(thread.events);
  });

  test('is passed to the answer that is recorded with the request: a person chose retry', async () => {
    await using lost = await lostCall();
    const thread = await lost.open();
    using heard = listen((message) => {
      if (message.type === 'appended') message.traceparent = traceparent;
    });
    await lost.agent.settle(thread, 'c1', { status: 'retry' });
    expect(ofEvent(heard, 'request-answered')).toMatchObject([
      { follows: traceparent, toolName: 'book' },
    ]);
  });

  test.each([
    'nonsense',
    traceparent.toUpperCase(),
    traceparent.replace('00-', '01-'),
    `${traceparent}-00`,
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`,
    `${traceparent}\n`,
    '',
  ])('is left out when it is none: %j', async (wrong) => {
    using heard = listen((message) => {
      if (message.type === 'appended') message.traceparent = wrong;
    });
    const agent = memoryWorld(script).agent();
    const { thread } = await agent.run('Book', await agent.thread('t'));
    const opened = thread.events.find(({ type }) => type === 'request-opened');
    expect(heard.moments).toEqual(['start request-opened', 'asyncEnd request-opened']);
    expect(opened).not.toHaveProperty('traceparent');
    expect(threadEventSchema.safeParse({ ...opened, traceparent: wrong }).success).toBe(false);
    expect(threadEventSchema.safeParse({ ...opened, traceparent }).success).toBe(true);
  });
});

test('a subscriber that throws does not stop a run: Node makes an uncaught exception of it', async () => {
  const uncaught: unknown[] = [];
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (error) => uncaught.push(error.message));
  try {
    using heard = listenToAll(({ type }) => {
      throw new Error(`broken at ${type}`);
    });
    const agent = memoryWorld(script).agent();
    const { approvalRequests, thread } = await agent.run('Book', await agent.thread('t'));
    const answers = approvalRequests.map((request) => request.approve());
    expect(await agent.run(answers, thread)).toMatchObject({ status: 'completed', text: 'Done.' });
    await waitFor(() => expect(uncaught).toHaveLength(17));
    expect(uncaught[0]).toBe('broken at invoked');
    expect(heard.moments).toHaveLength(34);
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const listener of others) process.on('uncaughtException', listener);
  }
});

test.each([
  ['twice', (begin: () => void) => [begin(), begin()]],
  ['never', () => []],
  ['later', (begin: () => void) => void setImmediate(begin)],
])('a subscriber that begins work %s does not: it is done once', async (_how, within) => {
  const world = memoryWorld(script);
  using heard = listenToAll((message) => {
    if (message.type === 'invoked' || message.type === 'prompted' || message.type === 'started')
      message.within = within;
  });
  const agent = world.agent();
  const { approvalRequests, thread } = await agent.run('Book', await agent.thread('t'));
  const answers = approvalRequests.map((request) => request.approve());
  expect(await agent.run(answers, thread)).toMatchObject({ status: 'completed', text: 'Done.' });
  await new Promise(setImmediate);
  expect(world.ran).toHaveLength(1);
  expect(world.requests()).toBe(2);
  expect(ofType(heard, 'invoked')).toHaveLength(2);
});

test('a subscriber that would change what was asked, runs or came out can not', async () => {
  const world = memoryWorld([
    { calls: [look('c1', 'Rome'), book('c2', 'Paris')] },
    { text: 'Done.' },
  ]);
  const refused: unknown[] = [];
  const change = (part: object) => refused.push(Reflect.set(part, 'city', 'Oslo'));
  using heard = listen((message) => {
    if (message.type === 'started') change(Object(message.input));
    if (message.type !== 'appended') return;
    if (message.event.type === 'request-opened') change(Object(message.request?.toolCall?.input));
    if (message.event.type === 'call-ended') change(message.event.outcome);
  });
  const agent = world.agent();
  const { approvalRequests, thread } = await agent.run('Book', await agent.thread('t'));
  await agent.run(
    approvalRequests.map((request) => request.approve()),
    thread,
  );
  expect(heard.messages).toHaveLength(6);
  expect(refused).toEqual([false, false, false, false, false]);
  expect(world.ran).toMatchObject([{ input: { city: 'Rome' } }, { input: { city: 'Paris' } }]);
});

test('without a subscriber nothing is stored of it, and where there is no channel agents work the same', async () => {
  const plain = memoryWorld(script).agent();
  const { thread } = await plain.run('Book', await plain.thread('t'));
  expect(JSON.stringify(thread)).not.toContain('traceparent');

  vi.resetModules();
  const { getBuiltinModule } = process;
  Reflect.set(process, 'getBuiltinModule', undefined);
  try {
    const elsewhere = await import('holdpoint');
    const agent = elsewhere.createAgent({
      model: scriptedModel(script).model,
      tools: travelTools([]),
      toolApproval: { book: 'user-approval' },
    });
    const waiting = await agent.run('Book', await agent.thread('t'));
    const answers = waiting.approvalRequests.map((request) => request.approve());
    expect(await agent.run(answers, waiting.thread)).toMatchObject({ status: 'completed' });
  } finally {
    Reflect.set(process, 'getBuiltinModule', getBuiltinModule);
  }
});
