import { tool } from 'ai';
import { createAgent, memoryStore } from 'holdpoint';
import { scriptedModel } from 'holdpoint/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';

const { model } = scriptedModel([{ text: 'Hello.' }], { repeat: true });

test.each([
  ['system', "it is called 'instructions' here"],
  ['experimental_telemetry', "it is called 'telemetry' here"],
  ['abortSignal', 'pass it to agent.run or agent.stream'],
  ['toolAproval', "did you mean 'toolApproval'?"],
  ['maxstep', "did you mean 'maxSteps'?"],
  ['messages', 'pass messages as the first argument of agent.run'],
  ['onStepFinish', "it is called 'onStepEnd' here"],
  ['onFinish', "it is called 'onEnd' here"],
  ['onChunk', 'use agent.on for the events of threads'],
  ['id', "it is called 'name' here"],
  ['user', "pass 'principal' to agent.run or agent.stream"],
  ['experimental_transform', "has no setting 'experimental_transform'."],
  ['somethingElseEntirely', "has no setting 'somethingElseEntirely'"],
])('createAgent refuses %s, and says: %s', (name, advice) => {
  const options = { model, [name]: 'x' };
  expect(() => createAgent(options)).toThrow(TypeError);
  expect(() => createAgent(options)).toThrow(name);
  expect(() => createAgent(options)).toThrow(advice);
});

test.each([
  ['abortsignal', "did you mean 'abortSignal'?"],
  ['context', "it is called 'runtimeContext' here"],
  ['user', "it is called 'principal' here"],
  ['maxSteps', 'pass it to createAgent'],
  ['system', "pass 'instructions' to createAgent"],
  ['messages', 'pass messages as the first argument of agent.run'],
  ['id', "it is called 'messageId' here"],
])('run and stream refuse %s, and say: %s', async (name, advice) => {
  const agent = createAgent({ model });
  const thread = await agent.thread('t');
  const options = { [name]: 'x' };
  await expect(agent.run('Hi', thread, options)).rejects.toThrow(TypeError);
  await expect(agent.run('Hi', thread, options)).rejects.toThrow(advice);
  expect(() => agent.stream('Hi', thread, options)).toThrow(advice);
  expect(thread.events).toEqual([]);
});

test.each([
  [{ timeout: { total: 5 } }, "timeout has no setting 'total'; did you mean 'totalMs'?"],
  [{ retry: { maxAttempt: 2 } }, "retry has no setting 'maxAttempt'; did you mean 'maxAttempts'?"],
  [
    { toolRecovery: { look: { idempotant: true } } },
    "toolRecovery.look has no setting 'idempotant'; did you mean 'idempotent'?",
  ],
])('a setting within a setting is refused as well: %o', (misspelt: object, advice: string) => {
  const look = tool({ inputSchema: z.object({}), execute: () => 'rain' });
  const options = { model, tools: { look }, ...misspelt };
  expect(() => createAgent(options)).toThrow(advice);
});

test('a setting that is undefined is no setting', async () => {
  const options = { model, system: undefined };
  const agent = createAgent(options);
  const thread = await agent.thread('t');
  const none: object = { user: undefined };
  expect(await agent.run('Hi', thread, none)).toMatchObject({ text: 'Hello.' });
});

test("run takes the AI SDK's abortSignal, and not its old name", async () => {
  const agent = createAgent({ model });
  const thread = await agent.thread('t');
  const reason = new Error('the user left');
  const abortSignal = AbortSignal.abort(reason);
  await expect(agent.run('Hi', thread, { abortSignal })).rejects.toBe(reason);
  await expect(agent.stream('Hi', thread, { abortSignal }).response).rejects.toBe(reason);
  const old: object = { signal: abortSignal };
  const advice = "has no setting 'signal'; it is called 'abortSignal' here.";
  await expect(agent.run('Hi', thread, old)).rejects.toThrow(`agent.run ${advice}`);
  expect(() => agent.stream('Hi', thread, old)).toThrow(`agent.stream ${advice}`);
});

/** An agent with a tool that ends with its signal, or ignores it and ends when it is told. */
function agentWithSlowTool(timeout: unknown, heedsSignal: boolean) {
  const ending = Promise.withResolvers<string>();
  const slow = tool({
    inputSchema: z.object({}),
    execute: async (_input, { abortSignal }) => {
      if (heedsSignal)
        abortSignal?.addEventListener('abort', () => ending.reject(abortSignal.reason));
      return ending.promise;
    },
  });
  const quick = tool({ inputSchema: z.object({}), execute: () => 'quick' });
  const calls = [
    { id: 'c1', name: 'slow', input: {} },
    { id: 'c2', name: 'quick', input: {} },
  ];
  const scripted = scriptedModel([{ calls }, { text: 'It took too long.' }]);
  // @ts-expect-error -- the timeouts are data of the test
  const options: Pick<Parameters<typeof createAgent>[0], 'timeout'> = { timeout };
  const agent = createAgent({
    model: scripted.model,
    tools: { slow, quick },
    store: memoryStore(),
    abortGraceMs: 10,
    ...options,
  });
  return { agent, ending };
}

