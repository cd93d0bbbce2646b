import { APICallError, type LanguageModelMiddleware, tool, wrapLanguageModel } from 'ai';
import { createAgent, memoryStore } from 'holdpoint';
import { scriptedModel } from 'holdpoint/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  askingProvider,
  asks,
  modes,
  opens,
  providerCall,
  requestAbout,
  type Said,
  saying,
} from '../support/asking-provider.ts';
import { chained, threadJsonOf } from '../support/chained.ts';
import { errorCode } from '../support/error-code.ts';
import { book } from '../support/travel-world.ts';
import { pickCases } from '../support/sampling.ts';

const done = { text: 'Done.' };

describe('a cut-off step of a provider that asks', () => {
  test.each(['length', 'content-filter'] as const)(
    '%s: nothing is asked, and the provider is told no, and why (S3-29)',
    async (finish) => {
      const cut = { calls: [opens('p1', 'Bug'), book('c1', 'Paris')], finish };
      const { agent, thread, prompts, ran } = await askingProvider([cut, done]);
      expect(await agent.run('Open', thread)).toMatchObject({ status: 'completed', ...done });
      expect(thread.calls).toMatchObject([{ status: 'failed' }, { status: 'failed' }]);
      const reason = expect.stringContaining(`cut off (${finish})`);
      expect(prompts[1]?.at(-1)?.content).toMatchObject([
        { type: 'tool-approval-response', approvalId: 'ask-p1', approved: false, reason },
        { type: 'tool-result', toolCallId: 'p1', output: { type: 'execution-denied', reason } },
        { type: 'tool-result', toolCallId: 'c1' },
      ]);
      expect(ran).toEqual([]);
    },
  );
});

const open = tool({ inputSchema: z.object({}), execute: async () => 'opened' });

describe('a request of the provider that can’t be answered for sure is refused, and nothing of the step is recorded', () => {
  const result = {
    type: 'tool-result',
    toolCallId: 'p1',
    toolName: 'mcp.open',
    result: { opened: true },
    dynamic: true,
  } as const;
  const ours = {
    type: 'tool-call',
    toolCallId: 'c1',
    toolName: 'mcp.open',
    input: '{}',
  } as const;
  const cases: { name: string; content: Said; code?: string }[] = [
    {
      name: 'two about one call',
      content: [providerCall('p1'), asks('p1', 'a1'), asks('p1', 'a2')],
    },
    {
      name: 'one id for two calls',
      content: [providerCall('p1'), asks('p1', 'a1'), providerCall('p2'), asks('p2', 'a1')],
    },
    {
      name: 'two calls of one id',
      content: [providerCall('p1'), asks('p1', 'a1'), providerCall('p1')],
    },
    { name: 'a call that is ours to run', content: [ours, asks('c1', 'a1')] },
    { name: 'a call that it has run', content: [providerCall('p1'), asks('p1', 'a1'), result] },
  ];

  test.each(pickCases(cases, 3))('$name', async ({ content }) => {
    const agent = createAgent({ model: saying(content), tools: { 'mcp.open': open } });
    const thread = await agent.thread('t');
    expect(await errorCode(agent.run('Open', thread))).toBe('not-allowed');
    expect(thread).toMatchObject({ status: 'due', calls: [] });
    expect(thread.messages).toHaveLength(1);
    expect(await agent.run([], thread)).toMatchObject({ status: 'completed', ...done });
  });

  test('a call that is not there', async () => {
    const agent = createAgent({ model: saying([asks('p9', 'a1')]) });
    const thread = await agent.thread('t');
    await expect(agent.run('Open', thread)).rejects.toThrow('p9');
    expect(thread.messages).toHaveLength(1);
    expect(await agent.run([], thread)).toMatchObject({ status: 'completed', ...done });
  });

  test.each([true, false])('an id that was used before, and answered %s', async (approved) => {
    const content: Said = [providerCall('p2'), asks('p2', 'a1')];
    const agent = createAgent({ model: saying([providerCall('p1'), asks('p1', 'a1')], content) });
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Open', thread);
    const answers = approvalRequests.map((request) =>
      approved ? request.approve() : request.reject(),
    );
    expect(await errorCode(agent.run(answers, thread))).toBe('not-allowed');
    expect(thread.calls).toHaveLength(1);
    expect(thread.activeRequests).toEqual([]);
    expect(await agent.run([], thread)).toMatchObject({ status: 'completed', ...done });
  });
});

