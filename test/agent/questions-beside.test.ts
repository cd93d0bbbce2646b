import { tool, type ToolSet } from 'ai';
import {
  type AgentOptions,
  type AgentThread,
  later,
  type QuestionResponseContent,
  type ToolRunOptions,
} from 'holdpoint';
import { receiveAnswers } from 'holdpoint/tools';
import { runWorker } from 'holdpoint/worker';
import { expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book, cityInput, memoryWorld } from '../support/travel-world.ts';
import { whichClass } from '../support/which-class.ts';

const answering = Symbol.for('holdpoint.answering');

interface Told {
  response: unknown;
  replyTo: unknown;
  signal: AbortSignal;
}

/** What a tool's hook does with an answer. */
type Deliver = (told: Told) => Promise<unknown>;

/** A world whose `book` goes on elsewhere, and what it was told. */
function askingWorld({
  deliver = async () => undefined,
  execute = async () => later,
  hook = {},
}: { deliver?: Deliver; execute?: () => Promise<unknown>; hook?: object | null } = {}) {
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const told: Told[] = [];
  const made: ToolSet[string] = tool({ description: 'book', inputSchema: cityInput, execute });
  const asked = {
    deliver: async (answer: Omit<Told, 'signal'>, { signal }: { signal: AbortSignal }) => {
      told.push({ ...answer, signal });
      return deliver({ ...answer, signal });
    },
  };
  const tools = { book: Object.assign(made, { [answering]: hook && { ...asked, ...hook } }) };
  return {
    ...world,
    told,
    agent: (options: Partial<AgentOptions> = {}) =>
      world.agent({ tools, toolApproval: {}, ...options }),
  };
}

/** A thread of it whose call is deferred. */
async function deferred(world: ReturnType<typeof askingWorld>) {
  const agent = world.agent();
  const { thread } = await agent.run('Book', await agent.thread('t'));
  return { agent, thread };
}

function pick({ activeRequests: [request] }: AgentThread, id: string): QuestionResponseContent {
  const { requestId = '' } = request ?? {};
  const answers = [{ key: 'class', optionIds: [id] }];
  return { type: 'question-response', requestId, status: 'answered', answers };
}

const typesOf = ({ events }: AgentThread, from: number): string[] =>
  events.slice(from).map(({ type }) => type);

test('a deferred call asks a person, is told the answer, and stays deferred until its result comes', async () => {
  const world = askingWorld();
  const { agent, thread } = await deferred(world);
  const request = await agent.requestAnswer(thread, 'c1', whichClass, { replyTo: { port: 1 } });
  expect(request).toMatchObject({
    type: 'question-request',
    threadId: 't',
    text: 'Which class?',
    toolCall: { toolCallId: 'c1', toolName: 'book', input: { city: 'Paris' } },
  });
  expect(thread.activeRequests).toEqual([request]);
  expect(JSON.stringify(thread.activeRequests)).not.toContain('port');

  const response = await agent.run(pick(thread, 'second'), thread, { principal: 'ann' });
  expect(response).toMatchObject({ status: 'waiting', userInputRequests: [] });
  expect(world.told).toMatchObject([
    {
      response: { status: 'answered', answers: [{ key: 'class', optionIds: ['second'] }] },
      request,
      replyTo: { port: 1 },
      call: { toolCallId: 'c1', toolName: 'book', input: { city: 'Paris' } },
    },
  ]);
  expect(thread.calls).toMatchObject([{ status: 'deferred' }]);
  expect(thread.events.at(-2)).toMatchObject({
    type: 'answer-delivered',
    requestId: request.requestId,
  });
  expect(world.requests()).toBe(1);

  await agent.deliver(thread, 'c1', { status: 'succeeded', output: 'booked' });
  expect(await agent.run([], thread)).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(JSON.stringify(world.played.prompts.at(-1))).not.toMatch(/class|second/i);
});

test('an answer that respond recorded is owed to the tool: a worker finds the thread and brings it', async () => {
  const world = askingWorld();
  const { agent, thread } = await deferred(world);
  await agent.requestAnswer(thread, 'c1', whichClass);
  expect(await world.store.list({ dueBefore: 1 })).toEqual([]);
  await agent.respond(pick(thread, 'first'), thread);
  expect(world.told).toEqual([]);
  expect(await world.store.list({ dueBefore: 1 })).toMatchObject([{ threadId: 't' }]);

  const stopping = new AbortController();
  const elsewhere = world.agent();
  elsewhere.on('answer-delivered', () => stopping.abort());
  await runWorker({ agent: elsewhere, store: world.store, signal: stopping.signal, pollMs: 1 });
  expect(world.told).toHaveLength(1);
});

