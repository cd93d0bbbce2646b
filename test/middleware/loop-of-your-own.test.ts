import { generateText, type ModelMessage, streamText, ToolLoopAgent, wrapLanguageModel } from 'ai';
import { memoryStore } from 'holdpoint';
import {
  answerMessage,
  approvalRequestsOf,
  holdPoint,
  userInputRequestsOf,
} from 'holdpoint/middleware';
import { questionTools } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, type Ran, travelTools } from '../support/travel-world.ts';
import { modelOf, ofThread, scriptedWorld, ways } from './held-world.ts';
import { pickCases } from '../support/sampling.ts';

const user = (content: string): ModelMessage => ({ role: 'user', content });

test("a wrapped client: the loop of the founding text, with the AI SDK's own generateText", async () => {
  const ran: Ran[] = [];
  const played = scriptedModel([
    { text: 'Two flights.', calls: [book('c1', 'Paris'), book('c2', 'Rome')] },
    { calls: [book('c3', 'Oslo')] },
    { text: 'All booked.' },
  ]);
  const held = wrapLanguageModel({
    model: modelOf(played),
    middleware: holdPoint({
      tools: travelTools(ran),
      toolApproval: { book: 'user-approval' },
      store: memoryStore(),
    }),
  });
  const call = { model: held, ...ofThread('trip-42') };
  const shown: unknown[] = [];

  let result = await generateText({ ...call, prompt: 'Please book flights for Friday.' });
  while (approvalRequestsOf(result).length > 0) {
    const messages = approvalRequestsOf(result).map((request) => {
      shown.push([request.text, request.toolCall?.input]);
      return answerMessage(request.approve());
    });
    result = await generateText({ ...call, messages });
  }

  expect(result.text).toBe('All booked.');
  expect(ran.map(({ input }) => Reflect.get(Object(input), 'city'))).toEqual([
    'Paris',
    'Rome',
    'Oslo',
  ]);
  expect(shown).toHaveLength(3);
  expect(shown[0]).toEqual([expect.stringContaining('book'), { city: 'Paris' }]);
  /* The model receives nothing about approvals (S3-17, S3-18). */
  expect(JSON.stringify(played.prompts)).not.toContain('approval');
});

