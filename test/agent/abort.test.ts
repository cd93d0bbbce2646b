import { tool } from 'ai';
import type { Agent, AgentThread } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book, cityInput, look, memoryWorld, travelTools } from '../support/travel-world.ts';

const script = [{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }];
const reason = new Error('the user left');

/** A `book` that settles when told, and says when it begins. */
function slowBook({ obeysSignal }: { obeysSignal: boolean }) {
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<string>();
  const slow = tool({
    description: 'book a flight',
    inputSchema: cityInput,
    async execute(_input, { abortSignal }) {
      if (obeysSignal)
        abortSignal?.addEventListener('abort', () => end.reject(new Error('stopped')));
      begun.resolve();
      return end.promise;
    },
  });
  return { begun: begun.promise, end, tools: { book: slow } };
}

/** Runs until the tool has begun, aborts, and gives what the run rejects with. */
async function abortedRun(agent: Agent, thread: AgentThread, begun: Promise<void>) {
  const controller = new AbortController();
  const running = errorCode(agent.run('Book', thread, { abortSignal: controller.signal }));
  await begun;
  controller.abort(reason);
  return running;
}

test('aborted before: it rejects with the reason, and nothing is recorded', async () => {
  const world = memoryWorld(script);
  const agent = world.agent();
  const waiting = await agent.run('Book', await agent.thread('t'));
  const answers = waiting.approvalRequests.map((request) => request.approve());
  const { revision } = waiting.thread;
  const signal = AbortSignal.abort(reason);
  expect(await errorCode(agent.run(answers, waiting.thread, { abortSignal: signal }))).toBe(reason);
  expect(waiting.thread.revision).toBe(revision);
  expect(world.ran).toEqual([]);
  expect(await agent.run(answers, waiting.thread)).toMatchObject({ status: 'completed' });
});

test('aborted while the model works: it rejects at once, and run([]) goes on', async () => {
  const world = memoryWorld([{ text: 'Done.' }]);
  const controller = new AbortController();
  const agent = world.agent();
  agent.on('run-started', () => queueMicrotask(() => controller.abort(reason)));
  const thread = await agent.thread('t');
  expect(await errorCode(agent.run('Hi', thread, { abortSignal: controller.signal }))).toBe(reason);
  expect(thread.status).toBe('due');
  expect(thread.messages).toHaveLength(1);
});

test.each(['run', 'stream'] as const)(
  'aborted by the signal that agent.%s got, though the app has changed its options since: no failure is recorded',
  async (method) => {
    const world = memoryWorld([{ text: 'Done.' }]);
    const first = new AbortController();
    const options = { abortSignal: first.signal };
    const agent = world.agent();
    agent.on('run-started', () => {
      options.abortSignal = new AbortController().signal;
      queueMicrotask(() => first.abort(reason));
    });
    const thread = await agent.thread('t');
    const running =
      method === 'run'
        ? agent.run('Hi', thread, options)
        : agent.stream('Hi', thread, options).response;
    expect(await errorCode(running)).toBe(reason);
    expect([thread.status, thread.failure]).toEqual(['due', undefined]);
  },
);

test('aborted during a tool that stops: its error is the result, and run([]) goes on', async () => {
  const world = memoryWorld(script);
  const { tools, begun } = slowBook({ obeysSignal: true });
  const agent = world.agent({ tools, toolApproval: {} });
  const thread = await agent.thread('t');
  expect(await abortedRun(agent, thread, begun)).toBe(reason);
  expect(thread.status).toBe('due');
  expect(thread.calls).toMatchObject([{ status: 'failed', outcome: { error: 'stopped' } }]);
  expect(await agent.run([], thread)).toMatchObject({ status: 'completed', text: 'Done.' });
});

test('aborted during a tool that ignores its signal: the call is indeterminate, and nothing is invented', async () => {
  const world = memoryWorld(script);
  const { tools, begun, end } = slowBook({ obeysSignal: false });
  const agent = world.agent({ tools, toolApproval: {}, abortGraceMs: 1 });
  const thread = await agent.thread('t');
  expect(await abortedRun(agent, thread, begun)).toBe(reason);
  expect(thread.status).toBe('indeterminate');
  expect(thread.calls).toMatchObject([{ status: 'indeterminate' }]);

  expect(await agent.run([], thread)).toMatchObject({ status: 'indeterminate' });
  expect(await errorCode(agent.run('Hello?', thread))).toBe('thread-indeterminate');
  expect(world.requests()).toBe(1);

  const recorded = new Promise((resolve) => agent.on('call-ended', resolve));
  end.resolve('booked after all');
  await recorded;
  expect(thread.calls).toMatchObject([
    { status: 'succeeded', outcome: { output: 'booked after all' } },
  ]);
  expect(await agent.run([], thread)).toMatchObject({ status: 'completed', text: 'Done.' });
});

test('a lease that is renewed meanwhile does not lengthen the time that a tool has to settle', async () => {
  const world = memoryWorld(script);
  const { tools, begun } = slowBook({ obeysSignal: false });
  const agent = world.agent({ tools, toolApproval: {}, leaseMs: 30, abortGraceMs: 100 });
  const thread = await agent.thread('t');
  expect(await abortedRun(agent, thread, begun)).toBe(reason);
  expect(thread.status).toBe('indeterminate');
});

/** Something that is asked, never settles, and says when it begins; once it may say `first`. */
function never<FIRST>(first?: () => FIRST) {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const left = [first];
  const ask = (): FIRST | Promise<never> => {
    const say = left.shift();
    if (say !== undefined) return say();
    begin();
    return new Promise<never>(() => {});
  };
  return { begun, ask };
}