test('another question replaces the one before, and the same again is the same', async () => {
  const world = askingWorld();
  const { agent, thread } = await deferred(world);
  const first = await agent.requestAnswer(thread, 'c1', whichClass);
  const { revision } = thread;
  expect(await agent.requestAnswer(thread, 'c1', whichClass)).toEqual(first);
  expect(thread.revision).toBe(revision);

  const answer = pick(thread, 'first');
  const second = await agent.requestAnswer(thread, 'c1', {
    ...whichClass,
    text: 'And which seat?',
  });
  expect(typesOf(thread, revision)).toEqual(['request-closed', 'request-opened']);
  expect(thread.events.at(-2)).toMatchObject({ requestId: first.requestId, cause: 'cancelled' });
  expect(thread.activeRequests).toEqual([second]);
  expect(await errorCode(agent.run(answer, thread))).toBe('request-closed');
  expect(world.told).toEqual([]);
});

test('the same question after it has expired is another one', async () => {
  const clock = { now: 0 };
  const world = askingWorld();
  const agent = world.agent({ now: () => clock.now });
  const { thread } = await agent.run('Book', await agent.thread('t'));
  const question = { ...whichClass, expiresAfterMs: 10 };
  const first = await agent.requestAnswer(thread, 'c1', question);
  clock.now = 10;
  const second = await agent.requestAnswer(thread, 'c1', question);
  expect(second.requestId).not.toBe(first.requestId);
  clock.now = 20;
  expect(await agent.run([], thread)).toMatchObject({ status: 'waiting', userInputRequests: [] });
  expect(thread.calls).toMatchObject([{ status: 'deferred' }]);
});

test('an answer that was not brought is not brought any more once the tool asks something else', async () => {
  const world = askingWorld();
  const { agent, thread } = await deferred(world);
  await agent.requestAnswer(thread, 'c1', whichClass);
  await agent.respond(pick(thread, 'first'), thread);
  await agent.requestAnswer(thread, 'c1', whichClass);
  expect(await agent.run([], thread)).toMatchObject({ status: 'waiting' });
  expect(world.told).toEqual([]);
});

test('what can not be asked is refused with a code, and nothing is recorded', async () => {
  const world = askingWorld();
  const { agent, thread } = await deferred(world);
  const { revision } = thread;
  const refused = async (toolCallId: string, question: object, replyTo?: unknown) =>
    errorCode(agent.requestAnswer(thread, toolCallId, { ...whichClass, ...question }, { replyTo }));
  expect(await refused('c2', {})).toBe('not-found');
  expect(await refused('c1', { fields: [] })).toBe('invalid-input');
  expect(await refused('c1', { dismissAnswer: [{ key: 'x', optionIds: [] }] })).toBe(
    'invalid-input',
  );
  expect(await refused('c1', {}, { at: Number.NaN })).toBe('invalid-input');
  expect(thread.revision).toBe(revision);
  await agent.deliver(thread, 'c1', { status: 'failed', error: 'sold out' });
  expect(await refused('c1', {})).toBe('not-allowed');
});

test('an approval that waits is no call that goes on: nothing is asked beside it', async () => {
  const world = askingWorld();
  const agent = world.agent({ toolApproval: { book: 'user-approval' } });
  const { thread } = await agent.run('Book', await agent.thread('t'));
  expect(await errorCode(agent.requestAnswer(thread, 'c1', whichClass))).toBe('not-allowed');
});

test.each<[string, (world: ReturnType<typeof askingWorld>, thread: AgentThread) => unknown]>([
  [
    'its result comes',
    async (world, thread) => {
      const other = world.agent();
      const outcome = { status: 'succeeded', output: 1 } as const;
      await other.deliver(await other.thread(thread.id), 'c1', outcome);
    },
  ],
  [
    'the thread is cancelled',
    async (world, { id }) => {
      const other = world.agent();
      await other.cancel(await other.thread(id));
    },
  ],
  [
    'the user goes on',
    async (world, { id }) => {
      const other = world.agent();
      await other.run('Never mind', await other.thread(id), { whilePending: 'cancel' });
    },
  ],
])('a question is closed with the end of its call, in one append, when %s', async (_what, end) => {
  const world = askingWorld();
  const { agent, thread } = await deferred(world);
  await agent.requestAnswer(thread, 'c1', whichClass);
  const answer = pick(thread, 'first');
  const { revision } = thread;
  await end(world, thread);
  expect(await errorCode(agent.respond(answer, thread))).toBe('request-closed');
  expect(typesOf(thread, revision).slice(0, 2)).toEqual(['request-closed', 'call-ended']);
  expect(thread.activeRequests).toEqual([]);
});

test('an answer that was not brought is dropped when the call ends', async () => {
  const world = askingWorld();
  const { agent, thread } = await deferred(world);
  await agent.requestAnswer(thread, 'c1', whichClass);
  await agent.respond(pick(thread, 'first'), thread);
  await agent.deliver(thread, 'c1', { status: 'succeeded', output: 1 });
  expect(await agent.run([], thread)).toMatchObject({ status: 'completed' });
  expect(world.told).toEqual([]);
});

