import { tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { createAgent } from 'holdpoint';
import { expect, test } from 'vitest';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, cityInput, look, memoryWorld, travelTools } from '../support/travel-world.ts';

type Generated = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>;

const usage = {
  inputTokens: { total: 3, noCache: 2, cacheRead: 1, cacheWrite: undefined },
  outputTokens: { total: 10, text: 7, reasoning: 3 },
};

function answering(...contents: Generated['content'][]): MockLanguageModelV4 {
  let step = 0;
  return new MockLanguageModelV4({
    async doGenerate() {
      const content = contents[step] ?? [];
      step += 1;
      const unified = content.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'stop';
      return { content, finishReason: { unified, raw: undefined }, usage, warnings: [] };
    },
  });
}

test("no hook and no execute of a tool is called before a person approved, and the AI SDK's own approval never sees it", async () => {
  const called: string[] = [];
  const hooked = tool({
    description: 'book',
    inputSchema: cityInput,
    needsApproval: true,
    onInputStart: () => void called.push('onInputStart'),
    onInputDelta: () => void called.push('onInputDelta'),
    onInputAvailable: () => void called.push('onInputAvailable'),
    toModelOutput: () => {
      called.push('toModelOutput');
      return { type: 'text', value: 'booked' };
    },
    execute: async () => {
      called.push('execute');
      return 'booked';
    },
  });
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const agent = world.agent({ tools: { book: hooked }, toolApproval: {} });
  const waiting = await agent.run('Book', await agent.thread('t'));
  expect(called).toEqual([]);
  expect(JSON.stringify(waiting.thread.messages)).not.toContain('approval');
  await agent.run(
    waiting.approvalRequests.map((request) => request.approve()),
    waiting.thread,
  );
  expect(called).toEqual(['execute', 'toModelOutput']);
});

test('settings reach the model as they were given, and what decides does not', async () => {
  const model = answering([{ type: 'text', text: 'Hi.' }]);
  const agent = createAgent({
    model,
    instructions: 'Be brief.',
    tools: { look: travelTools([]).look },
    toolApproval: { look: 'denied' },
    temperature: 0.5,
    maxOutputTokens: 99,
    stopSequences: ['END'],
    seed: 7,
    toolChoice: 'auto',
    headers: { 'x-tenant': 'acme' },
    providerOptions: { acme: { mode: 'fast' } },
  });
  await agent.run('Hi', await agent.thread('t'));
  expect(model.doGenerateCalls[0]).toMatchObject({
    temperature: 0.5,
    maxOutputTokens: 99,
    stopSequences: ['END'],
    seed: 7,
    toolChoice: { type: 'auto' },
    headers: { 'x-tenant': 'acme' },
    providerOptions: { acme: { mode: 'fast' } },
    prompt: [{ role: 'system', content: 'Be brief.' }, { role: 'user' }],
    tools: [{ name: 'look', description: 'look a flight', inputSchema: { required: ['city'] } }],
  });
});

test('what a provider noted on its parts is on the messages, through JSON, at the next step', async () => {
  const signed = { acme: { signature: 'sig', nested: { url: ['x'] } } };
  const model = answering(
    [
      { type: 'reasoning', text: 'Hm.', providerMetadata: signed },
      { type: 'text', text: 'One moment.', providerMetadata: signed },
      {
        type: 'tool-call',
        toolCallId: 'c1',
        toolName: 'book',
        input: '{"city":"Paris"}',
        providerMetadata: signed,
      },
    ],
    [{ type: 'text', text: 'Done.' }],
  );
  const options = {
    model,
    tools: travelTools([]),
    toolApproval: { book: 'user-approval' as const },
  };
  const first = createAgent(options);
  const { thread } = await first.run('Book', await first.thread('t'));
  const next = createAgent(options);
  const restored = await next.restore(JSON.stringify(thread));
  await next.run(
    restored.activeApprovalRequests.map((request) => request.approve()),
    restored,
  );
  expect(model.doGenerateCalls[1]?.prompt[1]).toMatchObject({
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'Hm.', providerOptions: signed },
      { type: 'text', providerOptions: signed },
      { type: 'tool-call', toolCallId: 'c1', providerOptions: signed },
    ],
  });
});

