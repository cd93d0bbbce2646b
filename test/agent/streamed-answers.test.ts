import { tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { type AgentOptions, createAgent } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { errorCode } from '../support/error-code.ts';
import {
  finishPart,
  streamedModel,
  type StreamPart,
  textParts,
} from '../support/streamed-model.ts';
import { travelTools } from '../support/travel-world.ts';
import { pickCases } from '../support/sampling.ts';

type Generated = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>;
type Finish = 'stop' | 'tool-calls' | 'length';

/** One answer of a model: as a provider gives it whole, and as it streams it. */
interface Answer {
  name: string;
  whole: Generated['content'];
  streamed: StreamPart[];
  finish?: Finish;
}

const signed = { acme: { signature: 'sig' } };
const item = { acme: { itemId: 'item-1' } };
const call = (id: string, input: string, toolName = 'look') => ({
  type: 'tool-call' as const,
  toolCallId: id,
  toolName,
  input,
});
const search = [
  { ...call('p1', '{"q":"x"}', 'web'), providerExecuted: true, dynamic: true },
  {
    type: 'tool-result' as const,
    toolCallId: 'p1',
    toolName: 'web',
    result: { found: 1 },
    dynamic: true,
    providerMetadata: item,
  },
];
const file = {
  type: 'file' as const,
  mediaType: 'image/png',
  data: { type: 'data' as const, data: 'iVBORw0KGgo=' },
  providerMetadata: item,
};

const answers: Answer[] = [
  {
    name: 'text',
    whole: [{ type: 'text', text: 'Hello.' }],
    streamed: textParts('0', 'Hel', 'lo.'),
  },
  {
    name: 'text, after what only says that a stream begins',
    whole: [{ type: 'text', text: 'Hello.' }],
    streamed: [
      { type: 'custom', kind: 'anthropic.message_start', providerMetadata: item },
      ...textParts('0', 'Hello.'),
    ],
  },
  {
    name: 'text whose notes come first, and text whose notes come last',
    whole: [
      { type: 'text', text: 'One.', providerMetadata: item },
      { type: 'text', text: 'Two.', providerMetadata: signed },
    ],
    streamed: [
      { type: 'text-start', id: '0', providerMetadata: item },
      { type: 'text-delta', id: '0', delta: 'One.' },
      { type: 'text-end', id: '0' },
      { type: 'text-start', id: '1', providerMetadata: item },
      { type: 'text-delta', id: '1', delta: 'Two.' },
      { type: 'text-end', id: '1', providerMetadata: signed },
    ],
  },
  {
    name: 'reasoning with a signature that comes in a delta of its own, and text',
    whole: [
      { type: 'reasoning', text: 'Let me think.', providerMetadata: signed },
      { type: 'text', text: 'Hello.' },
    ],
    streamed: [
      { type: 'reasoning-start', id: '0' },
      { type: 'reasoning-delta', id: '0', delta: 'Let me ' },
      { type: 'reasoning-delta', id: '0', delta: 'think.' },
      { type: 'reasoning-delta', id: '0', delta: '', providerMetadata: signed },
      { type: 'reasoning-end', id: '0' },
      ...textParts('0', 'Hello.'),
    ],
  },
  {
    name: 'sealed reasoning, and a block id that is used twice',
    whole: [
      { type: 'reasoning', text: '', providerMetadata: signed },
      { type: 'text', text: 'One.' },
      { type: 'text', text: 'Two.' },
    ],
    streamed: [
      { type: 'reasoning-start', id: 'r', providerMetadata: item },
      { type: 'reasoning-end', id: 'r', providerMetadata: signed },
      ...textParts('0', 'One.'),
      ...textParts('0', 'Two.'),
    ],
  },
  {
    name: 'blocks that are streamed at once',
    whole: [
      { type: 'text', text: 'ab' },
      { type: 'text', text: 'xy' },
    ],
    streamed: [
      { type: 'text-start', id: '0' },
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '0', delta: 'a' },
      { type: 'text-delta', id: '1', delta: 'x' },
      { type: 'text-delta', id: '1', delta: 'y' },
      { type: 'text-delta', id: '0', delta: 'b' },
      { type: 'text-end', id: '1' },
      { type: 'text-end', id: '0' },
    ],
  },
  {
    name: 'several calls, with notes, after text',
    whole: [
      { type: 'text', text: 'One moment.' },
      { ...call('c1', '{"city":"Paris"}'), providerMetadata: signed },
      call('c2', '{"city":"Rome"}'),
    ],
    streamed: [
      ...textParts('0', 'One ', 'moment.'),
      { type: 'tool-input-start', id: 'c1', toolName: 'look' },
      { type: 'tool-input-delta', id: 'c1', delta: '{"city":' },
      { type: 'tool-input-delta', id: 'c1', delta: '"Paris"}' },
      { type: 'tool-input-end', id: 'c1' },
      { ...call('c1', '{"city":"Paris"}'), providerMetadata: signed },
      call('c2', '{"city":"Rome"}'),
    ],
    finish: 'tool-calls',
  },
  {
    name: 'calls that are invalid, that are no JSON, and of no tool',
    whole: [
      call('c1', '{"town":"Paris"}'),
      call('c2', '{"city":'),
      call('c3', '{}', 'no_such.tool'),
    ],
    streamed: [
      call('c1', '{"town":"Paris"}'),
      call('c2', '{"city":'),
      call('c3', '{}', 'no_such.tool'),
    ],
    finish: 'tool-calls',
  },
  {
    name: 'a call of an answer that was cut off',
    whole: [{ type: 'text', text: 'One mom' }, call('c1', '{"city":"Paris"}')],
    streamed: [...textParts('0', 'One mom'), call('c1', '{"city":"Paris"}')],
    finish: 'length',
  },
  { name: 'nothing', whole: [], streamed: [] },
  {
    name: 'empty text',
    whole: [{ type: 'text', text: '' }],
    streamed: textParts('0'),
  },
  {
    name: 'a file, a reasoning file, a source and a custom part',
    whole: [
      file,
      { ...file, type: 'reasoning-file' },
      { type: 'source', sourceType: 'url', id: 's1', url: 'http://a.test' },
      { type: 'custom', kind: 'acme.note', providerMetadata: item },
      { type: 'text', text: 'Here.' },
    ],
    streamed: [
      file,
      { ...file, type: 'reasoning-file' },
      { type: 'source', sourceType: 'url', id: 's1', url: 'http://a.test' },
      { type: 'custom', kind: 'acme.note', providerMetadata: item },
      ...textParts('0', 'Here.'),
    ],
  },
  {
    name: 'a call that the provider ran itself, with a preview of its result',
    whole: [...search, { type: 'text', text: 'Found.' }],
    streamed: [
      search[0],
      { ...search[1], result: { found: 0 }, preliminary: true },
      search[1],
      ...textParts('0', 'Found.'),
    ].filter((part): part is StreamPart => part !== undefined),
  },
];