test.each([
  [
    'gives it up',
    {
      deliver: async () => {
        throw new Error('gone');
      },
    },
    'gone',
  ],
  ['has no way to take it', { hook: null }, "The tool 'book' can't receive answers."],
])(
  'where the tool %s, that is recorded, once, and the call stays deferred',
  async (_what, made, error) => {
    const world = askingWorld(made);
    const { agent, thread } = await deferred(world);
    await agent.requestAnswer(thread, 'c1', whichClass);
    expect(await agent.run(pick(thread, 'first'), thread)).toMatchObject({ status: 'waiting' });
    expect(thread.events.at(-2)).toMatchObject({ type: 'answer-delivered', error });
    expect(thread.calls).toMatchObject([{ status: 'deferred' }]);
    expect(await world.store.list({ dueBefore: 1 })).toEqual([]);
    await agent.run([], thread);
    expect(thread.events.filter(({ type }) => type === 'answer-delivered')).toHaveLength(1);
  },
);

test('a tool may end its call instead of taking an answer', async () => {
  const world = askingWorld({ deliver: async () => ({ status: 'failed', error: 'Closed.' }) });
  const { agent, thread } = await deferred(world);
  const { requestId } = await agent.requestAnswer(thread, 'c1', whichClass);
  const dismissed = { type: 'question-response', requestId, status: 'dismissed' } as const;
  expect(await agent.run(dismissed, thread)).toMatchObject({ status: 'completed' });
  expect(thread.calls).toMatchObject([{ status: 'failed', outcome: { error: 'Closed.' } }]);
  expect(thread.events.filter(({ type }) => type === 'answer-delivered')).toEqual([]);
});

test('a run that is aborted leaves the answer owed, and the next run brings it', async () => {
  const aborting = new AbortController();
  const world = askingWorld({
    deliver: async ({ signal }) => {
      aborting.abort(new Error('leaving'));
      signal.throwIfAborted();
    },
  });
  const { agent, thread } = await deferred(world);
  await agent.requestAnswer(thread, 'c1', whichClass);
  const aborted = agent.run(pick(thread, 'first'), thread, { abortSignal: aborting.signal });
  await expect(aborted).rejects.toThrow('leaving');
  expect(thread.status).toBe('due');
  expect(await world.store.list({ dueBefore: 1 })).toMatchObject([{ threadId: 't' }]);
  await agent.run([], thread);
  expect(world.told).toHaveLength(2);
  expect(world.told[1]?.response).toEqual(world.told[0]?.response);
  expect(thread.events.at(-2)).toMatchObject({ type: 'answer-delivered' });
});

test('a call that is still on its way may ask, and is told by the run that is under way', async () => {
  const asked = Promise.withResolvers<void>();
  const told = Promise.withResolvers<void>();
  const world = askingWorld({
    deliver: async () => told.resolve(),
    execute: async () => {
      const agent = world.agent();
      await agent.requestAnswer(await agent.thread('t'), 'c1', whichClass);
      asked.resolve();
      await told.promise;
      return later;
    },
  });
  const agent = world.agent();
  const thread = await agent.thread('t');
  const running = agent.run('Book', thread);
  await asked.promise;
  const inbox = await agent.thread('t');
  await agent.respond(pick(inbox, 'first'), inbox);
  expect(await running).toMatchObject({ status: 'waiting' });
  expect(thread.calls).toMatchObject([{ status: 'deferred' }]);
  expect(world.told).toHaveLength(1);
});

test('a question is closed when its call, still on its way, ends at once after all', async () => {
  const world = askingWorld({
    execute: async () => {
      const agent = world.agent();
      await agent.requestAnswer(await agent.thread('t'), 'c1', whichClass);
      return 'booked';
    },
  });
  const agent = world.agent();
  const response = await agent.run('Book', await agent.thread('t'));
  expect(response).toMatchObject({ status: 'completed', userInputRequests: [] });
});

/** A thread whose call was started by a process that is dead by now. */
async function lost() {
  const clock = { now: 0 };
  const started = Promise.withResolvers<void>();
  const execute = async () => {
    started.resolve();
    return new Promise(() => {});
  };
  const world = askingWorld({ execute });
  const dead = world.agent({ now: () => clock.now });
  void dead.run('Book', await dead.thread('t')).catch(() => {});
  await started.promise;
  clock.now = 100_000;
  const agent = world.agent({ now: () => clock.now });
  const thread = await agent.thread('t');
  expect(thread.status).toBe('indeterminate');
  return { world, agent, thread };
}

