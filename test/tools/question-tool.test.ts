import { tool } from 'ai';
import type { AgentOptions, Question } from 'holdpoint';
import { questionTool } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { travelTools } from '../support/travel-world.ts';
import {
  ask,
  askOne,
  dismissed,
  eventsOf,
  expectRefused,
  picked,
  refusalOf,
  resultOf,
} from './asked.ts';
import { askPick, asks, form, keptOn, oneOf, optionsOf } from './asking-tools.ts';

/** What comes of an answer when the agent has these tools by then. */
const moved = async (tools: AgentOptions['tools']) => {
  const { request, inProcess, world } = await askPick();
  const agent = inProcess({ tools: { ...travelTools(world.ran), ...tools } });
  const thread = await agent.thread('t');
  await agent.run(picked(request, ['a']), thread);
  return { request, agent, thread, world };
};

describe('the tool at the time of the answer', () => {
  test('is gone: nothing is recorded, and the answer is for an agent that has it', async () => {
    const { request, inProcess, world, agent: whole } = await askPick();
    const agent = inProcess({ tools: travelTools(world.ran) });
    const thread = await agent.thread('t');
    for (const bring of ['run', 'respond'] as const) {
      const work = async () => agent[bring](picked(request, ['a']), thread);
      await expectRefused(thread, work, 'missing-tool');
    }
    expect(thread.status).toBe('waiting');
    const again = await whole.thread('t');
    await whole.run(picked(request, ['a']), again);
    expect(again.calls).toMatchObject([{ status: 'succeeded' }]);
    await expectRefused(
      again,
      async () => whole.run(picked(request, ['b']), again),
      'already-answered',
    );
  });

  test('is one that runs: it does not run, and the call fails in words', async () => {
    const runs: unknown[] = [];
    const ran = tool({
      description: 'asks',
      inputSchema: z.looseObject({}),
      execute: async (input) => runs.push(input),
    });
    const { thread } = await moved({ ask: ran });
    expect(runs).toEqual([]);
    expect(thread.calls).toMatchObject([{ status: 'failed' }]);
  });

  test('asks something else: the answer is checked against what was asked', async () => {
    const { thread } = await moved({ ask: asks(form) });
    expect(resultOf(thread)).toMatchObject({ value: [{ key: 'choice', optionIds: ['a'] }] });
  });
});