/** The log and the response of one run, of which the model's answer is whole or streamed. */
async function played(answer: Answer, how: 'run' | 'stream', options: Partial<AgentOptions> = {}) {
  const { model } = streamedModel([
    { type: 'response-metadata', id: 'r1', modelId: 'm1' },
    ...answer.streamed,
    finishPart(answer.finish),
  ]);
  const finish = finishPart(answer.finish);
  model.doGenerate = async () => {
    if (finish.type !== 'finish') throw new Error('It is no finish.');
    const response = { id: 'r1', modelId: 'm1' };
    return { content: answer.whole, warnings: [], response, ...finish };
  };
  const tools = travelTools([]);
  let ids = 0;
  const fixed = { maxSteps: 1, now: () => 1_000, generateId: () => `id-${(ids += 1)}` };
  const agent = createAgent({ model, tools, ...fixed, ...options });
  const thread = await agent.thread('t');
  const { status, text, usage, finishReason } = await (how === 'run'
    ? agent.run('Hi', thread)
    : agent.stream('Hi', thread).response);
  const { events, calls } = thread;
  return { events, calls, status, text, usage, finishReason };
}

describe('an answer is recorded the same, streamed or whole', () => {
  test.each(pickCases(answers, 3))('$name', async (answer) => {
    const whole = await played(answer, 'run');
    expect(await played(answer, 'stream')).toEqual(whole);
    expect(whole.events.map(({ type }) => type)).toContain('step-finished');
  });

  test('a call that is repaired', async () => {
    const repaired = call('c1', '{"town":"Paris"}');
    const answer: Answer = {
      name: 'repaired',
      whole: [repaired],
      streamed: [repaired],
      finish: 'tool-calls',
    };
    const options: Partial<AgentOptions> = {
      repairToolCall: async ({ toolCall }) => ({ ...toolCall, input: '{"city":"Paris"}' }),
    };
    const streamed = await played(answer, 'stream', options);
    expect(streamed).toEqual(await played(answer, 'run', options));
    expect(streamed.calls).toMatchObject([{ input: { city: 'Paris' }, status: 'succeeded' }]);
  });
});

