import {
  generateText,
  hasToolCall,
  isStepCount,
  type ModelMessage,
  Output,
  tool,
  ToolLoopAgent,
  wrapLanguageModel,
} from 'ai';
import { memoryStore } from 'holdpoint';
import { heldCall, holdPoint, inertTools } from 'holdpoint/middleware';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { look } from '../support/travel-world.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { heldWorld, modelOf, ofThread, scriptedWorld, ways } from './held-world.ts';
import { recordedCalls } from './recorded-calls.ts';
import { pickCases } from '../support/sampling.ts';

const user = (content: string): ModelMessage => ({ role: 'user', content });
const twice = [{ calls: [look('c1', 'Rome')] }, { calls: [look('c2', 'Oslo')] }, { text: 'Seen.' }];

describe.each(pickCases(ways))('with $name', (way) => {
  test('what a call says about the model holds in every step', async () => {
    const { inner, heard } = recordedCalls(twice);
    const { model, tools } = heldWorld({ model: inner });
    const { look: seen, fail } = inertTools(tools);
    if (seen === undefined || fail === undefined) throw new Error('Two tools were expected.');
    await way.ask({
      model,
      messages: [user('Look')],
      /* In an order of its own. */
      tools: { fail, look: seen },
      temperature: 0.5,
      headers: { 'x-trace': '1' },
      providerOptions: { holdpoint: { threadId: 't' }, other: { mode: 'fast' } },
    });
    expect(heard).toHaveLength(3);
    for (const params of heard) {
      expect(params).toMatchObject({
        temperature: 0.5,
        headers: { 'x-trace': '1' },
        providerOptions: { other: { mode: 'fast' } },
        toolChoice: { type: 'auto' },
      });
      expect(params.tools?.map(({ name }) => name)).toEqual(['fail', 'look']);
    }
  });

  test('stopWhen, prepareStep and onStepEnd of holdPoint act on the steps behind the model', async () => {
    const heard: unknown[] = [];
    const { model, ran, played } = scriptedWorld(twice, {
      stopWhen: [isStepCount(5), hasToolCall('look')],
      prepareStep: ({ stepNumber }) => {
        heard.push(`prepare ${stepNumber}`);
        return { instructions: 'Be brief.' };
      },
      onStepEnd: ({ toolCalls }) => heard.push(toolCalls.map(({ toolName }) => toolName)),
    });
    const got = await way.ask({ model, messages: [user('Look')], ...ofThread() });
    expect(got.providerMetadata).toMatchObject({ holdpoint: { status: 'max-steps' } });
    expect(got.finishReason).toBe('tool-calls');
    expect(heard).toEqual(['prepare 0', ['look']]);
    expect(ran).toHaveLength(1);
    expect(played.prompts[0]?.[0]).toMatchObject({ role: 'system', content: 'Be brief.' });
  });
});

test('holdPoint’s own order of the tools stays', async () => {
  const { inner, heard } = recordedCalls([{ text: 'Hi.' }]);
  const { model, tools } = heldWorld({ model: inner }, { toolOrder: ['look', 'book'] });
  await generateText({ model, prompt: 'Hi', tools: inertTools(tools), ...ofThread() });
  expect(heard[0]?.tools?.map(({ name }) => name)).toEqual(['look', 'book', 'fail']);
});

test('what acts on steps and tools has no effect in the call', async () => {
  const { model, tools, ran } = scriptedWorld(twice);
  const heard: string[] = [];
  const { steps } = await generateText({
    model,
    tools: inertTools(tools),
    prompt: 'Look',
    stopWhen: hasToolCall('look'),
    prepareStep: () => void heard.push('prepareStep'),
    onStepEnd: () => void heard.push('onStepEnd'),
    onToolExecutionStart: () => void heard.push('onToolExecutionStart'),
    onToolExecutionEnd: () => void heard.push('onToolExecutionEnd'),
    ...ofThread(),
  });
  expect([ran.length, steps.length]).toEqual([2, 1]);
  expect(heard).toEqual(['prepareStep', 'onStepEnd']);
});

test('a call is repaired by holdPoint, and not by the call', async () => {
  const wrong = { id: 'c1', name: 'look', input: { town: 'Rome' } };
  const repaired: string[] = [];
  const repairBy =
    (who: string) =>
    async (options: { toolCall: { input: string; toolCallId: string; toolName: string } }) => {
      repaired.push(who);
      return { type: 'tool-call' as const, ...options.toolCall, input: '{"city":"Rome"}' };
    };
  const { model, tools, ran } = scriptedWorld([{ calls: [wrong] }, { text: 'Seen.' }], {
    repairToolCall: repairBy('holdPoint'),
  });
  await generateText({
    model,
    tools: inertTools(tools),
    prompt: 'Look',
    repairToolCall: repairBy('the call'),
    ...ofThread(),
  });
  expect(repaired).toEqual(['holdPoint']);
  expect(ran).toMatchObject([{ input: { city: 'Rome' } }]);
});

