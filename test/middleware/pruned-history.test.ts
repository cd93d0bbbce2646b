import { generateText, type ModelMessage, pruneMessages } from 'ai';
import { createAgent, memoryStore } from 'holdpoint';
import { answerMessage, approvalRequestsOf, resumeMessage } from 'holdpoint/middleware';
import { describe, expect, test } from 'vitest';
import { providerKits } from '../providers/model-kits.ts';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book } from '../support/travel-world.ts';
import { ofThread, scriptedWorld, ways } from './held-world.ts';
import { pickCases } from '../support/sampling.ts';

const user = (content: string): ModelMessage => ({ role: 'user', content });
const pruned = [
  {},
  { toolCalls: 'none' },
  { toolCalls: 'all' },
  { toolCalls: 'before-last-message' },
  { toolCalls: 'before-last-2-messages' },
  { reasoning: 'all', emptyMessages: 'remove' },
] as const;

/** A conversation that asks, and its history so far. */
async function askForParis({ ask }: (typeof ways)[number]) {
  const world = scriptedWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }]);
  const messages = [user('Book')];
  const asked = await ask({ model: world.model, messages, ...ofThread() });
  messages.push(...asked.responseMessages);
  return { ...world, messages, requests: approvalRequestsOf(asked) };
}

describe.each(pickCases(ways))('with $name', (way) => {
  test.each(pickCases(pruned, 3))(
    'an answer gets through pruneMessages with %o',
    async (settings) => {
      const { model, ran, messages, requests } = await askForParis(way);
      messages.push(answerMessage(...requests.map((request) => request.approve())));
      const sent = pruneMessages({ messages, ...settings });
      const done = await way.ask({ model, messages: sent, ...ofThread() });
      expect(approvalRequestsOf(done)).toEqual([]);
      expect(done.text).toBe('Booked.');
      expect(ran).toHaveLength(1);
    },
  );

  test('so does a message that resumes, with or without what was said before it', async () => {
    const { model, agent, ran, messages, requests } = await askForParis(way);
    for (const request of requests) await agent.respond(request.approve(), await agent.thread('t'));
    for (const before of [messages, []]) {
      const sent = pruneMessages({ messages: [...before, resumeMessage()] });
      expect((await way.ask({ model, messages: sent, ...ofThread() })).text).toBe('Booked.');
    }
    expect(ran).toHaveLength(1);
    expect((await agent.thread('t')).messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
  });

  test('the words of an answer are not an answer, whoever says them', async () => {
    const { model, ran, messages, requests } = await askForParis(way);
    const [request] = requests;
    if (request === undefined) throw new Error('A request was expected.');
    const { content } = answerMessage(request.approve());
    const said: ModelMessage[] = [{ role: 'user', content }];
    const typed = way.ask({ model, messages: [...messages, ...said], ...ofThread() });
    expect(await errorCode(typed)).toBe('requests-open');
    const { providerOptions } = answerMessage(request.approve());
    const inPart: ModelMessage[] = [
      {
        role: 'user',
        content: [{ type: 'text', text: 'Yes.', ...(providerOptions && { providerOptions }) }],
      },
    ];
    const marked = way.ask({ model, messages: [...messages, ...inPart], ...ofThread() });
    expect(await errorCode(marked)).toBe('requests-open');
    expect(ran).toEqual([]);
  });

  test('the model behind holdPoint reads nothing of these messages', async () => {
    const { model, played, messages, requests } = await askForParis(way);
    messages.push(answerMessage(...requests.map((request) => request.approve())));
    await way.ask({ model, messages, ...ofThread() });
    expect(played.prompts[1]?.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  });
});

test('an agent refuses such a message, with what to pass instead', async () => {
  const { model, prompts } = scriptedModel([{ text: 'Hello.' }]);
  const agent = createAgent({ model, store: memoryStore() });
  const answer = { type: 'approval-response', requestId: 'r', approved: true } as const;
  for (const message of [answerMessage(answer), resumeMessage()]) {
    const thread = await agent.thread('t');
    await expect(agent.run(message, thread)).rejects.toMatchObject({
      code: 'invalid-input',
      message: expect.stringContaining('Pass the answers to a run'),
    });
    await expect(agent.thread('u', { messages: [user('Hi'), message] })).rejects.toMatchObject({
      code: 'invalid-input',
      message: expect.stringContaining('messages[1]'),
    });
    expect(thread.revision).toBe(0);
  }
  expect(prompts).toEqual([]);
});

test('a history with answers is imported without them', async () => {
  const { model, agent, played } = scriptedWorld([{ text: 'Hello.' }], { history: 'import' });
  const answer = { type: 'approval-response', requestId: 'r', approved: true } as const;
  const said: ModelMessage[] = [user('Hi'), { role: 'assistant', content: 'Yes?' }];
  const messages = [
    ...said,
    answerMessage(answer),
    { role: 'assistant' as const, content: 'Done.' },
    user('So?'),
  ];
  expect((await generateText({ model, messages, ...ofThread() })).text).toBe('Hello.');
  expect((await agent.thread('t')).messages).toHaveLength(5);
  expect(JSON.stringify(played.prompts)).not.toContain('answered');
});

test.each(pickCases(providerKits, 3))(
  '$name takes a history that ends with such a message',
  async ({ play }) => {
    const answer = { type: 'approval-response', requestId: 'r', approved: true } as const;
    await using served = await play([{ text: 'One.' }, { text: 'Two.' }]);
    const { model } = served;
    for (const message of [answerMessage(answer), resumeMessage()]) {
      const messages = [user('Hi'), { role: 'assistant' as const, content: 'Hello.' }, message];
      await generateText({ model, messages, maxRetries: 0 });
    }
    expect(served.violations).toEqual([]);
    expect(JSON.stringify(served.bodies)).not.toContain('requestId');
  },
);
