import { generateText, Output, tool, type UserModelMessage, wrapLanguageModel } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { holdPoint, inertTools } from 'holdpoint/middleware';
import { questionTools } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { overloaded } from '../support/overloaded.ts';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, look } from '../support/travel-world.ts';
import {
  answering,
  conversation,
  heldWorld,
  modelOf,
  ofThread,
  requestsIn,
  scriptedWorld,
  ways,
} from './held-world.ts';
import { waitFor } from '../support/waiting.ts';
import { pickCases } from '../support/sampling.ts';

describe.each(pickCases(ways))('with $name', (way) => {
  test('calls without approval run inside the model call, and are in its result with the text', async () => {
    const { model, ran } = scriptedWorld([
      { text: 'Let me see. ', calls: [look('c1', 'Rome')] },
      { text: 'There is one.' },
    ]);
    const got = await conversation(way, { model }).say('Look');
    expect(ran).toMatchObject([{ name: 'look', input: { city: 'Rome' } }]);
    expect(got.content.map(({ type }) => type)).toEqual([
      'text',
      'tool-call',
      'tool-result',
      'text',
    ]);
    expect(got.content[1]).toMatchObject({ input: { city: 'Rome' }, providerExecuted: true });
    expect(got.content[2]).toMatchObject({ output: 'a flight to Rome' });
    expect(got).toMatchObject({
      text: 'Let me see. There is one.',
      finishReason: 'stop',
      usage: { inputTokens: 6, outputTokens: 20 },
      providerMetadata: { holdpoint: { threadId: 't', status: 'completed', requests: [] } },
    });
  });

  test('an approval comes out as the request of the model, and the answer in the prompt runs the call', async () => {
    const { model, ran } = scriptedWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }]);
    const { say, go } = conversation(way, { model });
    const asked = await say('Book');
    const [requestId = ''] = requestsIn(asked.content);
    expect(asked.finishReason).toBe('tool-calls');
    expect(asked.providerMetadata).toMatchObject({
      holdpoint: { status: 'waiting', requests: [{ requestId, toolCall: { toolCallId: 'c1' } }] },
    });
    expect(ran).toEqual([]);
    const done = await go(answering([requestId]));
    expect(ran).toMatchObject([{ name: 'book', input: { city: 'Paris' } }]);
    expect(done.content).toMatchObject([
      ...(way.name === 'streamText' ? [] : [{ type: 'tool-call', toolCallId: 'c1' }]),
      { type: 'tool-result', toolCallId: 'c1', output: { booked: 'Paris' } },
      { type: 'text', text: 'Booked.' },
    ]);
  });

  test('a rejection and its reason reach the model, and nothing runs', async () => {
    const { model, ran, played } = scriptedWorld([
      { calls: [book('c1', 'Paris')] },
      { text: 'As you like.' },
    ]);
    const { say, go } = conversation(way, { model });
    const asked = await say('Book');
    const done = await go(
      answering(requestsIn(asked.content), { approved: false, reason: 'too dear' }),
    );
    expect(done.text).toBe('As you like.');
    expect(ran).toEqual([]);
    const output = { type: 'execution-denied', reason: 'too dear' };
    expect(played.prompts[1]?.at(-1)).toMatchObject({ content: [{ toolCallId: 'c1', output }] });
  });

  test('what fails and what a rule denies comes out as an error', async () => {
    const call = { id: 'c1', name: 'fail', input: { city: 'Nice' } };
    const { model } = scriptedWorld([{ calls: [call, look('c2', 'Oslo')] }, { text: 'Sorry.' }], {
      toolApproval: { look: { type: 'denied', reason: 'not today' } },
    });
    const { content } = await conversation(way, { model }).say('Go');
    const errors = content.filter((part) => part.type === 'tool-error');
    expect(
      errors.map(({ toolCallId, error }) => `${toolCallId}: ${String(error)}`).toSorted(),
    ).toEqual(['c1: no flight to Nice', 'c2: not today']);
  });

  test('the thread remembers what the caller forgot', async () => {
    const { model, played } = scriptedWorld([{ text: 'Hello Ada.' }, { text: 'Ada.' }]);
    await conversation(way, { model }).say('I am Ada');
    await conversation(way, { model }).say('Who am I?');
    expect(played.prompts[1]).toMatchObject([
      { content: [{ text: 'I am Ada' }] },
      { content: [{ text: 'Hello Ada.' }] },
      { content: [{ text: 'Who am I?' }] },
    ]);
  });

  test('instructions and settings of the call go to the model, and what is ours does not', async () => {
    const inner = new MockLanguageModelV4({ modelId: 'm' });
    const heard: unknown[] = [];
    const answer = scriptedWorld([{ text: 'Hi' }]).played.model;
    if (typeof answer === 'string' || answer.specificationVersion !== 'v4') throw new Error('v4');
    inner.doGenerate = async (params) => {
      heard.push(params);
      return answer.doGenerate(params);
    };
    inner.doStream = async (params) => {
      heard.push(params);
      return answer.doStream(params);
    };
    const { model } = heldWorld({ model: inner });
    await way.ask({
      model,
      messages: [{ role: 'user', content: 'Hi' }],
      instructions: 'Be brief.',
      temperature: 0.5,
      headers: { 'x-trace': '1' },
      providerOptions: { holdpoint: { threadId: 't' }, other: { mode: 'fast' } },
    });
    expect(heard).toMatchObject([
      {
        temperature: 0.5,
        headers: { 'x-trace': '1' },
        prompt: [{ role: 'system', content: 'Be brief.' }, { role: 'user' }],
        tools: [{ name: 'book' }, { name: 'look' }, { name: 'fail' }],
      },
    ]);
    expect(Reflect.get(Object(heard[0]), 'providerOptions')).toEqual({ other: { mode: 'fast' } });
  });

  test('files of a message reach the model through the thread', async () => {
    const { model, played } = scriptedWorld([{ text: 'A dot.' }]);
    const message: UserModelMessage = {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'file', mediaType: 'image/png', data: new Uint8Array([1, 2, 3]) },
      ],
    };
    await way.ask({ model, messages: [message], ...ofThread() });
    expect(played.prompts[0]?.[0]).toMatchObject({
      content: [
        { text: 'What is this?' },
        { mediaType: 'image/png', data: { type: 'data', data: new Uint8Array([1, 2, 3]) } },
      ],
    });
  });

  test('a question is a call without a result; its answer is passed outside the prompt', async () => {
    const { model } = scriptedWorld(
      [
        { calls: [{ id: 'q1', name: 'ask_question', input: { question: 'Which day?' } }] },
        { text: 'Friday it is.' },
      ],
      { tools: questionTools(), toolApproval: {} },
    );
    const { say, messages } = conversation(way, { model });
    const asked = await say('Book');
    expect(asked.content).toMatchObject([{ type: 'tool-call', toolName: 'ask_question' }]);
    const [request] = requestsOf(asked.providerMetadata);
    const answer = {
      type: 'question-response',
      requestId: request?.requestId,
      status: 'answered',
      answers: [{ key: request?.fields?.[0]?.key, optionIds: [], text: 'Friday' }],
    };
    const done = await way.ask({ model, messages, ...ofThread('t', { answers: [answer] }) });
    expect(done.text).toBe('Friday it is.');
    expect(done.content.find(({ type }) => type === 'tool-result')).toMatchObject({
      toolCallId: 'q1',
    });
  });

  test('a call with toolChoice none runs approved calls, and returns only the text', async () => {
    const { model, ran } = scriptedWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }]);
    const { say, messages } = conversation(way, { model });
    messages.push(answering(requestsIn((await say('Book')).content)));
    const got = await way.ask({ model, messages, toolChoice: 'none', ...ofThread() });
    expect(got.content).toMatchObject([{ type: 'text', text: 'Booked.' }]);
    expect(ran).toHaveLength(1);
  });

  test.each(['required', { type: 'tool', toolName: 'look' }] as const)(
    'a call that is forced (%o) is forced once',
    async (toolChoice) => {
      const choices: unknown[] = [];
      const played = scriptedModel([{ calls: [look('c1', 'Rome')] }, { text: 'Seen.' }]);
      const inner = wrapLanguageModel({
        model: modelOf(played),
        middleware: {
          async transformParams({ params }) {
            choices.push(params.toolChoice?.type);
            return params;
          },
        },
      });
      const { model, tools, ran } = heldWorld({ model: inner });
      const messages = [{ role: 'user' as const, content: 'Look' }];
      await way.ask({ model, messages, toolChoice, tools: inertTools(tools), ...ofThread() });
      expect(choices).toEqual([typeof toolChoice === 'string' ? toolChoice : 'tool', 'auto']);
      expect(ran).toHaveLength(1);
    },
  );

  test('approvals may be answered outside the prompt too', async () => {
    const { model, ran } = scriptedWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }]);
    const { say, messages } = conversation(way, { model });
    const [requestId] = requestsIn((await say('Book')).content);
    const answers = [{ type: 'approval-response', requestId, approved: true }];
    await way.ask({ model, messages, ...ofThread('t', { answers, principal: { id: 'ada' } }) });
    expect(ran).toHaveLength(1);
  });

  test("the provider's own error is thrown once, and the message is not recorded twice", async () => {
    const failure = overloaded();
    expect(failure.isRetryable).toBe(true);
    let requests = 0;
    const fail = async (): Promise<never> => {
      requests += 1;
      throw failure;
    };
    const { model, agent } = heldWorld({
      model: new MockLanguageModelV4({ doGenerate: fail, doStream: fail }),
    });
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    for (const _ of [1, 2])
      expect(await errorCode(way.ask({ model, messages, ...ofThread() }))).toBe(failure);
    expect(requests).toBe(2);
    const later = [...messages, { role: 'user' as const, content: 'Anybody?' }];
    expect(await errorCode(way.ask({ model, messages: later, ...ofThread() }))).toBe(failure);
    const { messages: recorded } = await agent.thread('t');
    expect(recorded.map(({ content }) => content)).toMatchObject([
      [{ text: 'Hello' }],
      [{ text: 'Anybody?' }],
    ]);
  });

  test('a call without a thread id fails with a message that says how to pass one', async () => {
    const { model } = scriptedWorld([]);
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    await expect(way.ask({ model, messages })).rejects.toMatchObject({
      code: 'invalid-input',
      message: expect.stringContaining('providerOptions: { holdpoint: { threadId } }'),
    });
    const misspelt = ofThread('t', { thread: 'x' });
    expect(await errorCode(way.ask({ model, messages, ...misspelt }))).toBe('invalid-input');
  });

  test('a call made again, as its reply was lost, finds the run where it is', async () => {
    const { model, ran, agent, played } = scriptedWorld([
      { calls: [book('c1', 'Paris'), look('c2', 'Rome')] },
      { fail: 'The line is dead.' },
      { text: 'Booked.' },
    ]);
    const messages = [{ role: 'user' as const, content: 'Book' }];
    const first = await way.ask({ model, messages, ...ofThread() });
    const again = await way.ask({ model, messages, ...ofThread() });
    expect(requestsIn(again.content)).toEqual(requestsIn(first.content));
    const answered = [...messages, ...first.responseMessages, answering(requestsIn(first.content))];
    await expect(way.ask({ model, messages: answered, ...ofThread() })).rejects.toThrow('The line');
    expect((await way.ask({ model, messages, ...ofThread() })).text).toBe('Booked.');
    const last = await way.ask({ model, messages: answered, ...ofThread() });
    expect(last.text).toBe('Booked.');
    expect(last.content.find(({ type }) => type === 'tool-result')).toMatchObject({
      toolCallId: 'c1',
      output: { booked: 'Paris' },
    });
    expect(ran.map(({ name }) => name).toSorted()).toEqual(['book', 'look']);
    expect(played.requests).toBe(3);
    expect((await agent.thread('t')).messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
  });

  test('what a person typed again in a new turn is a new message', async () => {
    const { model, agent } = scriptedWorld([{ text: 'One.' }, { text: 'Two.' }]);
    const messages = [{ role: 'user' as const, content: 'More' }];
    await way.ask({ model, messages, ...ofThread() });
    expect((await way.ask({ model, messages, ...ofThread() })).text).toBe('Two.');
    expect((await agent.thread('t')).messages).toHaveLength(4);
  });

  test('an answer of the model that says nothing is an answer: the same words are a new message', async () => {
    const { model, agent } = scriptedWorld([{ text: '' }, { text: 'Yes?' }]);
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    await way.ask({ model, messages, ...ofThread() });
    expect((await way.ask({ model, messages, ...ofThread() })).text).toBe('Yes?');
    expect((await agent.thread('t')).messages).toHaveLength(3);
  });

  test('a turn that a person ended is over: the same words are a new message', async () => {
    const choice = { header: 'Day', question: 'Which day?', multiSelect: false };
    const choices = ['Friday', 'Sunday'].map((label) => ({ label, description: '' }));
    const input = { questions: [{ ...choice, options: choices }] };
    const { model, agent } = scriptedWorld(
      [{ calls: [{ id: 'q1', name: 'AskUserQuestion', input }] }, { text: 'Once more.' }],
      { tools: questionTools(), toolApproval: {} },
    );
    const messages = [{ role: 'user' as const, content: 'Book' }];
    const { providerMetadata } = await way.ask({ model, messages, ...ofThread() });
    const { requestId = '' } = requestsOf(providerMetadata)[0] ?? {};
    const dismissed = { type: 'question-response', requestId, status: 'dismissed' } as const;
    const { status } = await agent.run(dismissed, await agent.thread('t'));
    expect(status).toBe('cancelled');
    expect((await way.ask({ model, messages, ...ofThread() })).text).toBe('Once more.');
  });

  test('a message while people are asked is refused, or cancels, as the call says', async () => {
    const { model, ran, agent } = scriptedWorld([
      { calls: [book('c1', 'Paris')] },
      { text: 'Rome then.' },
    ]);
    const { say, messages } = conversation(way, { model });
    await say('Book Paris');
    expect(await errorCode(say('No, Rome'))).toBe('requests-open');
    const cancelling = ofThread('t', { whilePending: 'cancel' });
    expect((await way.ask({ model, messages, ...cancelling })).text).toBe('Rome then.');
    expect(ran).toEqual([]);
    expect((await agent.thread('t')).calls).toMatchObject([{ status: 'denied' }]);
  });

  test('a run that reaches maxSteps reports it, and the next call without a message continues', async () => {
    const { model, ran } = scriptedWorld([{ calls: [look('c1', 'Rome')] }, { text: 'Seen.' }], {
      maxSteps: 1,
    });
    const { say, go } = conversation(way, { model });
    const got = await say('Look');
    expect(got.providerMetadata).toMatchObject({ holdpoint: { status: 'max-steps' } });
    expect((await go()).text).toBe('Seen.');
    expect(ran).toHaveLength(1);
  });

  test('an indeterminate call is reported, and the model is not called', async () => {
    const leaving = new AbortController();
    const hang = tool({
      inputSchema: z.object({}),
      async execute() {
        leaving.abort(new Error('The caller left.'));
        return new Promise(() => {});
      },
    });
    const { model, played, store } = scriptedWorld(
      [{ calls: [{ id: 'c1', name: 'hang', input: {} }] }],
      {
        tools: { hang },
        toolApproval: {},
        abortGraceMs: 1,
      },
    );
    const messages = [{ role: 'user' as const, content: 'Go' }];
    await errorCode(way.ask({ model, messages, ...ofThread(), abortSignal: leaving.signal }));
    await waitFor(async () => expect((await store.head('t'))?.status).not.toBe('running'));
    const got = await way.ask({ model, messages, ...ofThread() });
    expect(got).toMatchObject({
      content: [{ type: 'tool-call', toolCallId: 'c1' }],
      finishReason: 'other',
      providerMetadata: { holdpoint: { status: 'indeterminate' } },
    });
    expect(played.requests).toBe(1);
  });
});