const none = (): never => {
  throw new Error('There is none.');
};

describe('settings', () => {
  test('reach a model that streams as they reach one that does not', async () => {
    const { model } = streamedModel([...textParts('0', 'Hi.'), finishPart()]);
    model.doGenerate = async () => {
      throw new Error('Not streamed.');
    };
    const agent = createAgent({
      model,
      instructions: 'Be brief.',
      tools: travelTools([]),
      activeTools: ['look', 'book'],
      toolOrder: ['look', 'book'],
      temperature: 0.5,
      maxOutputTokens: 99,
      seed: 7,
      toolChoice: 'auto',
      headers: { 'x-tenant': 'acme' },
      providerOptions: { acme: { mode: 'fast' } },
    });
    const thread = await agent.thread('t');
    await agent.stream('Hi', thread).response;
    await agent.run('Hi', thread).catch(() => {});
    const [streamed] = model.doStreamCalls;
    expect(streamed).toMatchObject({
      temperature: 0.5,
      maxOutputTokens: 99,
      seed: 7,
      toolChoice: { type: 'auto' },
      headers: { 'x-tenant': 'acme' },
      providerOptions: { acme: { mode: 'fast' } },
      prompt: [{ role: 'system', content: 'Be brief.' }, { role: 'user' }],
      tools: [{ name: 'look' }, { name: 'book' }],
    });
    expect(streamed?.headers?.['user-agent']).toMatch(/^ai\//);
  });

  test("telemetry hears of a streamed step through the AI SDK's own hooks", async () => {
    const heard: string[] = [];
    const { model } = streamedModel([...textParts('0', 'Hi.'), finishPart()]);
    const integration = {
      onLanguageModelCallStart: () => void heard.push('start'),
      onLanguageModelCallEnd: () => void heard.push('end'),
    };
    const agent = createAgent({ model, telemetry: { integrations: [integration] } });
    await agent.stream('Hi', await agent.thread('t')).response;
    expect(heard).toEqual(['start', 'end']);
  });

  test('a tool choice that the model does not keep to is refused', async () => {
    const { model } = streamedModel([...textParts('0', 'Hi.'), finishPart()]);
    const agent = createAgent({ model, tools: travelTools([]), toolChoice: 'required' });
    const thread = await agent.thread('t');
    const error = await errorCode(agent.stream('Hi', thread).response);
    expect(error).toMatchObject({ name: 'AI_ToolChoiceViolationError' });
    expect(thread.messages).toHaveLength(1);
  });

  test('a model id is resolved by the provider of the app', async () => {
    const { model } = streamedModel([...textParts('0', 'Hi.'), finishPart()]);
    const before = globalThis.AI_SDK_DEFAULT_PROVIDER;
    globalThis.AI_SDK_DEFAULT_PROVIDER = {
      specificationVersion: 'v4',
      languageModel: () => model,
      embeddingModel: none,
      imageModel: none,
    };
    try {
      const agent = createAgent({ model: 'acme/any' });
      expect(await agent.stream('Hi', await agent.thread()).response).toMatchObject({
        text: 'Hi.',
      });
    } finally {
      globalThis.AI_SDK_DEFAULT_PROVIDER = before;
    }
  });

  test('no hook and no execute is called before a person approved', async () => {
    const called: string[] = [];
    const { model } = streamedModel([
      { type: 'tool-input-start', id: 'c1', toolName: 'pay' },
      { type: 'tool-input-delta', id: 'c1', delta: '{}' },
      { type: 'tool-input-end', id: 'c1' },
      call('c1', '{}', 'pay'),
      finishPart('tool-calls'),
    ]);
    const pay = tool({
      inputSchema: z.object({}),
      needsApproval: true,
      onInputStart: () => void called.push('onInputStart'),
      onInputDelta: () => void called.push('onInputDelta'),
      onInputAvailable: () => void called.push('onInputAvailable'),
      execute: async () => void called.push('execute'),
    });
    const agent = createAgent({ model, tools: { pay } });
    const response = await agent.stream('Pay', await agent.thread('t')).response;
    expect(response.approvalRequests).toHaveLength(1);
    expect(called).toEqual([]);
  });
});