test.each([{ toolMs: 10 }, { tools: { slowMs: 10 } }, { toolMs: 60_000, tools: { slowMs: 10 } }])(
  'a tool that takes too long is aborted, and the model is told: %o',
  async (timeout) => {
    const { agent } = agentWithSlowTool(timeout, true);
    const thread = await agent.thread('t');
    expect(await agent.run('Go', thread)).toMatchObject({ text: 'It took too long.' });
    expect(thread.calls).toMatchObject([
      { outcome: { status: 'failed', error: "Tool 'slow' did not end within 10 ms." } },
      { outcome: { status: 'succeeded', output: 'quick' } },
    ]);
  },
);

test('a tool that ignores its time limit leaves the call indeterminate, and its late result settles it', async () => {
  const { agent, ending } = agentWithSlowTool({ toolMs: 10 }, false);
  const thread = await agent.thread('t');
  expect(await agent.run('Go', thread)).toMatchObject({ status: 'indeterminate' });
  expect(thread.calls).toMatchObject([{ status: 'indeterminate' }, { status: 'succeeded' }]);
  const settled = Promise.withResolvers<void>();
  agent.on('call-ended', () => settled.resolve());
  ending.resolve('in the end');
  await settled.promise;
  expect(await agent.run([], thread)).toMatchObject({ text: 'It took too long.' });
  expect(thread.calls).toMatchObject([{ outcome: { output: 'in the end' } }, {}]);
});

test.each([
  [10, 'The run did not end within 10 ms.'],
  [{ totalMs: 10 }, 'The run did not end within 10 ms.'],
  [{ stepMs: 10 }, 'The step did not end within 10 ms.'],
])(
  'a run with timeout %o fails when its tools take longer, and is due again',
  async (timeout, error) => {
    const { agent } = agentWithSlowTool(timeout, true);
    const thread = await agent.thread('t');
    await expect(agent.run('Go', thread)).rejects.toMatchObject({
      name: 'TimeoutError',
      message: error,
    });
    expect(thread.failure).toMatchObject({ failures: 1, error });
    expect(thread.nextDeadline).toBeGreaterThan(0);
  },
);

test.each([
  [0, 'timeout must be at least 1 and below 2^31; got 0.'],
  [{ stepMs: NaN }, 'timeout.stepMs must be at least 1 and below 2^31; got NaN.'],
  [{ toolMs: -1 }, 'timeout.toolMs must be at least 1 and below 2^31; got -1.'],
  [{ tools: { slowerMs: 5 } }, "timeout.tools has 'slowerMs'"],
  [{ tools: { slow: 5 } }, "timeout.tools has 'slow'"],
])('a timeout of %o is refused', (timeout, why) => {
  expect(() => agentWithSlowTool(timeout, true)).toThrow(why);
});

test('the time that people take to answer is in no limit', async () => {
  const pay = tool({ inputSchema: z.object({}), execute: () => 'paid' });
  const calls = [{ id: 'c1', name: 'pay', input: {} }];
  const scripted = scriptedModel([{ calls }, { text: 'Paid.' }]);
  const agent = createAgent({
    model: scripted.model,
    tools: { pay },
    toolApproval: { pay: 'user-approval' },
    timeout: { totalMs: 200, stepMs: 200, toolMs: 200 },
  });
  const thread = await agent.thread('t');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const asked = await agent.run('Pay', thread);
  await vi.advanceTimersByTimeAsync(300);
  const answers = asked.approvalRequests.map((request) => request.approve());
  expect(await agent.run(answers, thread)).toMatchObject({ text: 'Paid.' });
});

test('no timer is left of a run that has ended, though a tool ignores its signal and its limit is far away', async () => {
  const begun = Promise.withResolvers<void>();
  const deaf = tool({
    inputSchema: z.object({}),
    execute: async () => {
      begun.resolve();
      return new Promise(() => {});
    },
  });
  const scripted = scriptedModel([{ calls: [{ id: 'c1', name: 'deaf', input: {} }] }]);
  const agent = createAgent({
    model: scripted.model,
    tools: { deaf },
    timeout: { totalMs: 60_000, stepMs: 60_000, toolMs: 60_000 },
    abortGraceMs: 10,
  });
  const thread = await agent.thread('t');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const controller = new AbortController();
  const running = agent.run('Go', thread, { abortSignal: controller.signal }).catch(String);
  await begun.promise;
  controller.abort('enough');
  await vi.advanceTimersByTimeAsync(10);
  expect(await running).toBe('enough');
  expect(vi.getTimerCount()).toBe(0);
});