interface Asked {
  requestId: string;
  fields?: { key: string }[];
}

function requestsOf(metadata: unknown): Asked[] {
  return Reflect.get(Object(Reflect.get(Object(metadata), 'holdpoint')), 'requests');
}

test('what is asked for as an object is asked of the model, and read from its last step alone', async () => {
  const { model } = scriptedModel([
    { text: 'Let me see.', calls: [look('c1', 'Rome')] },
    { text: '{"city":"Rome"}' },
  ]);
  const formats: unknown[] = [];
  const inner = wrapLanguageModel({
    model: modelOf({ model }),
    middleware: {
      async transformParams({ params }) {
        formats.push(params.responseFormat?.type);
        return params;
      },
    },
  });
  const schema = z.object({ city: z.string() });
  const result = await generateText({
    model: heldWorld({ model: inner }).model,
    prompt: 'Look',
    output: Output.object({ schema }),
    ...ofThread(),
  });
  expect(result.output).toEqual({ city: 'Rome' });
  expect(formats).toEqual(['json', 'json']);
});

test('without a store, threads live as long as the middleware', async () => {
  const { model, prompts } = scriptedModel([{ text: 'Hello Ada.' }, { text: 'Ada.' }]);
  const middleware = holdPoint({ maxRetries: 0 });
  const held = wrapLanguageModel({ model: modelOf({ model }), middleware });
  await generateText({ model: held, prompt: 'I am Ada', ...ofThread() });
  await generateText({ model: held, prompt: 'Who am I?', ...ofThread() });
  expect(prompts[1]).toHaveLength(3);
});

test('options that can not hold are a TypeError at once', () => {
  // @ts-expect-error -- there is no such tool.
  expect(() => holdPoint({ tools: {}, toolApproval: { book: 'denied' } })).toThrow(TypeError);
});
