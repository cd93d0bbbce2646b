import { generateText, type ModelMessage, Output, simulateReadableStream } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { errorCode } from '../support/error-code.ts';
import { book, look } from '../support/travel-world.ts';
import { textParts, type StreamPart } from '../support/streamed-model.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import {
  answering,
  type Got,
  heldWorld,
  ofThread,
  requestsIn,
  scriptedWorld,
  ways,
} from './held-world.ts';
import { pickCases } from '../support/sampling.ts';

const user = (content: string) => ({ role: 'user' as const, content });
const named = (messageId: string, more: object = {}) => ofThread('t', { messageId, ...more });

/** The content of a reply, without what differs when it is sent again. */
function said({ content, text, finishReason }: Got): unknown {
  const parts = content.map((part) => {
    switch (part.type) {
      case 'tool-call':
        return ['call', part.toolCallId, part.input];
      case 'tool-result':
        return ['result', part.toolCallId, part.output];
      case 'tool-approval-request':
        return ['request', part.approvalId];
      default:
        return 'text' in part ? [part.type, part.text] : [part.type];
    }
  });
  return { parts, text, finishReason };
}

/** The ids of the calls whose results are in a reply. */
function results({ content }: Got): string[] {
  return content.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : []));
}

/** The parts of a reply that say something, in no order: results come when they come. */
function partsSaid(got: Got): string[] {
  return got.content
    .map((part) =>
      JSON.stringify([part.type, Reflect.get(part, 'text'), Reflect.get(part, 'toolCallId')]),
    )
    .toSorted();
}

test.each(ways)('$name: a call that is made again gives the recorded reply', async (way) => {
  const { model, agent, played } = scriptedWorld([{ text: 'Paris.' }, { text: 'In May.' }]);
  const asked = { model, messages: [user('Where?')], ...named('m1') };
  const first = await way.ask(asked);
  const { revision } = await agent.thread('t');
  expect(said(await way.ask(asked))).toEqual(said(first));
  const next = [...asked.messages, ...first.responseMessages, user('When?')];
  await way.ask({ model, messages: next, ...named('m2') });
  const later = (await agent.thread('t')).revision;
  expect(said(await way.ask(asked))).toEqual(said(first));
  expect(later).toBeGreaterThan(revision);
  expect((await agent.thread('t')).revision).toBe(later);
  expect(played.requests).toBe(2);
});

test.each(ways)(
  '$name: the calls of the reply and their results belong to it, and nothing runs twice',
  async (way) => {
    const { model, ran } = scriptedWorld([
      {
        reasoning: 'Hm.',
        text: 'Let me see.',
        calls: [look('c1', 'Rome'), { ...look('c2', 'Oslo'), name: 'fail' }],
      },
      { text: 'There is one.' },
      { text: 'Bye.' },
    ]);
    const asked = { model, messages: [user('Look')], ...named('m1') };
    const first = await way.ask(asked);
    const again = await way.ask(asked);
    expect(partsSaid(again)).toEqual(partsSaid(first));
    expect(again.text).toBe(first.text);
    await way.ask({ model, messages: [user('Thanks')], ...named('m2') });
    expect(partsSaid(await way.ask(asked))).toEqual(partsSaid(first));
    expect(ran).toHaveLength(2);
  },
);

test.each(ways)(
  '$name: while people are asked, the same request comes out again, beside what was said',
  async (way) => {
    const { model, ran } = scriptedWorld([
      { text: 'I will book.', calls: [book('c1', 'Paris'), look('c2', 'Rome')] },
      { text: 'Booked.' },
    ]);
    const asked = { model, messages: [user('Book')], ...named('m1') };
    const first = await way.ask(asked);
    const again = await way.ask(asked);
    expect(requestsIn(again.content)).toEqual(requestsIn(first.content));
    expect(partsSaid(again)).toEqual(partsSaid(first));
    const answered = [
      ...asked.messages,
      ...first.responseMessages,
      answering(requestsIn(first.content)),
    ];
    /* An app may give the id of the user's last message with every call. */
    expect((await way.ask({ model, messages: answered, ...named('m1') })).text).toBe('Booked.');
    const whole = await way.ask(asked);
    expect(whole.text).toContain('I will book.');
    expect(whole.text).toContain('Booked.');
    expect(requestsIn(whole.content)).toEqual([]);
    expect(ran).toHaveLength(2);
  },
);