test('usage is the sum over the steps of the run; finishReason is of its last', async () => {
  const model = answering(
    [{ type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: '{"city":"Paris"}' }],
    [{ type: 'text', text: 'Done.' }],
  );
  const agent = createAgent({ model, tools: travelTools([]) });
  const response = await agent.run('Look', await agent.thread('t'));
  expect(response.finishReason).toBe('stop');
  expect(response.usage).toEqual({
    inputTokens: 6,
    inputTokenDetails: { noCacheTokens: 4, cacheReadTokens: 2, cacheWriteTokens: undefined },
    outputTokens: 20,
    outputTokenDetails: { textTokens: 14, reasoningTokens: 6 },
    totalTokens: 26,
  });
  expect(response.messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
  ]);
});

test('repairToolCall is asked, and what it repaired is what is shown', async () => {
  const world = memoryWorld([{ calls: [{ id: 'c1', name: 'book', input: '{"town":"Paris"}' }] }]);
  const agent = world.agent({
    repairToolCall: async ({ toolCall }) => ({ ...toolCall, input: '{"city":"Paris"}' }),
  });
  const { approvalRequests } = await agent.run('Book', await agent.thread('t'));
  expect(approvalRequests).toMatchObject([{ toolCall: { input: { city: 'Paris' } } }]);
});

test('what repairToolCall does to the tools that it gets does not reach the next step', async () => {
  const input = '{"town":"Paris"}';
  const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'look', input } as const;
  const model = answering([call], [{ type: 'text', text: 'Done.' }]);
  const agent = memoryWorld([]).agent({
    model,
    repairToolCall: async ({ toolCall, tools }) => {
      for (const name of Object.keys(tools)) Reflect.deleteProperty(tools, name);
      return { ...toolCall, input: '{"city":"Paris"}' };
    },
  });
  await agent.run('Look', await agent.thread('t'));
  const offered = model.doGenerateCalls.map(({ tools = [] }) => tools.map(({ name }) => name));
  expect(offered).toEqual([Object.keys(travelTools([])), Object.keys(travelTools([]))]);
});

test('calls that the provider ran itself are left to it, results and all', async () => {
  const model = answering([
    {
      type: 'tool-call',
      toolCallId: 'p1',
      toolName: 'web',
      input: '{}',
      providerExecuted: true,
      dynamic: true,
    },
    { type: 'tool-result', toolCallId: 'p1', toolName: 'web', result: { found: 1 }, dynamic: true },
    { type: 'text', text: 'Found.' },
  ]);
  const agent = createAgent({ model });
  const response = await agent.run('Search', await agent.thread('t'));
  expect(response).toMatchObject({ status: 'completed', text: 'Found.' });
  expect(response.thread.calls).toEqual([]);
  expect(response.thread.messages.at(-1)).toMatchObject({
    content: [{ type: 'tool-call' }, { type: 'tool-result' }, { type: 'text' }],
  });
});

test('a call of a local tool does not run because the model says the provider ran it', async () => {
  const ran: Parameters<typeof travelTools>[0] = [];
  const model = answering([
    {
      type: 'tool-call',
      toolCallId: 'c1',
      toolName: 'book',
      input: '{"city":"Paris"}',
      providerExecuted: true,
    },
    { type: 'text', text: 'Booked.' },
  ]);
  const agent = createAgent({
    model,
    tools: travelTools(ran),
    toolApproval: { book: 'user-approval' },
  });
  expect(await agent.run('Book', await agent.thread('t'))).toMatchObject({ status: 'completed' });
  expect(ran).toEqual([]);
});

test('a model that proposes nothing but refused calls stops at maxSteps', async () => {
  const { model } = scriptedModel([{ calls: [look('c1', 'Rome'), look('c1', 'Rome')] }], {
    repeat: true,
  });
  const agent = createAgent({ model, tools: travelTools([]), maxSteps: 4 });
  expect(await agent.run('Look', await agent.thread('t'))).toMatchObject({ status: 'max-steps' });
});

test('a run takes 20 steps, unless the app says otherwise', async () => {
  const played = scriptedModel([{ calls: [look('c1', 'Rome')] }], { repeat: true });
  const agent = createAgent({ model: played.model, tools: travelTools([]) });
  expect(await agent.run('Look', await agent.thread('t'))).toMatchObject({ status: 'max-steps' });
  expect(played.requests).toBe(20);
});

test('a provider that fails with nothing to say fails the run', async () => {
  const model = new MockLanguageModelV4({ doGenerate: async () => Promise.reject(undefined) });
  const agent = createAgent({ model, maxRetries: 0 });
  const thread = await agent.thread('t');
  const failed = agent.run('Hi', thread).then(
    () => 'no',
    () => 'yes',
  );
  expect(await failed).toBe('yes');
  expect(thread.status).toBe('due');
});
