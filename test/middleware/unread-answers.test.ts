import { generateText, type ModelMessage, streamText } from 'ai';
import { answerMessage, approvalRequestsOf, inertTools, resumeMessage } from 'holdpoint/middleware';
import { describe, expect, test } from 'vitest';
import { book } from '../support/travel-world.ts';
import { answering, ofThread, requestsIn, scriptedWorld } from './held-world.ts';
import { pickCases } from '../support/sampling.ts';

const user = (content: string): ModelMessage => ({ role: 'user', content });

/** A call whose result has warnings. */
interface Call {
  model: ReturnType<typeof scriptedWorld>['model'];
  tools?: ReturnType<typeof scriptedWorld>['tools'];
  messages: ModelMessage[];
}

const ways = [
  {
    name: 'generateText',
    ask: async (call: Call) => generateText({ maxRetries: 0, ...call, ...ofThread() }),
  },
  {
    name: 'streamText',
    async ask(call: Call) {
      const result = streamText({ maxRetries: 0, ...call, ...ofThread() });
      const [content, warnings, text, responseMessages, providerMetadata] = await Promise.all([
        result.content,
        result.warnings,
        result.text,
        result.responseMessages,
        result.providerMetadata,
      ]);
      return { content, warnings, text, responseMessages, providerMetadata };
    },
  },
];

/** A thread that asks, and the history so far. */
async function askForParis(ask: (typeof ways)[number]['ask']) {
  const world = scriptedWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const { model } = world;
  const tools = inertTools(world.tools);
  const messages = [user('Book')];
  const asked = await ask({ model, tools, messages });
  expect(asked.warnings).toEqual([]);
  messages.push(...asked.responseMessages);
  const go = async (...more: ModelMessage[]) =>
    ask({ model, tools, messages: [...messages, ...more] });
  return { ...world, go, asked, ids: requestsIn(asked.content) };
}

/** The answer as the AI SDK's documentation writes it. */
const plainly = (ids: string[], approved: boolean): ModelMessage => ({
  role: 'tool',
  content: ids.map((approvalId) => ({ type: 'tool-approval-response', approvalId, approved })),
});

describe.each(pickCases(ways))('with $name', ({ ask }) => {
  test('a yes that the AI SDK leaves out of the prompt is warned of, with both ways to answer', async () => {
    const { go, ids, ran } = await askForParis(ask);
    const again = await go(plainly(ids, true));
    expect(again.warnings).toEqual([
      {
        type: 'other',
        message:
          'The prompt has no new message and no answer that counts, and thread t waits for 1 answer(s). End the messages ' +
          'with answerMessage(request.approve()) for a request of approvalRequestsOf(result), or with a tool-approval-response part that has ' +
          'providerExecuted: true. Without it, the AI SDK leaves the part out of the prompt; under an approvalId from before a vote, a yes has no effect.',
      },
    ]);
    expect(approvalRequestsOf(again)).toHaveLength(1);
    expect(ran).toEqual([]);
  });

  test('so is a prompt that brings nothing at all', async () => {
    const { go } = await askForParis(ask);
    expect((await go()).warnings).toHaveLength(1);
  });

  test('both ways of the warning answer, without a warning', async () => {
    for (const way of ['part', 'message'] as const) {
      const { go, ids, asked, ran } = await askForParis(ask);
      const approvals = approvalRequestsOf(asked).map((request) => request.approve());
      const done = await go(way === 'part' ? answering(ids) : answerMessage(...approvals));
      expect([done.text, done.warnings]).toEqual(['Done.', []]);
      expect(ran).toHaveLength(1);
    }
  });

  test('a message that is sent again because its reply was lost, and one that resumes, are not warned of', async () => {
    const { model, go } = await askForParis(ask);
    expect((await ask({ model, messages: [user('Book')] })).warnings).toEqual([]);
    expect((await go(resumeMessage())).warnings).toEqual([]);
  });

  test('a thread where nothing is open is not warned of', async () => {
    const { go, ids } = await askForParis(ask);
    const done = await go(answering(ids));
    const again = await go(answering(ids), ...done.responseMessages);
    expect(again.warnings).toEqual([]);
  });
});

test('a no in the AI SDK’s own words is an answer of generateText, with its reason', async () => {
  const [way] = ways;
  if (way === undefined) throw new Error('A way was expected.');
  const { go, ids, ran, played, agent } = await askForParis(way.ask);
  const done = await go({
    role: 'tool',
    content: ids.map((approvalId) => ({
      type: 'tool-approval-response',
      approvalId,
      approved: false,
      reason: 'too dear',
    })),
  });
  expect([done.text, done.warnings]).toEqual(['Done.', []]);
  expect(ran).toEqual([]);
  expect((await agent.thread('t')).calls).toMatchObject([{ status: 'denied' }]);
  const output = { type: 'execution-denied', reason: 'too dear' };
  expect(played.prompts[1]?.at(-1)).toMatchObject({ content: [{ toolCallId: 'c1', output }] });
});