test('a call that asks goes on elsewhere, though its process died before that was noted', async () => {
  const { world, agent, thread: found } = await lost();
  await agent.requestAnswer(found, 'c1', whichClass);
  expect(await agent.run(pick(found, 'first'), found)).toMatchObject({ status: 'waiting' });
  expect(found.calls).toMatchObject([{ status: 'deferred' }]);
  expect(world.told).toHaveLength(1);
});

test('a question is closed when a person has its call tried again', async () => {
  const { agent, thread } = await lost();
  await agent.requestAnswer(thread, 'c1', whichClass);
  const { revision } = thread;
  await agent.settle(thread, 'c1', { status: 'retry' });
  expect(typesOf(thread, revision).slice(0, 2)).toEqual(['request-closed', 'call-abandoned']);
  expect(thread.activeRequests).toEqual([]);
});

test('an answer that is owed travels with the JSON form of its thread', async () => {
  const world = askingWorld();
  const { agent, thread } = await deferred(world);
  await agent.requestAnswer(thread, 'c1', whichClass, { replyTo: 'here' });
  await agent.respond(pick(thread, 'first'), thread);
  const other = askingWorld();
  const elsewhere = other.agent();
  await elsewhere.run([], await elsewhere.restore(JSON.stringify(thread)));
  expect(other.told).toMatchObject([{ replyTo: 'here' }]);
});

test('execute is told which thread it is for, and its own name', async () => {
  const seen: unknown[] = [];
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const made = tool({
    description: 'book',
    inputSchema: cityInput,
    execute: async (_input, { threadId, toolName, toolCallId }: ToolRunOptions) =>
      seen.push([threadId, toolName, toolCallId]),
  });
  const agent = world.agent({ tools: { book: made }, toolApproval: {} });
  await agent.run('Book', await agent.thread('t'));
  expect(seen).toEqual([['t', 'book', 'c1']]);
});

test.each([
  ['that it goes on', later, { status: 'deferred' }],
  ['its result', 'booked', { status: 'succeeded', outcome: { output: 'booked' } }],
])(
  'a process that was thought dead while its call asked may yet say %s',
  async (_what, said, call) => {
    const clock = { now: 0 };
    const started = Promise.withResolvers<void>();
    const end = Promise.withResolvers<unknown>();
    const execute = async () => {
      started.resolve();
      return end.promise;
    };
    const world = askingWorld({ execute });
    const unrecorded: unknown[] = [];
    const now = () => clock.now;
    const slow = world.agent({ now, onUnrecorded: (each) => unrecorded.push(each) });
    const running = slow.run('Book', await slow.thread('t'));
    await started.promise;
    clock.now = 100_000;
    const agent = world.agent({ now });
    const thread = await agent.thread('t');
    await agent.requestAnswer(thread, 'c1', whichClass);
    expect(await agent.run([], thread)).toMatchObject({ status: 'waiting' });
    expect(thread.calls).toMatchObject([{ status: 'deferred' }]);

    end.resolve(said);
    await running;
    expect((await agent.thread('t')).calls).toMatchObject([call]);
    expect(unrecorded).toEqual([]);
  },
);

test('a tool that never says whether it has an answer does not hold the thread once its call has ended', async () => {
  const telling = Promise.withResolvers<void>();
  const world = askingWorld({
    deliver: async () => {
      telling.resolve();
      return new Promise(() => {});
    },
  });
  const agent = world.agent({ leaseMs: 30 });
  const { thread } = await agent.run('Book', await agent.thread('t'));
  await agent.requestAnswer(thread, 'c1', whichClass);
  const running = agent.run(pick(thread, 'first'), thread);
  await telling.promise;
  const other = world.agent();
  await other.deliver(await other.thread('t'), 'c1', { status: 'succeeded', output: 1 });
  expect(await running).toMatchObject({ status: 'completed', text: 'Done.' });
});

test('an app makes a tool that is told answers with receiveAnswers, which leaves the tool as it was', async () => {
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const plain: ToolSet[string] = tool({ inputSchema: cityInput, execute: async () => later });
  const told: unknown[] = [];
  const asking = receiveAnswers(plain, {
    deliver: async ({ response, replyTo }) => {
      told.push([response.status, replyTo]);
      return { status: 'failed', error: 'There is no such class.' };
    },
  });
  const agent = world.agent({ tools: { book: asking }, toolApproval: {} });
  const { thread } = await agent.run('Book', await agent.thread('t'));
  await agent.requestAnswer(thread, 'c1', whichClass, { replyTo: 'job-1' });
  await agent.run(pick(thread, 'second'), thread);
  expect(told).toEqual([['answered', 'job-1']]);
  expect(thread.calls).toMatchObject([
    { outcome: { status: 'failed', error: 'There is no such class.' } },
  ]);
  expect(Object.getOwnPropertySymbols(plain)).toEqual([]);
});