test.each(ways)('$name: a request of a later turn is not part of the reply', async (way) => {
  const { model } = scriptedWorld([{ text: 'Hello.' }, { calls: [book('c1', 'Paris')] }]);
  const asked = { model, messages: [user('Hi')], ...named('m1') };
  const first = await way.ask(asked);
  await way.ask({ model, messages: [user('Book')], ...named('m2') });
  expect(said(await way.ask(asked))).toEqual(said(first));
});

test.each(ways)('$name: a run that failed is run again, under the same id', async (way) => {
  const { model, agent } = scriptedWorld([{ fail: 'The line is dead.' }, { text: 'Hello.' }]);
  const asked = { model, messages: [user('Hi')], ...named('m1') };
  await expect(way.ask(asked)).rejects.toThrow('The line');
  expect((await way.ask(asked)).text).toBe('Hello.');
  expect((await agent.thread('t')).messages).toHaveLength(2);
});

test.each(ways)('$name: the same content under another id is a new message', async (way) => {
  const { model, agent } = scriptedWorld([{ fail: 'The line is dead.' }, { text: 'Hello.' }]);
  await expect(way.ask({ model, messages: [user('Hi')], ...named('m1') })).rejects.toThrow('line');
  await way.ask({ model, messages: [user('Hi')], ...named('m2') });
  expect((await agent.thread('t')).messages.map(({ role }) => role)).toEqual([
    'user',
    'user',
    'assistant',
  ]);
});

test.each(ways)(
  '$name: a message that failed before, in the prompt of the next, is not recorded twice',
  async (way) => {
    const { model, agent } = scriptedWorld([{ fail: 'The line is dead.' }, { text: 'Hello.' }]);
    await expect(way.ask({ model, messages: [user('Hi')], ...named('m1') })).rejects.toThrow(
      'line',
    );
    const messages = [user('Hi'), user('Hello?')];
    expect((await way.ask({ model, messages, ...named('m2') })).text).toBe('Hello.');
    expect((await agent.thread('t')).messages.map(({ role }) => role)).toEqual([
      'user',
      'user',
      'assistant',
    ]);
  },
);

test.each(ways)(
  '$name: answers beside a message are taken with it, and do no harm when both come again',
  async (way) => {
    const { model, ran, agent } = scriptedWorld([
      { calls: [book('c1', 'Paris')] },
      { text: 'Booked.' },
      { text: 'Bye.' },
    ]);
    const { content } = await way.ask({ model, messages: [user('Book')], ...named('m1') });
    const [requestId = ''] = requestsIn(content);
    const answers = [{ type: 'approval-response', requestId, approved: true }];
    const asked = { model, messages: [user('Yes')], ...named('m2', { answers }) };
    expect((await way.ask(asked)).text).toBe('Booked.');
    await way.ask({ model, messages: [user('Thanks')], ...named('m3') });
    const { revision } = await agent.thread('t');
    expect((await way.ask(asked)).text).toBe('Booked.');
    expect((await agent.thread('t')).revision).toBe(revision);
    expect(ran).toHaveLength(1);
  },
);

