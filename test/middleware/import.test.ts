import { generateText, type ModelMessage, wrapLanguageModel } from 'ai';
import { holdPoint, inertTools } from 'holdpoint/middleware';
import { expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book, memoryWorld, travelTools } from '../support/travel-world.ts';

const call = {
  type: 'tool-call',
  toolCallId: 'c1',
  toolName: 'book',
  input: { city: 'Rome' },
} as const;
const done: ModelMessage[] = [
  { role: 'user', content: 'Book Rome' },
  { role: 'assistant', content: [call] },
  {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: 'c1',
        toolName: 'book',
        output: { type: 'text', value: 'ok' },
      },
    ],
  },
  { role: 'assistant', content: 'Booked.' },
];

function held(history?: 'refuse' | 'import') {
  const world = memoryWorld([{ calls: [book('c1', 'Rome')] }]);
  const tools = travelTools(world.ran);
  const options = { tools, toolApproval: { book: 'user-approval' }, store: world.store } as const;
  const model = wrapLanguageModel({
    model: world.played.model,
    middleware: holdPoint({ ...options, ...(history && { history }) }),
  });
  const send = async (messages: ModelMessage[]) =>
    generateText({
      model,
      tools: inertTools(tools),
      messages,
      maxRetries: 0,
      providerOptions: { holdpoint: { threadId: 't', principal: 'ann' } },
    });
  return { world, send };
}

test('a history for a new thread is refused by default, and nothing is written', async () => {
  const { world, send } = held();
  expect(await errorCode(send([...done, { role: 'user', content: 'Again' }]))).toBe(
    'invalid-input',
  );
  expect((await world.agent().thread('t')).revision).toBe(0);
});

test('with history: import the thread begins with it, and a repeated call asks', async () => {
  const { world, send } = held('import');
  await send([...done, { role: 'user', content: 'Again' }]);
  const thread = await world.agent().thread('t');
  expect(thread.messages.slice(0, 4)).toMatchObject([
    { role: 'user' },
    { role: 'assistant' },
    { role: 'tool' },
    { role: 'assistant' },
  ]);
  expect(thread.events[1]).toMatchObject({ type: 'messages-imported', principal: 'ann' });
  expect([thread.activeApprovalRequests.length, world.ran]).toEqual([1, []]);
});