test('what a call refines is shown, and what runs is what the model said', async () => {
  const { model, tools, ran } = scriptedWorld([{ calls: [look('c1', 'Rome')] }, { text: 'Seen.' }]);
  const refined = await generateText({
    model,
    tools: inertTools(tools),
    prompt: 'Look',
    experimental_refineToolInput: { look: () => ({ city: 'Nice' }) },
    ...ofThread(),
  });
  expect(refined.toolCalls).toMatchObject([{ input: { city: 'Nice' } }]);
  expect(ran).toMatchObject([{ input: { city: 'Rome' } }]);
});

test('a limit of time for a step ends a call that takes longer with all of its steps', async () => {
  const wait = tool({
    inputSchema: z.object({}),
    execute: async (_, { abortSignal }) =>
      new Promise((_resolve, reject) => {
        abortSignal?.addEventListener('abort', () => reject(new Error('Aborted.')));
      }),
  });
  const calls = [{ id: 'c1', name: 'wait', input: {} }];
  const { model } = scriptedWorld([{ calls }], { tools: { wait }, toolApproval: {} });
  const call = generateText({ model, prompt: 'Wait', timeout: { stepMs: 1 }, ...ofThread() });
  await expect(call).rejects.toThrow();
});

describe('heldCall', () => {
  const tools = {
    look: tool({
      description: 'Looks for flights.',
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => ({ seen: city }),
    }),
  };

  function world(script: Parameters<typeof scriptedModel>[0]) {
    const { model } = scriptedModel(script);
    const middleware = holdPoint({ tools, toolApproval: {}, store: memoryStore() });
    return wrapLanguageModel({ model: modelOf({ model }), middleware });
  }

  test('passes a call on with its types, and makes its tools inert', async () => {
    const model = world([{ calls: [look('c1', 'Rome')] }, { text: '{"count":1}' }]);
    const ends: string[] = [];
    const result = await generateText(
      heldCall({
        model,
        tools,
        messages: [{ role: 'user', content: 'Look' }],
        output: Output.object({ schema: z.object({ count: z.number() }) }),
        onEnd: ({ text }) => void ends.push(text),
        ...ofThread(),
      }),
    );
    const count: number = result.output.count;
    const cities = result.toolCalls.map((call): string => (call.dynamic ? '' : call.input.city));
    expect([count, cities, ends]).toEqual([1, ['Rome'], ['{"count":1}']]);
  });

  test('serves an agent too', async () => {
    const model = world([{ text: 'Hi.' }]);
    const agent = new ToolLoopAgent(heldCall({ model, tools, ...ofThread() }));
    expect((await agent.generate({ prompt: 'Hello' })).text).toBe('Hi.');
  });

  test('refuses what belongs to holdPoint, by its type and when it is called', () => {
    const model = world([]);
    const call = { model, tools, prompt: 'Look', ...ofThread() };
    // @ts-expect-error -- The type says to move it.
    expect(() => heldCall({ ...call, toolApproval: { look: 'user-approval' } })).toThrow(
      new TypeError(
        'The call has toolApproval, but its steps and tools run behind the model. Move it from the call to holdPoint({ toolApproval }).',
      ),
    );
    // @ts-expect-error -- The type says to move it.
    expect(() => heldCall({ ...call, stopWhen: isStepCount(2) })).toThrow(
      'holdPoint({ stopWhen })',
    );
    // @ts-expect-error -- The type says to move it.
    expect(() => heldCall({ ...call, prepareStep: () => ({}) })).toThrow('({ prepareStep })');
    // @ts-expect-error -- The type says to move it.
    expect(() => heldCall({ ...call, onStepEnd() {} })).toThrow('({ onStepEnd })');
    // @ts-expect-error -- The type says to move it.
    expect(() => heldCall({ ...call, onStepFinish() {} })).toThrow('({ onStepEnd })');
    // @ts-expect-error -- The type says to move it.
    expect(() => heldCall({ ...call, repairToolCall: async () => null })).toThrow(TypeError);
    // @ts-expect-error -- The type says to move it.
    expect(() => heldCall({ ...call, toolCallConcurrency: 1 })).toThrow(TypeError);
    // @ts-expect-error -- The type says what to do.
    expect(() => heldCall({ ...call, experimental_refineToolInput: {} })).toThrow('the schema');
    expect(heldCall({ ...call, stopWhen: undefined }).prompt).toBe('Look');
  });
});