test.each(ways)(
  '$name: another text under the id, or the same by somebody else, is refused and changes nothing',
  async (way) => {
    const { model, agent, played } = scriptedWorld([{ text: 'Paris.' }, { text: 'In May.' }]);
    const ada = { model, messages: [user('Where?')], ...named('m1', { principal: 'ada' }) };
    const first = await way.ask(ada);
    const { revision } = await agent.thread('t');
    const providerOptions = { holdpoint: { messageId: 'm1' } };
    const inMessage = { ...user('Pay eve'), providerOptions };
    for (const asked of [
      { ...ada, messages: [user('Pay eve')] },
      { ...ada, messages: [...ada.messages, ...first.responseMessages, user('Pay eve')] },
      { model, messages: [inMessage], ...ofThread('t', { principal: 'ada' }) },
      { ...ada, ...named('m1', { principal: 'eve' }) },
    ]) {
      expect(await errorCode(way.ask(asked))).toBe('invalid-input');
    }
    expect((await agent.thread('t')).revision).toBe(revision);
    expect(said(await way.ask(ada))).toEqual(said(first));
    expect(played.requests).toBe(1);
  },
);

test.each(ways)('$name: an invalid id is refused, and nothing is recorded', async (way) => {
  const { model, store } = scriptedWorld([{ text: 'Hello.' }]);
  for (const messageId of ['', 'x'.repeat(257), 7]) {
    const asked = { model, messages: [user('Hi')], ...ofThread('t', { messageId }) };
    expect(await errorCode(way.ask(asked))).toBe('invalid-input');
  }
  expect(await store.read('t')).toEqual([]);
});

/** A model whose one answer cites, draws, and is cut off. */
function citingModel() {
  const source = {
    type: 'source',
    sourceType: 'url',
    id: 's',
    url: 'https://a.test',
    title: 'A',
  } as const;
  const file = {
    type: 'file',
    mediaType: 'image/png',
    data: { type: 'data', data: 'aGk=' },
  } as const;
  const search = { toolCallId: 'p1', toolName: 'search', dynamic: true } as const;
  const call = {
    type: 'tool-call',
    ...search,
    input: '{"q":"a"}',
    providerExecuted: true,
  } as const;
  const result = { type: 'tool-result', ...search, result: { hits: 2 } } as const;
  const end = {
    usage: {
      inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 10, text: 10, reasoning: undefined },
    },
    finishReason: { unified: 'length' as const, raw: undefined },
    providerMetadata: { acme: { cacheHits: 3 } },
  };
  const response = { id: 'resp_1', modelId: 'acme-1' };
  const answers: StreamPart[][] = [
    [...textParts('0', 'See.'), call, result, source, file, { type: 'finish', ...end }],
  ];
  return new MockLanguageModelV4({
    async doGenerate() {
      answers.pop();
      const content = [{ type: 'text', text: 'See.' } as const, call, result, source, file];
      return { content, ...end, response, warnings: [] };
    },
    async doStream() {
      const parts = answers.pop() ?? [];
      const stream = simulateReadableStream<StreamPart>({
        chunks: [{ type: 'response-metadata', ...response }, ...parts],
      });
      return { stream };
    },
  });
}

test.each(ways)(
  '$name: what a model cited and drew, what its provider ran and noted, are in the recorded reply',
  async (way) => {
    const { model, agent } = heldWorld({ model: citingModel() });
    const asked = { model, messages: [user('Show')], ...named('m1') };
    const first = await way.ask(asked);
    const again = await way.ask(asked);
    expect(kinds(again)).toEqual(['file', 'source', 'text', 'tool-call', 'tool-result']);
    expect(kinds(first)).toEqual(kinds(again));
    expect([again.text, again.finishReason]).toEqual(['See.', 'length']);
    expect(again.providerMetadata).toMatchObject({
      acme: { cacheHits: 3 },
      holdpoint: { status: 'completed' },
    });
    expect((await agent.thread('t')).messages).toHaveLength(2);
  },
);

const kinds = ({ content }: Got): string[] => content.map(({ type }) => type).toSorted();

test('what is asked for as an object is read from the last step of the recorded reply', async () => {
  const { model } = scriptedModel([
    { text: 'Let me see.', calls: [look('c1', 'Rome')] },
    { text: '{"city":"Rome"}' },
  ]);
  const held = heldWorld({ model }).model;
  const ask = async () =>
    generateText({
      model: held,
      prompt: 'Look',
      output: Output.object({ schema: z.object({ city: z.string() }) }),
      ...named('m1'),
    });
  expect((await ask()).output).toEqual({ city: 'Rome' });
  expect((await ask()).output).toEqual({ city: 'Rome' });
});

