import {
  createAgentUIStreamResponse,
  generateText,
  type ModelMessage,
  streamText,
  tool,
  ToolLoopAgent,
  type ToolSet,
} from 'ai';
import { inertTools } from 'holdpoint/middleware';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { errorCode } from '../support/error-code.ts';
import { book, look, travelTools } from '../support/travel-world.ts';
import {
  answering,
  type Asked,
  heldWorld,
  ofThread,
  requestsIn,
  scriptedWorld,
  ways,
} from './held-world.ts';
import { recordedCalls } from './recorded-calls.ts';
import { pickCases } from '../support/sampling.ts';

function pick(tools: ToolSet, name: string): ToolSet {
  return Object.fromEntries(Object.entries(tools).filter(([key]) => key === name));
}

const user = (content: string): ModelMessage => ({ role: 'user', content });

describe.each(pickCases(ways))('with $name', (way) => {
  test('tools that the AI SDK could run are refused by name, at the first call', async () => {
    const { model, ran, played, store } = scriptedWorld([{ text: 'Hello.' }]);
    const call = way.ask({ model, messages: [user('Hi')], tools: travelTools(ran), ...ofThread() });
    await expect(call).rejects.toMatchObject({
      code: 'not-allowed',
      message: expect.stringMatching(/book, look, fail.*inertTools/),
    });
    expect(played.requests).toBe(0);
    expect(await store.read('t')).toEqual([]);
  });

  test('a tool that the AI SDK could run, among inert ones, is named', async () => {
    const { model, tools } = scriptedWorld([{ text: 'Hello.' }]);
    const mixed = { ...inertTools(tools), look: travelTools([]).look };
    await expect(
      way.ask({ model, messages: [user('Hi')], tools: mixed, ...ofThread() }),
    ).rejects.toThrow(/can't use tools look: they are not inert/);
  });

  test('inert tools stay inert when they are copied, renamed in words, or made inert again', async () => {
    const { model, tools } = scriptedWorld([{ text: 'Hello.' }, { text: 'Again.' }]);
    const inert = inertTools(inertTools(tools));
    const copied = Object.fromEntries(
      Object.entries(inert).map(([name, kept]) => [name, { ...kept, title: 'A copy' }]),
    );
    const got = await way.ask({ model, messages: [user('Hi')], tools: copied, ...ofThread() });
    expect(got.text).toBe('Hello.');
  });

  test('the tools of a call are all that the model may use in it', async () => {
    const { inner, heard } = recordedCalls([{ text: 'One.' }, { text: 'Two.' }]);
    const { model, tools } = heldWorld({ model: inner });
    const only = pick(inertTools(tools), 'look');
    await way.ask({ model, messages: [user('Hi')], tools: only, ...ofThread() });
    await way.ask({ model, messages: [user('Hello')], ...ofThread() });
    expect(heard.map((params) => params.tools?.map(({ name }) => name))).toEqual([
      ['look'],
      ['book', 'look', 'fail'],
    ]);
  });

  test('a model’s call of a tool that the call does not allow is refused, and nobody is asked', async () => {
    const { model, tools, ran } = scriptedWorld([
      { calls: [book('c1', 'Paris'), { ...look('c2', 'Nice'), name: 'fail' }] },
      { text: 'Then not.' },
    ]);
    const only = pick(inertTools(tools), 'look');
    const got = await way.ask({
      model,
      messages: [user('Book')],
      tools: only,
      ...ofThread(),
    });
    expect(got.text).toBe('Then not.');
    expect(requestsIn(got.content)).toEqual([]);
    expect(ran).toEqual([]);
  });

  test('what was approved runs, also where the call that brings the answer leaves its tool out', async () => {
    const { model, tools, ran } = scriptedWorld([
      { calls: [book('c1', 'Paris')] },
      { text: 'Booked.' },
    ]);
    const messages = [user('Book')];
    const asked = await way.ask({ model, messages, tools: inertTools(tools), ...ofThread() });
    messages.push(...asked.responseMessages, answering(requestsIn(asked.content)));
    const only = pick(inertTools(tools), 'look');
    const got = await way.ask({ model, messages, tools: only, ...ofThread() });
    expect(got.text).toBe('Booked.');
    expect(ran).toHaveLength(1);
  });

  test('a call can not widen what holdPoint was made with', async () => {
    const { inner, heard } = recordedCalls([{ text: 'One.' }]);
    const { model, tools } = heldWorld({ model: inner }, { activeTools: ['look'] });
    await way.ask({ model, messages: [user('Hi')], tools: inertTools(tools), ...ofThread() });
    expect(heard[0]?.tools?.map(({ name }) => name)).toEqual(['look']);
  });

  test('the mark of inert tools never reaches a provider', async () => {
    const { inner, heard } = recordedCalls([{ text: 'One.' }, { text: 'Two.' }]);
    const { model, tools } = heldWorld({ model: inner });
    const asked: Asked = { model, messages: [user('Hi')], tools: inertTools(tools), ...ofThread() };
    await way.ask(asked);
    /* Given to a model that is not held. */
    await way.ask({ ...asked, model: inner, providerOptions: {} });
    for (const { tools: given = [] } of heard) {
      expect(given).not.toEqual([]);
      for (const described of given) {
        expect(JSON.stringify(described)).not.toContain('holdpoint');
        expect(described).not.toHaveProperty('providerOptions.holdpoint');
      }
    }
  });
});

test('activeTools of a call narrow it, for generateText, streamText and prepareStep', async () => {
  const { inner, heard } = recordedCalls([{ text: '1' }, { text: '2' }, { text: '3' }]);
  const world = heldWorld({ model: inner });
  const tools = inertTools(travelTools([]));
  const call = { model: world.model, tools, prompt: 'Hi', ...ofThread() };
  await generateText({ ...call, activeTools: ['look'] });
  await streamText({ ...call, activeTools: ['fail'] }).consumeStream();
  await generateText({ ...call, prepareStep: () => ({ activeTools: ['book'] }) });
  expect(heard.map((params) => params.tools?.map(({ name }) => name))).toEqual([
    ['look'],
    ['fail'],
    ['book'],
  ]);
});

test('createAgentUIStreamResponse accepts inert tools, and rejects others with a reason', async () => {
  /* Where a test wants an error, the AI SDK would print it. */
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const { model, tools, ran } = scriptedWorld([{ text: 'Hello.' }]);
  const uiMessages = [
    { id: 'm1', role: 'user' as const, parts: [{ type: 'text' as const, text: 'Hi' }] },
  ];
  const respond = async (given: typeof tools): Promise<string> => {
    const agent = new ToolLoopAgent({ model, tools: given, ...ofThread() });
    const response = await createAgentUIStreamResponse({
      agent,
      uiMessages,
      onError: (error) => (error instanceof Error ? error.message : ''),
    });
    return response.text();
  };
  expect(await respond(tools)).toContain('inertTools(tools)');
  expect(await respond(inertTools(tools))).toContain('Hello.');
  expect(ran).toEqual([]);
});

test("a provider's own tool is refused unless it is inert", async () => {
  const search = tool({
    type: 'provider',
    isProviderExecuted: true,
    id: 'acme.search',
    args: {},
    inputSchema: z.object({}),
  });
  const { model } = scriptedWorld([{ text: 'Hello.' }], {
    tools: { search, shell: tool({ inputSchema: z.object({}) }) },
    toolApproval: {},
  });
  const ask = { model, prompt: 'Hi', ...ofThread() };
  expect(await errorCode(generateText({ ...ask, tools: { search } }))).toBe('not-allowed');
  expect((await generateText({ ...ask, tools: inertTools({ search }) })).text).toBe('Hello.');
});