/** A model that asks, is overloaded twice, and is done; how often it was reached. */
function overloaded() {
  const { model } = scriptedModel([{ calls: [opens('p1', 'Bug')] }, done]);
  const reached: string[] = [];
  const reach = (how: string): void => {
    reached.push(how);
    if (reached.length === 1 || reached.length > 3) return;
    throw new APICallError({
      message: 'Overloaded.',
      url: 'http://provider',
      requestBodyValues: {},
      statusCode: 529,
      isRetryable: true,
      responseHeaders: { 'retry-after-ms': '0' },
    });
  };
  const middleware: LanguageModelMiddleware = {
    specificationVersion: 'v4',
    async wrapGenerate({ doGenerate }) {
      reach('generate');
      return doGenerate();
    },
    async wrapStream({ doStream }) {
      reach('stream');
      return doStream();
    },
  };
  if (typeof model === 'string') throw new TypeError('A scripted model is no id.');
  return { model: wrapLanguageModel({ model, middleware }), reached };
}

describe.each(pickCases(modes))(
  '$mode, the request that lets the provider run a call',
  ({ speak }) => {
    test('is not tried again by itself: its reply may be lost after the call has run', async () => {
      const { model, reached } = overloaded();
      const agent = speak(createAgent({ model, maxRetries: 5 }));
      const thread = await agent.thread('t');
      const { approvalRequests } = await agent.run('Open', thread);
      const answers = approvalRequests.map((request) => request.approve());
      await expect(agent.run(answers, thread)).rejects.toThrow('Overloaded.');
      expect(reached).toHaveLength(2);
      expect(thread.calls).toMatchObject([{ status: 'forwarded' }]);
      await expect(agent.run([], thread)).rejects.toThrow('Overloaded.');
      expect(reached).toHaveLength(3);
      expect(await agent.run([], thread)).toMatchObject({ status: 'completed', ...done });
      expect(reached).toHaveLength(4);
    });

    test('is tried again where it says no alone', async () => {
      const { model, reached } = overloaded();
      const agent = speak(createAgent({ model, maxRetries: 5 }));
      const thread = await agent.thread('t');
      const { approvalRequests } = await agent.run('Open', thread);
      const answers = approvalRequests.map((request) => request.reject());
      expect(await agent.run(answers, thread)).toMatchObject({ status: 'completed', ...done });
      expect(reached).toHaveLength(4);
    });
  },
);

test('a request of the provider that expired unanswered is answered with no', async () => {
  const reason = 'The request for approval expired unanswered.';
  const { agent, agentWith, thread, prompts } = await askingProvider([
    { calls: [opens('p1', 'Bug')] },
    done,
  ]);
  await agent.run('Open an issue', thread);
  /* Nothing gives these requests an end by itself; a log may. */
  const expiring = thread.events.map((event) =>
    event.type === 'request-opened'
      ? { ...event, request: { ...event.request, expiresAt: 5 } }
      : event,
  );
  const after = agentWith({ store: memoryStore() });
  const restored = await after.restore(threadJsonOf([chained(expiring)]));
  expect(await after.run([], restored)).toMatchObject({ status: 'completed', ...done });
  expect(restored.calls).toMatchObject([{ status: 'denied' }]);
  expect(prompts[1]?.at(-1)?.content).toMatchObject([
    { approved: false, reason },
    { output: { type: 'execution-denied', reason } },
  ]);
});

test('the provider may run a call for a day after it was approved; later, people are asked again', async () => {
  const { agentWith, prompts } = await askingProvider([{ calls: [opens('p1', 'Bug')] }, done]);
  let now = 1_000;
  const agent = agentWith({ now: () => now });
  const thread = await agent.thread('t');
  const waiting = await agent.run('Open an issue', thread);
  await agent.respond(requestAbout(waiting, 'Bug').approve(), thread);
  now += 24 * 60 * 60 * 1000;
  const again = await agent.run([], thread);
  expect(again).toMatchObject({ status: 'waiting' });
  expect(prompts).toHaveLength(1);
  await agent.respond(requestAbout(again, 'Bug').approve(), thread);
  now += 24 * 60 * 60 * 1000 - 1;
  expect(await agent.run([], thread)).toMatchObject({ status: 'completed', ...done });
});