describe.each(pickCases(ways))(
  '$name: a message that is sent again after its run failed on the way',
  (way) => {
    test.each([
      ['by its id', { messageId: 'm1' }],
      ['by its words', {}],
    ])('gets the whole reply, what was recorded before too: %s', async (_, more) => {
      const { model, ran, agent } = scriptedWorld([
        { text: 'I look. ', calls: [look('c1', 'Rome')] },
        { fail: 'The line is dead.' },
        { text: 'Seen.' },
      ]);
      const asked = { model, messages: [user('Look')], ...ofThread('t', more) };
      await expect(way.ask(asked)).rejects.toThrow('The line is dead.');
      const got = await way.ask(asked);
      expect(got.text).toBe('I look. Seen.');
      expect(got.content.map(({ type }) => type)).toEqual([
        'text',
        'tool-call',
        'tool-result',
        'text',
      ]);
      expect(ran).toHaveLength(1);
      expect((await agent.thread('t')).messages).toHaveLength(4);
    });

    test('gets the open requests and the text before them', async () => {
      const { model, ran } = scriptedWorld([
        { text: 'I look. ', calls: [look('c1', 'Rome')] },
        { fail: 'The line is dead.' },
        { text: 'I book. ', calls: [book('c2', 'Paris')] },
      ]);
      const asked = { model, messages: [user('Book')], ...ofThread() };
      await errorCode(way.ask(asked));
      const got = await way.ask(asked);
      const again = await way.ask(asked);
      expect(got.text).toBe('I look. I book. ');
      expect(partsSaid(again)).toEqual(partsSaid(got));
      expect(requestsIn(again.content)).toEqual(requestsIn(got.content));
      expect(ran).toHaveLength(1);
    });
  },
);

test.each(ways)(
  '$name: the id may be in the message itself, where an app keeps its history so',
  async (way) => {
    const { model, agent, played } = scriptedWorld([{ text: 'Paris.' }]);
    const providerOptions = { holdpoint: { messageId: 'm1' } };
    const messages = [{ ...user('Where?'), providerOptions }];
    const first = await way.ask({ model, messages, ...ofThread() });
    expect(said(await way.ask({ model, messages, ...ofThread() }))).toEqual(said(first));
    expect((await agent.thread('t')).messages).toHaveLength(2);
    expect(played.requests).toBe(1);
  },
);

test.each(ways)(
  '$name: an answer that is sent again after its run failed gets the result and all that followed',
  async (way) => {
    const { model, ran } = scriptedWorld([
      { calls: [book('c1', 'Paris')] },
      { text: 'Booked. ', calls: [look('c2', 'Rome')] },
      { fail: 'The line is dead.' },
      { text: 'Seen.' },
      { text: 'Bye.' },
    ]);
    const messages: ModelMessage[] = [user('Book')];
    const asked = await way.ask({ model, messages, ...ofThread() });
    messages.push(...asked.responseMessages, answering(requestsIn(asked.content)));
    await expect(way.ask({ model, messages, ...ofThread() })).rejects.toThrow('The line is dead.');
    const got = await way.ask({ model, messages, ...ofThread() });
    expect([got.text, results(got)]).toEqual(['Booked. Seen.', ['c1', 'c2']]);
    const later = await way.ask({ model, messages: [...messages, user('Thanks')], ...ofThread() });
    expect([later.text, results(later)]).toEqual(['Bye.', []]);
    const again = await way.ask({ model, messages, ...ofThread() });
    expect([again.text, results(again)]).toEqual(['Booked. Seen.', ['c1', 'c2']]);
    expect(ran.map(({ name }) => name)).toEqual(['book', 'look']);
  },
);
