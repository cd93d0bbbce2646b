import { generateText, tool, type ToolSet, wrapLanguageModel } from 'ai';
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';
import { createAgent, memoryStore } from 'holdpoint';
import { holdPoint } from 'holdpoint/middleware';
import { scriptedModel } from 'holdpoint/testing';
import { agentTool } from 'holdpoint/tools';
import { createUiHandler } from 'holdpoint/ui';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { chatPage } from '../ui/chat-page.ts';
import { pickCases } from '../support/sampling.ts';

type Model = MockLanguageModelV4;
type Options = Parameters<Model['doGenerate']>[0];
type Content = Awaited<ReturnType<Model['doGenerate']>>['content'];
type Streamed = Awaited<ReturnType<Model['doStream']>>['stream'];
type StreamPart = Streamed extends ReadableStream<infer PART> ? PART : never;

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

/** A model that responds with these contents, one per request, and what it was asked. */
function playContents(...contents: Content[]) {
  const asked: Options[] = [];
  const next = (options: Options) => {
    const content = contents[asked.push(options) - 1];
    if (content === undefined) throw new Error('The model was asked once too often.');
    const isCall = content.some(({ type }) => type === 'tool-call');
    const unified = isCall ? ('tool-calls' as const) : ('stop' as const);
    return { content, finishReason: { unified, raw: unified } };
  };
  const model = new MockLanguageModelV4({
    doGenerate: async (options) => ({ ...next(options), usage, warnings: [] }),
    doStream: async (options) => {
      const { content, finishReason } = next(options);
      const parts = content.flatMap((part): StreamPart[] => {
        if (part.type === 'tool-call') return [part];
        if (part.type !== 'text') throw new Error('Only texts and calls are played.');
        return [
          { type: 'text-start', id: '1' },
          { type: 'text-delta', id: '1', delta: part.text },
          { type: 'text-end', id: '1' },
        ];
      });
      const chunks: StreamPart[] = [
        { type: 'stream-start', warnings: [] },
        ...parts,
        { type: 'finish', finishReason, usage },
      ];
      return { stream: simulateReadableStream({ chunks }) };
    },
  });
  return { model, asked };
}

interface App {
  model: Model;
  tools: ToolSet;
}

/** Has a model work on a text to the end. */
type Work = (app: App, text: string) => Promise<unknown>;

const ways: [way: string, work: Work][] = [
  [
    'an agent',
    async (app, text) => {
      const agent = createAgent(app);
      await agent.run(text, await agent.thread('t'));
    },
  ],
  [
    'a model behind holdPoint',
    async ({ model, tools }, text) => {
      const middleware = holdPoint({ tools, toolApproval: () => 'approved', store: memoryStore() });
      await generateText({
        model: wrapLanguageModel({ model, middleware }),
        prompt: text,
        providerOptions: { holdpoint: { threadId: 't' } },
      });
    },
  ],
  [
    'a page',
    async (app, text) => {
      const agent = createAgent(app);
      const page = chatPage(createUiHandler({ agent, authorize: () => ({ principal: 'ann' }) }));
      await page.chat.sendMessage({ text });
    },
  ],
  [
    'a sub-agent',
    async (app, text) => {
      const store = memoryStore();
      const sub = createAgent({ ...app, name: 'sub', store });
      const ask = agentTool(sub, { description: 'Works.' });
      const call = { id: 's1', name: 'ask', input: { prompt: text } };
      const script = [{ calls: [call] }, { text: 'Done.' }];
      const agent = createAgent({ model: scriptedModel(script).model, tools: { ask }, store });
      await agent.run('Ask.', await agent.thread('t'));
    },
  ],
];

const half = 'a fox 🦊'.slice(0, 7);
const done: Content = [{ type: 'text', text: 'Done.' }];
const inputSchema = z.object({ page: z.string() });

function readCall(toolCallId: string, input: string, signature?: string): Content[number] {
  const google = signature === undefined ? undefined : { thoughtSignature: signature };
  const providerMetadata = google && { google };
  const called = { type: 'tool-call' as const, toolCallId, toolName: 'read', input };
  return providerMetadata === undefined ? called : { ...called, providerMetadata };
}

function callsIn({ prompt }: Pick<Options, 'prompt'>) {
  return prompt.flatMap((message) =>
    message.role === 'assistant' ? message.content.filter(({ type }) => type === 'tool-call') : [],
  );
}

describe.each(pickCases(ways))('the model of %s gets', (way, work) => {
  test('well-formed text only', async () => {
    const { model, asked } = playContents([readCall('c1', '{"page":"x"}')], done);
    const tools = { read: tool({ inputSchema, execute: async () => ({ [half]: [half] }) }) };
    /* A sub-agent's prompt is the input of a call, which is refused. */
    await work({ model, tools }, way === 'a sub-agent' ? 'Read.' : half);
    expect(asked).toHaveLength(2);
    expect(JSON.stringify(asked.map(({ prompt }) => prompt))).not.toMatch(/\\ud[89a-f]/i);
  });

  test('{} for arguments that were no JSON', async () => {
    const { model, asked } = playContents([readCall('c1', '{"page":')], done);
    const ran: unknown[] = [];
    const tools = { read: tool({ inputSchema, execute: async (input) => ran.push(input) }) };
    await work({ model, tools }, 'Read.');
    expect(callsIn(asked[1] ?? { prompt: [] })).toMatchObject([{ toolName: 'read', input: {} }]);
    expect(ran).toEqual([]);
  });

  test('a description that is made for each request', async () => {
    const { model, asked } = playContents([readCall('c1', '{"page":"x"}')], done);
    let count = 0;
    const description = (): string => `Reads. ${(count += 1)}`;
    const tools = { read: tool({ description, inputSchema, execute: async () => 'ok' }) };
    await work({ model, tools }, 'Read.');
    const described = asked.map(({ tools: given = [] }) =>
      given.map((each) => (each.type === 'function' ? each.description : undefined)),
    );
    expect(described).toEqual([['Reads. 1'], ['Reads. 2']]);
  });

  test('the signatures of calls whose ids it repeats', async () => {
    const [one, two] = ['one', 'two'].map((each) => [readCall('call_0', '{"page":"x"}', each)]);
    const { model, asked } = playContents(one ?? [], two ?? [], done);
    const tools = { read: tool({ inputSchema, execute: async () => 'ok' }) };
    await work({ model, tools }, 'Read twice.');
    const calls = callsIn(asked[2] ?? { prompt: [] });
    expect(calls.map(({ providerOptions }) => providerOptions)).toEqual([
      { google: { thoughtSignature: 'one' } },
      { google: { thoughtSignature: 'two' } },
    ]);
    expect(new Set(calls.map((each) => 'toolCallId' in each && each.toolCallId)).size).toBe(2);
  });
});
