import { generateText, type ModelMessage } from 'ai';
import { answerMessage, approvalRequestsOf, inertTools, plainMessages } from 'holdpoint/middleware';
import { describe, expect, test } from 'vitest';
import { providerKits } from '../providers/model-kits.ts';
import { book, look } from '../support/travel-world.ts';
import {
  answering,
  heldWorld,
  modelOf,
  ofThread,
  conversation,
  requestsIn,
  scriptedWorld,
  ways,
  type Way,
} from './held-world.ts';
import { pickCases } from '../support/sampling.ts';

const user = (content: string): ModelMessage => ({ role: 'user', content });
const script = [
  { text: 'Let me see.', calls: [look('c0', 'Rome'), book('c1', 'Paris')] },
  { calls: [{ id: 'c2', name: 'fail', input: { city: 'Nice' } }] },
  { text: 'Booked.' },
];

/** A held conversation while it asks, and after the answer. */
async function converse(
  way: Way,
  answer: (asked: Awaited<ReturnType<Way['ask']>>) => ModelMessage,
) {
  const { model, tools, ran } = scriptedWorld(script);
  const { say, go, messages } = conversation(way, { model, tools: inertTools(tools) });
  const asked = await say('Book');
  const open = [...messages];
  await go(answer(asked));
  return { open, messages, tools, ran };
}

const answers = {
  'a part that approves': ({ content }: Awaited<ReturnType<Way['ask']>>) =>
    answering(requestsIn(content)),
  'a part that rejects': ({ content }: Awaited<ReturnType<Way['ask']>>) =>
    answering(requestsIn(content), { approved: false, reason: 'too dear' }),
  'a message that approves': (asked: Awaited<ReturnType<Way['ask']>>) =>
    answerMessage(...approvalRequestsOf(asked).map((request) => request.approve())),
};

describe.each(pickCases(ways))('with $name', (way) => {
  describe.each(Object.entries(answers))('and %s', (_, answer) => {
    test.each(pickCases(providerKits))(
      '$name takes the messages, also while a call waits',
      async ({ play }) => {
        const { open, messages, tools } = await converse(way, answer);
        await using served = await play([{ text: 'One.' }, { text: 'Two.' }]);
        for (const history of [open, messages]) {
          await generateText({
            model: served.model,
            messages: [...plainMessages(history), user('Write a title.')],
            tools: inertTools(tools),
            maxRetries: 0,
          });
        }
        expect(served.violations).toEqual([]);
      },
    );
  });

  test('each call is there once, with its result after it', async () => {
    const { open, messages } = await converse(way, answers['a part that approves']);
    const plain = plainMessages(messages);
    const calls = plain.flatMap(({ role, content }) =>
      typeof content === 'string'
        ? [content]
        : content.map((part) =>
            `${role}: ${part.type} ${'toolCallId' in part ? part.toolCallId : ''}`.trim(),
          ),
    );
    expect(calls).toEqual([
      'Book',
      'assistant: text',
      'assistant: tool-call c0',
      'assistant: tool-call c1',
      'tool: tool-result c0',
      'tool: tool-result c1',
      'assistant: tool-call c2',
      'tool: tool-result c2',
      'assistant: text',
    ]);
    const [waiting] = plainMessages(open).flatMap(({ role, content }) =>
      role === 'tool' && typeof content !== 'string' ? content.slice(-1) : [],
    );
    expect(waiting).toMatchObject({
      toolCallId: 'c1',
      output: { type: 'error-text', value: 'There is no result of this call.' },
    });
    expect(plainMessages(plain)).toEqual(plain);
  });

  test('another thread can begin with them', async () => {
    const { open, messages } = await converse(way, answers['a message that approves']);
    const { agent } = scriptedWorld([]);
    for (const [id, history] of [open, messages].entries()) {
      const plain = plainMessages(history);
      const { messages: imported, calls } = await agent.thread(`t${id}`, { messages: plain });
      expect(imported).toHaveLength(plain.length);
      expect(calls).toEqual([]);
    }
  });
});