describe('aborted while what the app gave never settles', () => {
  test('a rule that is asked a last time, at the beginning of a run and within one', async () => {
    const { begun, ask } = never(() => 'user-approval' as const);
    const { tools, begun: bookBegun } = slowBook({ obeysSignal: true });
    const world = memoryWorld([{ calls: [book('c1', 'Paris'), look('c2', 'Rome')] }]);
    const agent = world.agent({
      tools: { book: travelTools(world.ran).book, look: tools.book },
      toolApproval: { book: ask },
    });
    const thread = await agent.thread('t');
    const controller = new AbortController();
    const running = errorCode(agent.run('Book', thread, { abortSignal: controller.signal }));
    await bookBegun;
    await agent.respond(
      thread.activeApprovalRequests.map((request) => request.approve()),
      thread,
    );
    await begun;
    controller.abort(reason);
    expect(await running).toBe(reason);
    expect(thread.calls).toMatchObject([{ status: 'approved' }, { status: 'failed' }]);
    const signal = AbortSignal.timeout(1);
    expect(await errorCode(agent.run([], thread, { abortSignal: signal }))).toBe(signal.reason);
  });

  test('the app that is asked who may answer: nothing is recorded', async () => {
    const { begun, ask } = never<boolean>();
    const world = memoryWorld([{ calls: [book('c1', 'Paris')] }]);
    const agent = world.agent({ mayAnswer: ask });
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Book', thread);
    const { revision } = thread;
    const controller = new AbortController();
    const answers = approvalRequests.map((request) => request.approve());
    const running = errorCode(agent.run(answers, thread, { abortSignal: controller.signal }));
    await begun;
    controller.abort(reason);
    expect(await running).toBe(reason);
    expect(thread.revision).toBe(revision);
  });

  test('a tool that is asked what became of a call', async () => {
    const world = memoryWorld(script);
    const { tools, begun } = slowBook({ obeysSignal: false });
    const dead = world.agent({ tools, toolApproval: {}, abortGraceMs: 1 });
    await abortedRun(dead, await dead.thread('t'), begun);
    const { begun: asked, ask: reconcile } = never<never>();
    const agent = world.agent({ toolRecovery: { book: { reconcile } } });
    const thread = await agent.thread('t');
    const controller = new AbortController();
    const running = errorCode(agent.run([], thread, { abortSignal: controller.signal }));
    await asked;
    controller.abort(reason);
    expect(await running).toBe(reason);
  });
});

test('aborted after the end: nothing happens', async () => {
  const world = memoryWorld([{ text: 'Done.' }]);
  const controller = new AbortController();
  const agent = world.agent();
  const thread = await agent.thread('t');
  const response = await agent.run('Hi', thread, { abortSignal: controller.signal });
  controller.abort(reason);
  expect(response.status).toBe('completed');
  expect(thread.status).toBe('idle');
});

test('aborted while a rule says nothing of what the model proposed: the thread is free, and the model is asked again', async () => {
  const world = memoryWorld([...script.slice(0, 1), ...script]);
  const { begun: asked, ask } = never<never>();
  const agent = world.agent({ toolApproval: { book: ask } });
  const thread = await agent.thread('t');
  expect(await abortedRun(agent, thread, asked)).toBe(reason);
  expect(thread).toMatchObject({ status: 'due', calls: [] });
  const other = world.agent();
  expect(await other.run([], await other.thread('t'))).toMatchObject({ status: 'waiting' });
});

test('aborted while a rule says nothing of an approved call: the answer is recorded, and the call runs later', async () => {
  const world = memoryWorld(script);
  const first = world.agent();
  const { approvalRequests } = await first.run('Book', await first.thread('t'));
  const answers = approvalRequests.map((request) => request.approve());
  const { begun: asked, ask } = never<never>();
  const agent = world.agent({ toolApproval: { book: ask } });
  const thread = await agent.thread('t');
  const controller = new AbortController();
  const running = errorCode(agent.run(answers, thread, { abortSignal: controller.signal }));
  await asked;
  controller.abort(reason);
  expect(await running).toBe(reason);
  expect(thread.calls).toMatchObject([{ status: 'approved' }]);
  expect(world.ran).toEqual([]);
  expect(await first.run([], await first.thread('t'))).toMatchObject({ status: 'completed' });
  expect(world.ran).toHaveLength(1);
});

/** An agent whose rule aborts the run that asks it, once told so. */
function abortingWorld() {
  const world = memoryWorld(script);
  const controller = new AbortController();
  const { signal } = controller;
  const told = { aborts: false };
  const toolApproval = {
    get book() {
      if (told.aborts) controller.abort(reason);
      return 'user-approval' as const;
    },
  };
  return { agent: world.agent({ toolApproval }), ran: world.ran, told, signal };
}

describe('aborted by a rule that decides at once', () => {
  test('on the calls of a step: the step is not recorded', async () => {
    const { agent, told, signal } = abortingWorld();
    const thread = await agent.thread('t');
    told.aborts = true;
    expect(await errorCode(agent.run('Book', thread, { abortSignal: signal }))).toBe(reason);
    expect(thread.events.map(({ type }) => type)).not.toContain('step-finished');
  });

  test('on an approved call: it neither runs nor ends, and the next run runs it', async () => {
    const { agent, ran, told, signal } = abortingWorld();
    const { thread, approvalRequests } = await agent.run('Book', await agent.thread('t'));
    const answers = approvalRequests.map((request) => request.approve());
    told.aborts = true;
    expect(await errorCode(agent.run(answers, thread, { abortSignal: signal }))).toBe(reason);
    expect(thread.calls).toMatchObject([{ status: 'approved' }]);
    expect(await agent.run([], thread)).toMatchObject({ status: 'completed' });
    expect(ran).toHaveLength(1);
  });
});
