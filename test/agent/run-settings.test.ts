import { tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { type AgentResponse, createAgent } from 'holdpoint';
import { sentMessages } from 'holdpoint/schemas';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { book, look, memoryWorld } from '../support/travel-world.ts';

type Generated = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>;

const usage: Generated['usage'] = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

function mockModel() {
  return new MockLanguageModelV4({
    async doGenerate() {
      const content = [{ type: 'text' as const, text: 'Hi.' }];
      return { content, finishReason: { unified: 'stop', raw: undefined }, usage, warnings: [] };
    },
  });
}

test('settings of a run replace those of the agent, for this run', async () => {
  const model = mockModel();
  const quick = tool({ inputSchema: z.object({}), execute: () => 'quick' });
  const slow = tool({ inputSchema: z.object({}), execute: () => 'slow' });
  const agent = createAgent({ model, temperature: 0.1, topK: 5, tools: { quick, slow } });
  const thread = await agent.thread('t');
  const settings = { temperature: 0.9, seed: 7, headers: { 'x-tenant': 'a' } };
  await agent.run('Hi', thread, { ...settings, activeTools: ['quick'] });
  await agent.run('Hi', thread);
  const [first, second] = model.doGenerateCalls;
  expect(first).toMatchObject({ ...settings, topK: 5, tools: [{ name: 'quick' }] });
  expect(second).toMatchObject({ temperature: 0.1, topK: 5, tools: [{}, {}] });
  expect(second?.seed).toBeUndefined();
  expect(thread.events.filter(({ type }) => type === 'step-finished')).toMatchObject([
    { prepared: { activeTools: ['quick'] } },
    {},
  ]);
  expect(sentMessages(thread, 1)).toHaveLength(3);
});

test('a run can have a prepareStep and a time limit of its own', async () => {
  const world = memoryWorld([{ text: 'Hi.' }, { text: 'Again.' }]);
  const agent = world.agent({ prepareStep: () => ({ instructions: 'agent' }) });
  const thread = await agent.thread('t');
  await agent.run('a', thread, { prepareStep: () => ({ instructions: 'run' }) });
  await agent.run('b', thread);
  const [first, second] = world.played.prompts.map((prompt) => JSON.stringify(prompt));
  expect(first).toContain('"run"');
  expect(second).toContain('"agent"');
  await expect(agent.run('c', thread, { timeout: { total: 5 } as object })).rejects.toThrow(
    "did you mean 'totalMs'?",
  );
  await expect(agent.run('c', thread, { timeout: -1 })).rejects.toThrow('timeout must be');
});

test('onStepEnd gets each complete step once, onEnd each response, onError each failure', async () => {
  const world = memoryWorld([
    { calls: [look('c1', 'Rome'), book('c2', 'Rome')] },
    { text: 'Booked.' },
    { fail: 'overloaded' },
  ]);
  const seen: unknown[] = [];
  const agent = world.agent({
    onStepEnd: ({ threadId, stepNumber, text, toolResults }) => {
      seen.push(['step', threadId, stepNumber, text, toolResults.length]);
      throw new Error('ignored');
    },
    onEnd: async ({ status }: AgentResponse) => {
      seen.push(['end', status]);
      throw new Error('ignored');
    },
    onError: ({ error, threadId }) => seen.push(['error', threadId, String(error)]),
  });
  const thread = await agent.thread('t');
  const { approvalRequests } = await agent.run('Book', thread);
  expect(seen).toEqual([['end', 'waiting']]);
  await agent.run(
    approvalRequests.map((request) => request.approve()),
    thread,
  );
  expect(seen.slice(1)).toEqual([
    ['step', 't', 0, '', 2],
    ['step', 't', 1, 'Booked.', 0],
    ['end', 'completed'],
  ]);
  await expect(agent.run('More', thread)).rejects.toThrow('overloaded');
  await expect(agent.run('More', thread, { messageId: '' })).rejects.toThrow('messageId');
  const reason = new Error('gone');
  const abortSignal = AbortSignal.abort(reason);
  await expect(agent.run([], thread, { abortSignal })).rejects.toBe(reason);
  expect(seen.slice(4)).toMatchObject([
    ['error', 't', 'Error: overloaded'],
    ['error', 't', expect.stringContaining('messageId')],
  ]);
});

test('onStepEnd of a run is called for its steps only, in a stream too', async () => {
  const world = memoryWorld([{ text: 'One.' }, { text: 'Two.' }]);
  const agent = world.agent();
  const thread = await agent.thread('t');
  const steps: string[] = [];
  await agent.stream('a', thread, { onStepEnd: ({ text }) => steps.push(text) }).response;
  await agent.run('b', thread);
  expect(steps).toEqual(['One.']);
});

test('createAgent refuses a toolCallConcurrency that is not a whole number of 1 or more', () => {
  for (const toolCallConcurrency of [0, -1, 1.5, Number.NaN]) {
    expect(() => createAgent({ model: 'none', toolCallConcurrency })).toThrow(
      `toolCallConcurrency must be a whole number of 1 or more; got ${toolCallConcurrency}.`,
    );
  }
});