describe.each(pickCases(ways))('with $name', (way) => {
  test('one of several is answered, and the others are still asked', async () => {
    const { model, ran } = scriptedWorld([
      { calls: [book('c1', 'Paris'), book('c2', 'Rome')] },
      { text: 'Done.' },
    ]);
    const asked = await way.ask({ model, messages: [user('Book')], ...ofThread() });
    const [first, second] = approvalRequestsOf(asked);
    if (first === undefined || second === undefined) throw new Error('Two were expected.');
    const half = await way.ask({
      model,
      messages: [answerMessage(first.reject('too dear'))],
      ...ofThread(),
    });
    expect(approvalRequestsOf(half).map(({ requestId }) => requestId)).toEqual([second.requestId]);
    const done = await way.ask({
      model,
      messages: [answerMessage(second.approve())],
      ...ofThread(),
    });
    expect(done.text).toBe('Done.');
    expect(approvalRequestsOf(done)).toEqual([]);
    expect(ran).toHaveLength(1);
  });

  test('answers at the end of a whole history count as they do alone, and once', async () => {
    const { model, ran, played, agent } = scriptedWorld([
      { calls: [book('c1', 'Paris')] },
      { text: 'Booked.' },
      { text: 'You are welcome.' },
    ]);
    const messages: ModelMessage[] = [user('Book')];
    const asked = await way.ask({ model, messages, ...ofThread() });
    messages.push(...asked.responseMessages);
    messages.push(answerMessage(...approvalRequestsOf(asked).map((request) => request.approve())));
    const done = await way.ask({ model, messages, ...ofThread() });
    expect(done.text).toBe('Booked.');
    expect((await way.ask({ model, messages, ...ofThread() })).text).toBe('Booked.');
    messages.push(...done.responseMessages, user('Thanks'));
    expect((await way.ask({ model, messages, ...ofThread() })).text).toBe('You are welcome.');
    expect(ran).toHaveLength(1);
    expect(played.requests).toBe(3);
    expect((await agent.thread('t')).messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
      'assistant',
    ]);
  });

  test('an answer and a message at once: the call runs, and the message is read with its result', async () => {
    const { model, ran, played } = scriptedWorld([
      { calls: [book('c1', 'Paris')] },
      { text: 'Booked.' },
    ]);
    const asked = await way.ask({ model, messages: [user('Book')], ...ofThread() });
    const answers = approvalRequestsOf(asked).map((request) => request.approve());
    const messages = [user('And hurry.'), answerMessage(...answers)];
    expect((await way.ask({ model, messages, ...ofThread() })).text).toBe('Booked.');
    expect(ran).toHaveLength(1);
    expect(played.prompts[1]?.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
    ]);
  });

  test('a rejection reaches the model as the result of the call', async () => {
    const { model, ran, played } = scriptedWorld([
      { calls: [book('c1', 'Paris')] },
      { text: 'As you like.' },
    ]);
    const asked = await way.ask({ model, messages: [user('Book')], ...ofThread() });
    const messages = approvalRequestsOf(asked).map((request) =>
      answerMessage(request.reject('too dear')),
    );
    const done = await way.ask({ model, messages, ...ofThread() });
    expect(done.text).toBe('As you like.');
    expect(ran).toEqual([]);
    const output = { type: 'execution-denied', reason: 'too dear' };
    expect(played.prompts[1]?.at(-1)).toMatchObject({ content: [{ toolCallId: 'c1', output }] });
  });

  test('an answer on another thread, to another call, or an invalid one is refused and changes nothing', async () => {
    const { model, ran, agent } = scriptedWorld([{ calls: [book('c1', 'Paris')] }]);
    const asked = await way.ask({ model, messages: [user('Book')], ...ofThread() });
    const [request] = approvalRequestsOf(asked);
    if (request === undefined) throw new Error('A request was expected.');
    const { revision } = await agent.thread('t');
    const answer = request.approve();
    const toolCall = { toolCallId: 'c1', toolName: 'book', input: { city: 'Rome' } };
    const refused = async (message: ModelMessage, threadId = 't') =>
      errorCode(way.ask({ model, messages: [message], ...ofThread(threadId) }));
    expect(await refused(answerMessage(answer), 'u')).toBe('not-found');
    expect(await refused(answerMessage({ ...answer, digest: 'another' }))).toBe('answer-mismatch');
    expect(await refused(answerMessage({ ...answer, toolCall }))).toBe('answer-mismatch');
    const loose = JSON.parse(JSON.stringify({ ...answer, approved: 'true' }));
    expect(await refused(answerMessage(loose))).toBe('invalid-answer');
    expect(ran).toEqual([]);
    expect((await agent.thread('t')).revision).toBe(revision);
  });

  test('a question is read and answered in the same way', async () => {
    const { model } = scriptedWorld(
      [
        { calls: [{ id: 'q1', name: 'ask_question', input: { question: 'Which day?' } }] },
        { text: 'Friday it is.' },
      ],
      { tools: questionTools(), toolApproval: {} },
    );
    const asked = await way.ask({ model, messages: [user('Book')], ...ofThread() });
    expect(approvalRequestsOf(asked)).toEqual([]);
    const [request] = userInputRequestsOf(asked);
    if (request?.type !== 'question-request') throw new Error('A question was expected.');
    const { requestId, fields } = request;
    const answers = [{ key: fields[0]?.key ?? '', optionIds: [], text: 'Friday' }];
    const message = answerMessage({
      type: 'question-response',
      requestId,
      status: 'answered',
      answers,
    });
    expect((await way.ask({ model, messages: [message], ...ofThread() })).text).toBe(
      'Friday it is.',
    );
  });
});

test('requests are plain data and can be answered in another place', async () => {
  const { model, ran } = scriptedWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }]);
  const stream = streamText({ model, prompt: 'Book', ...ofThread() });
  await stream.consumeStream();
  const requests = approvalRequestsOf({ providerMetadata: await stream.providerMetadata });
  expect(JSON.parse(JSON.stringify(requests))).toMatchObject([{ type: 'approval-request' }]);
  const agent = new ToolLoopAgent({ model, ...ofThread() });
  const messages = requests.map((request) => answerMessage(request.approve()));
  expect((await agent.generate({ messages })).text).toBe('Booked.');
  expect(ran).toHaveLength(1);
});

test('a result of a model without holdPoint is rejected', async () => {
  const result = await generateText({ model: scriptedModel([{ text: 'Hi' }]).model, prompt: 'Hi' });
  expect(() => approvalRequestsOf(result)).toThrow('The result is not from a model with holdPoint');
});