test.each(pickCases(providerKits))(
  '$name takes what a thread behind holdPoint imported from such a loop',
  async ({ play }) => {
    const [way] = ways;
    if (way === undefined) throw new Error('A way was expected.');
    for (const part of ['open', 'messages'] as const) {
      const { [part]: history, tools } = await converse(way, answers['a message that approves']);
      await using served = await play([{ text: 'One.' }]);
      const { model } = heldWorld({ model: modelOf(served) }, { history: 'import' });
      const messages = [...history, user('And now?')];
      const { text } = await way.ask({
        model,
        tools: inertTools(tools),
        messages,
        ...ofThread('new'),
      });
      expect(text).toBe('One.');
      expect(served.violations).toEqual([]);
    }
  },
);

test('calls of the provider and of another loop stay as they are', () => {
  const call = { type: 'tool-call', toolCallId: 's1', toolName: 'web_search', input: {} } as const;
  const output = { type: 'text', value: 'found' } as const;
  const result = { type: 'tool-result', toolCallId: 's1', toolName: 'web_search', output } as const;
  const messages: ModelMessage[] = [
    user('Search'),
    { role: 'assistant', content: [{ ...call, providerExecuted: true }, result] },
    { role: 'assistant', content: [call] },
    { role: 'tool', content: [result] },
    { role: 'assistant', content: 'Found.' },
  ];
  expect(plainMessages(messages)).toEqual(messages);
});

test('calls of two threads with one id keep their own results, in their places', async () => {
  const messages: ModelMessage[] = [];
  for (const city of ['Paris', 'Rome']) {
    const steps = [{ calls: [book('call_0', city)] }, { text: 'Booked.' }];
    const at = scriptedWorld(steps, { toolApproval: () => 'approved' });
    const said: ModelMessage = { role: 'user', content: `Book ${city}` };
    const tools = inertTools(at.tools);
    const call = { model: at.model, tools, messages: [said], maxRetries: 0, ...ofThread(city) };
    const { response } = await generateText(call);
    messages.push(said, ...response.messages);
  }
  const shown = plainMessages(messages).flatMap(({ role, content }) =>
    (role === 'assistant' || role === 'tool') && typeof content !== 'string' ? [...content] : [],
  );
  const ofCalls = shown.flatMap((part) => {
    if (part.type === 'tool-call') return [JSON.stringify(part.input)];
    return part.type === 'tool-result' ? [JSON.stringify(part.output)] : [];
  });
  expect(ofCalls).toHaveLength(4);
  for (const [index, text] of ofCalls.entries())
    expect(text).toContain(index < 2 ? 'Paris' : 'Rome');
});

const resultOf = (toolName: string, value: string) =>
  ({
    type: 'tool-result',
    toolCallId: 'call_0',
    toolName,
    output: { type: 'text', value },
  }) as const;

test('a call of another loop with the id of a held one keeps its own result', () => {
  const call = { type: 'tool-call', toolCallId: 'call_0', input: {} } as const;
  const before: ModelMessage[] = [
    { role: 'user', content: 'Look' },
    { role: 'assistant', content: [{ ...call, toolName: 'look' }] },
    { role: 'tool', content: [resultOf('look', 'sunny')] },
    { role: 'assistant', content: 'Sunny.' },
  ];
  const held = {
    ...call,
    toolName: 'book',
    providerExecuted: true,
    providerOptions: { holdpoint: { held: true } },
  };
  const messages: ModelMessage[] = [
    ...before,
    { role: 'assistant', content: [held, resultOf('book', 'booked')] },
  ];
  expect(plainMessages(messages)).toMatchObject([
    ...before,
    { role: 'assistant', content: [{ toolName: 'book' }] },
    { role: 'tool', content: [resultOf('book', 'booked')] },
  ]);
});