describe('the functions of a question tool', () => {
  type Made = Parameters<typeof questionTool>[0];
  const made = (change: Partial<Made>) =>
    questionTool({
      description: 'asks',
      inputSchema: z.looseObject({}),
      toQuestion: () => oneOf,
      toResult: () => ({ status: 'succeeded', output: 'fine' }),
      ...change,
    });
  const unasked = async (change: Partial<Made>) => {
    const { response } = await ask({
      tools: { ask: made(change) },
      calls: [{ id: 'q1', name: 'ask', input: {} }],
    });
    expect(response).toMatchObject({ status: 'completed', userInputRequests: [] });
    return resultOf(response.thread);
  };

  test('a toQuestion that throws: the model is told its words, and nobody is asked', async () => {
    const value = 'Ask about one thing at a time.';
    const toQuestion = () => {
      throw new Error(value);
    };
    expect(await unasked({ toQuestion })).toEqual({ type: 'error-text', value });
  });

  const [field] = oneOf.fields;
  if (field === undefined) throw new Error('There is a field.');
  const fields = (...changes: Partial<typeof field>[]): Question => ({
    ...oneOf,
    fields: changes.map((change) => ({ ...field, ...change })),
  });
  test.each<[string, unknown]>([
    ['without fields', fields()],
    ['with two fields of one key', fields({}, {})],
    ['with two options of one id', fields({ options: optionsOf('aa') })],
    ['with a blank option id', fields({ options: [{ id: ' ', label: 'A' }] })],
    ['with a blank key', fields({ key: '' })],
    ['with more picks needed than options', fields({ freeText: 'never', min: 3, max: 3 })],
    ['with more picks needed than taken', fields({ freeText: 'never', min: 2, max: 1 })],
    ['with no option and no text', fields({ freeText: 'never', options: [] })],
    ['with a preselection that is no option', fields({ preselected: ['z'] })],
    [
      'with a dismissal answer that is none',
      { ...oneOf, dismissAnswer: [{ key: 'choice', optionIds: ['z'] }] },
    ],
    ['of an unknown kind', { ...oneOf, kind: 'riddle' }],
    ['with unknown keys', { ...oneOf, approved: true }],
    ['that expires at no time', { ...oneOf, expiresAfterMs: Number.NaN }],
    ['that is nothing', undefined],
    ['that comes later', Promise.resolve(oneOf)],
  ])('a question %s can not be asked', async (_what, question) => {
    const tools = { ask: made({}) };
    Reflect.set(
      Reflect.get(tools.ask, Symbol.for('holdpoint.asking')),
      'toQuestion',
      () => question,
    );
    const { response } = await ask({ tools, calls: [{ id: 'q1', name: 'ask', input: {} }] });
    expect(response).toMatchObject({ status: 'completed', userInputRequests: [] });
    expect(resultOf(response.thread)).toMatchObject({ type: 'error-text' });
  });

  test('rule 3: what a request is called, and which thread and call it is of, is never of the tool', async () => {
    const input = { requestId: 'mine', threadId: 'theirs', createdAt: -1, expiresAt: 1 };
    const { response } = await ask({
      tools: { ask: made({ toQuestion: (asked) => ({ ...oneOf, ...Object(asked) }) }) },
      calls: [{ id: 'q1', name: 'ask', input }],
    });
    for (const request of response.userInputRequests) {
      expect(request).toMatchObject({ threadId: 't', toolCall: { toolCallId: 'q1' } });
      expect(request.requestId).not.toBe('mine');
      expect(request.createdAt).toBeGreaterThan(0);
      expect(request).not.toHaveProperty('expiresAt');
    }
  });

  test('a toQuestion that changes its input changes nothing that is recorded', async () => {
    const changing = made({
      inputSchema: z.unknown(),
      toQuestion: (input) => {
        Reflect.set(Object(input), 'city', 'Rome');
        return oneOf;
      },
    });
    const { request, thread } = await askOne(changing, { city: 'Paris' });
    expect(request.toolCall?.input).toEqual({ city: 'Paris' });
    expect(thread.calls[0]?.input).toEqual({ city: 'Paris' });
  });

  test('a toResult that throws: the answer is refused, and the next can be better', async () => {
    const choosy = made({
      toResult: (response) => {
        if (response.status === 'dismissed') throw new Error('Tell me which.');
        return { status: 'succeeded', output: 'fine' };
      },
    });
    const { request, agent, thread } = await askOne(choosy, {});
    await expectRefused(thread, async () => agent.run(dismissed(request), thread));
    expect((await refusalOf(agent.run(dismissed(request), thread))).message).toContain(
      'Tell me which.',
    );
    expect(await agent.run(picked(request, ['a']), thread)).toMatchObject({ text: 'Done.' });
  });

  test('a toResult that changes what it is given changes nothing that is recorded', async () => {
    const changing = made({
      toResult: (response, request) => {
        Reflect.set(request, 'text', 'changed');
        Reflect.set(response, 'status', 'dismissed');
        return { status: 'succeeded', output: 'fine' };
      },
    });
    const { request, agent, thread } = await askOne(changing, {});
    await agent.run(picked(request, ['a']), thread);
    const [event] = eventsOf(thread.events, 'request-answered');
    expect(event?.response).toEqual(picked(request, ['a']));
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a promise', Promise.resolve({ status: 'succeeded', output: 'fine' })],
    ['no output', { status: 'succeeded' }],
    ['a function for an output', { status: 'succeeded', output: () => 1 }],
    ['a BigInt for an output', { status: 'succeeded', output: 1n }],
    ['no error', { status: 'failed' }],
    ['an unknown status', { status: 'approved', output: 'fine' }],
    ['a message that is none', { status: 'succeeded', output: 'fine', message: 'Hello' }],
    [
      'a message of the assistant',
      { status: 'succeeded', output: 'fine', message: { role: 'assistant', content: 'I may.' } },
    ],
    [
      'an empty message',
      { status: 'succeeded', output: 'fine', message: { role: 'user', content: '' } },
    ],
  ])('a toResult that gives %s: refused, and the thread stays readable', async (_what, result) => {
    using kept = keptOn('sqliteStore');
    const asking = made({});
    Reflect.set(Reflect.get(asking, Symbol.for('holdpoint.asking')), 'toResult', () => result);
    const { request, agent, thread, inProcess } = await askOne(asking, {}, { store: kept.open() });
    await expectRefused(thread, async () => agent.respond(picked(request, ['a']), thread));
    const again = await inProcess({ store: kept.open() }).thread('t');
    expect(JSON.stringify(again)).toBe(JSON.stringify(thread));
  });

  test('an answer is recorded once, however often toResult is asked', async () => {
    const { request, agent, thread } = await askPick();
    await Promise.all([
      agent.run(picked(request, ['a']), thread),
      agent.respond(picked(request, ['a']), thread),
    ]);
    expect(eventsOf(thread.events, 'request-answered')).toHaveLength(1);
    expect(eventsOf(thread.events, 'call-ended')).toHaveLength(1);
  });
});
