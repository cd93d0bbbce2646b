import { generateText, isStepCount, streamText, tool, type ToolSet } from 'ai';
import { memoryStore } from 'holdpoint';
import { guardTools } from 'holdpoint/middleware';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { errorCode } from '../support/error-code.ts';
import type { ScriptedStep } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, look, type Ran, travelTools } from '../support/travel-world.ts';

/** What came out of a loop of the AI SDK's own over guarded tools, and what ran. */
async function loop(how: 'generateText' | 'streamText', script: ScriptedStep[]) {
  const ran: Ran[] = [];
  const tools: ToolSet = guardTools(travelTools(ran), { store: memoryStore(), threadId: 't' });
  const { model } = scriptedModel(script);
  const call = { model, tools, prompt: 'Go', stopWhen: isStepCount(5) };
  const result = how === 'generateText' ? await generateText(call) : streamText(call);
  const content = (await result.steps).flatMap((step) => step.content);
  return { ran, content };
}

describe.each(['generateText', 'streamText'] as const)('in the loop of %s', (how) => {
  test('with a provider that restarts its ids, the same call runs in each step', async () => {
    const step = { calls: [look('call_0', 'Rome')] };
    const { ran, content } = await loop(how, [step, step, { text: 'Done.' }]);
    expect(ran.map(({ input }) => input)).toEqual([{ city: 'Rome' }, { city: 'Rome' }]);
    expect(new Set(ran.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2);
    expect(content.filter(({ type }) => type === 'tool-result')).toHaveLength(2);
  });

  test('a later call with the same id and another input is a different call', async () => {
    const { ran, content } = await loop(how, [
      { calls: [look('call_0', 'Rome')] },
      { calls: [book('call_0', 'Oslo')] },
      { text: 'Done.' },
    ]);
    expect(ran.map(({ name }) => name)).toEqual(['look', 'book']);
    expect(content.filter(({ type }) => type === 'tool-error')).toEqual([]);
  });

  test('two calls with one id in one response: the second is refused with an error', async () => {
    const { ran, content } = await loop(how, [
      { calls: [look('call_0', 'Rome'), look('call_0', 'Rome')] },
      { text: 'Done.' },
    ]);
    expect(ran).toHaveLength(1);
    expect(content.filter(({ type }) => type === 'tool-error')).toMatchObject([
      { error: { code: 'not-allowed', message: expect.stringContaining('the same id') } },
    ]);
  });
});

test('the same history again is the same call, however often its ids were used before', async () => {
  const ran: Ran[] = [];
  const store = memoryStore();
  const messages = [
    { role: 'user' as const, content: 'Book' },
    ...['Rome', 'Oslo'].flatMap((city) => [
      {
        role: 'assistant' as const,
        content: [
          { type: 'tool-call' as const, toolCallId: 'call_0', toolName: 'book', input: { city } },
          { type: 'tool-approval-request' as const, approvalId: city, toolCallId: 'call_0' },
        ],
      },
      {
        role: 'tool' as const,
        content: [
          { type: 'tool-approval-response' as const, approvalId: city, approved: true },
          ...(city === 'Oslo'
            ? []
            : [
                {
                  type: 'tool-result' as const,
                  toolCallId: 'call_0',
                  toolName: 'book',
                  output: { type: 'text' as const, value: 'Booked.' },
                },
              ]),
        ],
      },
    ]),
  ];
  for (const _ of [1, 2]) {
    const tools = guardTools(travelTools(ran), { store, threadId: 't' });
    const { model } = scriptedModel([{ text: 'Done.' }]);
    await generateText({ model, tools, messages, toolApproval: { book: 'user-approval' } });
  }
  expect(ran.map(({ input }) => input)).toEqual([{ city: 'Oslo' }]);
});

test.each([undefined, {}, { toolCallId: '' }, { toolCallId: 7 }])(
  'a guarded tool that is called without the id of its call (%o) is refused, and does not run',
  async (given) => {
    const ran: Ran[] = [];
    const { book: guarded } = guardTools(travelTools(ran), {
      store: memoryStore(),
      threadId: 't',
    });
    const call = async (): Promise<unknown> =>
      Reflect.apply(guarded.execute, undefined, [{ city: 'Paris' }, given]);
    expect(await errorCode(call())).toBe('invalid-input');
    await expect(call()).rejects.toThrow('it has no toolCallId');
    expect(ran).toEqual([]);
  },
);

const search = tool({
  inputSchema: z.object({}),
  async *execute() {
    yield 'a page';
    yield 'two pages';
    yield 'all pages';
  },
});

/** The results of a call of `search` that a page would show, in their order. */
async function shown(tools: ToolSet): Promise<unknown[]> {
  const { model } = scriptedModel([
    { calls: [{ id: 'c1', name: 'search', input: {} }] },
    { text: 'Found.' },
  ]);
  const results: unknown[] = [];
  const { stream } = streamText({ model, tools, prompt: 'Search', stopWhen: isStepCount(3) });
  for await (const part of stream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'tool-result') results.push([part.output, part.preliminary ?? false]);
  }
  return results;
}

test('what a generator yields on its way is shown, guarded or not', async () => {
  const store = memoryStore();
  const guarded = guardTools({ search }, { store, threadId: 't' });
  const live = await shown(guarded);
  expect(live).toEqual(await shown({ search }));
  expect(live).toContainEqual(['a page', true]);
  expect(live.at(-1)).toEqual(['all pages', false]);
  expect(JSON.stringify(await store.read((await store.list({}))[0]?.threadId ?? ''))).not.toContain(
    'two pages',
  );
  /* A call that ran before has its recorded result. */
  expect((await shown(guarded)).at(-1)).toEqual(['all pages', false]);
});

test('a generator that fails on its way fails guarded as it does unguarded', async () => {
  const broken = tool({
    inputSchema: z.object({}),
    async *execute() {
      yield 'a page';
      throw new Error('The line is dead.');
    },
  });
  const { search: guarded } = guardTools(
    { search: broken },
    { store: memoryStore(), threadId: 't' },
  );
  const options = { toolCallId: 'c1', messages: [], context: {} };
  const seen: unknown[] = [];
  const read = async (): Promise<void> => {
    const outputs = guarded.execute({}, options);
    if (!(outputs instanceof Object && Symbol.asyncIterator in outputs)) throw new Error('One?');
    for await (const output of outputs) seen.push(output);
  };
  await expect(read()).rejects.toThrow('The line is dead.');
  expect(seen).toEqual(['a page']);
});
