import { generateText, type ModelMessage, wrapLanguageModel } from 'ai';
import { holdPoint, inertTools } from 'holdpoint/middleware';
import { expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book, look, memoryWorld, travelTools } from '../support/travel-world.ts';

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

const booking = [{ calls: [book('c1', 'Rome')] }];

function holding(
  history?: 'refuse' | 'import',
  script: Parameters<typeof memoryWorld>[0] = booking,
) {
  const world = memoryWorld(script);
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
  return { world, model, send };
}

test('a history for a new thread is refused by default, and nothing is written', async () => {
  const { world, send } = holding();
  expect(await errorCode(send([...done, { role: 'user', content: 'Again' }]))).toBe(
    'invalid-input',
  );
  expect((await world.agent().thread('t')).revision).toBe(0);
});

test('with history: import the thread begins with it, and a repeated call asks', async () => {
  const { world, send } = holding('import');
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

test('answers in an imported history are not warned of later', async () => {
  const { send } = holding('import', [{ text: 'One.' }, { text: 'Two.' }]);
  const request = { type: 'tool-approval-request', approvalId: 'a1', toolCallId: 'c1' } as const;
  const asked = done.map((message) =>
    message.role === 'assistant' && typeof message.content !== 'string'
      ? { ...message, content: [...message.content, request] }
      : message,
  );
  const yes = {
    type: 'tool-approval-response',
    approvalId: 'a1',
    approved: true,
    providerExecuted: true,
  } as const;
  const answered = asked.map((message) =>
    message.role === 'tool' ? { ...message, content: [yes, ...message.content] } : message,
  );
  const messages = [...answered, { role: 'user', content: 'And?' } as const];
  const first = await send(messages);
  const more = { role: 'user', content: 'More?' } as const;
  const second = await send([...messages, ...first.response.messages, more]);
  expect([first.warnings ?? [], second.warnings ?? []]).toEqual([[], []]);
});

test('what the AI SDK decides by itself after an imported history is warned of', async () => {
  const script = [{ calls: [look('c2', 'Rome')] }, { text: 'One.' }, { text: 'Two.' }];
  const world = memoryWorld(script);
  const tools = travelTools(world.ran);
  const ruled = { tools, toolApproval: () => 'approved' as const, store: world.store };
  const middleware = holdPoint({ ...ruled, history: 'import' });
  const model = wrapLanguageModel({ model: world.played.model, middleware });
  const toolApproval = { look: 'denied' as const };
  const providerOptions = { holdpoint: { threadId: 't' } };
  const held = { model, tools: inertTools(tools), maxRetries: 0, toolApproval, providerOptions };
  const start: ModelMessage[] = [...done, { role: 'user', content: 'Look' }];
  const first = await generateText({ ...held, messages: start });
  const more: ModelMessage = { role: 'user', content: 'And now?' };
  const messages = [...start, ...first.response.messages, more];
  expect((await generateText({ ...held, messages })).warnings).toHaveLength(1);
});

test('messages of the user alone are no history', async () => {
  const { world, send } = holding(undefined, [{ text: 'Hi.' }]);
  await send([
    { role: 'user', content: 'Lost' },
    { role: 'user', content: 'Hello?' },
  ]);
  expect((await world.agent().thread('t')).messages).toHaveLength(3);
});

test('after an imported reply, a message with the words of an earlier one is a new one', async () => {
  const { world, send } = holding('import', [{ text: 'Hi.' }]);
  await send([...done, { role: 'user', content: 'Book Rome' }]);
  const { messages } = await world.agent().thread('t');
  expect(messages.slice(4).map(({ role }) => role)).toEqual(['user', 'assistant']);
});

test('after a death between the import and the run, the prompt can be sent again', async () => {
  const { world, model } = holding('import');
  const answer = { type: 'tool-approval-response', approvalId: 'a1', approved: true } as const;
  const send = async () =>
    model.doGenerate({
      prompt: [
        { role: 'user', content: [{ type: 'text', text: 'Book Rome' }] },
        { role: 'assistant', content: [call] },
        { role: 'tool', content: [answer] },
      ],
      providerOptions: { holdpoint: { threadId: 't' } },
    });
  const append = world.store.append.bind(world.store);
  world.store.append = async (threadId, end, ...more) => {
    if (end.revision > 0) throw new Error('killed');
    return append(threadId, end, ...more);
  };
  await expect(send()).rejects.toThrow('killed');
  world.store.append = append;
  expect((await world.agent().thread('t')).revision).toBe(2);
  await send();
  const thread = await world.agent().thread('t');
  expect([thread.activeApprovalRequests.length, world.ran]).toEqual([1, []]);
});

test('what can’t be kept is refused with its position in the prompt', async () => {
  const { world, send } = holding('import');
  const provided = { ...call, providerExecuted: true };
  const work = send([
    { role: 'user', content: 'Book Rome' },
    { role: 'assistant', content: [{ type: 'text', text: 'On it' }, provided] },
    { role: 'user', content: 'And?' },
  ]);
  await expect(work).rejects.toThrow(/prompt\[1\]\.content\[1\]: the call c1 has no result/);
  expect((await world.agent().thread('t')).revision).toBe(0);
});

test('an invalid history option is refused when the middleware is created', () => {
  // @ts-expect-error -- JavaScript may pass anything.
  expect(() => holdPoint({ tools: {}, history: 'keep' })).toThrow(TypeError);
});
