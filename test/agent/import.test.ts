import type { ModelMessage, UIMessage } from 'ai';
import { expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book, memoryWorld } from '../support/travel-world.ts';

const call = (toolCallId: string, more: object = {}) =>
  ({ type: 'tool-call', toolCallId, toolName: 'book', input: { city: 'Rome' }, ...more }) as const;
const result = (toolCallId: string, toolName = 'book') =>
  ({
    type: 'tool-result',
    toolCallId,
    toolName,
    output: { type: 'json', value: { booked: 'Rome' } },
  }) as const;
const request = (approvalId: string, toolCallId: string) =>
  ({ type: 'tool-approval-request', approvalId, toolCallId }) as const;
const answer = (approvalId: string, approved = true) =>
  ({ type: 'tool-approval-response', approvalId, approved }) as const;

const conversation: ModelMessage[] = [
  { role: 'user', content: 'Book Rome' },
  { role: 'assistant', content: [call('c1'), request('a1', 'c1')] },
  { role: 'tool', content: [answer('a1')] },
  { role: 'tool', content: [result('c1')] },
  { role: 'assistant', content: [{ type: 'text', text: 'Booked Rome.' }] },
];

const messageOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    (error: Error) => error.message,
  );

test('a thread begins with the conversation, recorded with who and when, and goes on with it', async () => {
  const world = memoryWorld([{ text: 'You are welcome.' }]);
  const agent = world.agent();
  const thread = await agent.thread('t', {
    messages: conversation,
    principal: 'ana',
    channel: 'migration',
  });
  expect(thread.events.map(({ type }) => type)).toEqual(['thread-created', 'messages-imported']);
  expect(thread.events[1]).toMatchObject({ principal: 'ana', channel: 'migration' });
  expect(thread.events[1]?.at).toBeTypeOf('number');
  const elsewhere = await world.agent().thread('t');
  expect(elsewhere.messages).toEqual(conversation);
  expect([elsewhere.status, elsewhere.nextDeadline, elsewhere.calls]).toEqual([
    'idle',
    undefined,
    [],
  ]);
  const { text } = await agent.run('Thanks', elsewhere.revision === 2 ? thread : elsewhere);
  expect([text, thread.messages.length, world.ran]).toEqual(['You are welcome.', 7, []]);
});

test('a conversation that ends with the user or a tool is answered by run([])', async () => {
  for (const length of [1, 4]) {
    const world = memoryWorld([{ text: 'Here I am.' }]);
    const agent = world.agent();
    const thread = await agent.thread('t', { messages: conversation.slice(0, length) });
    expect(world.requests()).toBe(0);
    expect(thread.nextDeadline).toBe(0);
    expect((await agent.run([], thread)).text).toBe('Here I am.');
    expect(world.ran).toEqual([]);
  }
});

test('the same import opens the thread, also after it went on; another one is refused', async () => {
  const world = memoryWorld([{ text: 'Ok.' }]);
  const agent = world.agent();
  const thread = await agent.thread('t', { messages: conversation });
  await agent.run('Thanks', thread);
  const again = await agent.thread('t', { messages: conversation });
  expect(again.revision).toBe(thread.revision);
  const other = agent.thread('t', { messages: conversation.slice(0, 1) });
  expect(await errorCode(other)).toBe('thread-diverged');
  const plain = await agent.thread('plain');
  await agent.requestApproval(plain, { text: 'Go?' });
  expect(await errorCode(agent.thread('plain', { messages: conversation }))).toBe(
    'thread-diverged',
  );
});

test('two importers at one moment import once', async () => {
  const world = memoryWorld([]);
  const threads = await Promise.all(
    [1, 2, 3, 4].map(async () => world.agent().thread('t', { messages: conversation })),
  );
  expect(threads.map(({ revision }) => revision)).toEqual([2, 2, 2, 2]);
  const rivals = [conversation, conversation.slice(0, 1)];
  const codes = await Promise.all(
    rivals.map(async (messages) => errorCode(world.agent().thread('u', { messages }))),
  );
  expect(codes.toSorted((one, other) => (String(one) < String(other) ? -1 : 1))).toEqual([
    'no error',
    'thread-diverged',
  ]);
});

test('an import that fails to be written leaves no thread', async () => {
  const world = memoryWorld([]);
  const append = world.store.append.bind(world.store);
  let isDown = true;
  world.store.append = async (threadId, end, written, ...more) => {
    expect(written).toHaveLength(1);
    if (isDown) throw new Error('killed');
    return append(threadId, end, written, ...more);
  };
  await expect(world.agent().thread('t', { messages: conversation })).rejects.toThrow();
  isDown = false;
  expect((await world.agent().thread('t')).revision).toBe(0);
  expect((await world.agent().thread('t', { messages: conversation })).revision).toBe(2);
});

test('nothing imported can be answered, settled, delivered, cancelled, retracted or run', async () => {
  const world = memoryWorld([]);
  const agent = world.agent();
  const thread = await agent.thread('t', { messages: conversation });
  const approval = { type: 'approval-response', requestId: 'a1', approved: true } as const;
  expect(await errorCode(agent.run([approval], thread))).toBe('not-found');
  expect(await errorCode(agent.respond(approval, thread))).toBe('not-found');
  const done = { status: 'succeeded', output: 'x' } as const;
  expect(await errorCode(agent.settle(thread, 'c1', done))).toBe('not-found');
  expect(await errorCode(agent.settle(thread, 'c1', { status: 'retry' }))).toBe('not-found');
  expect(await errorCode(agent.deliver(thread, 'c1', done))).toBe('not-found');
  expect(await errorCode(agent.retract(thread))).toBe('not-allowed');
  await agent.cancel(thread);
  await agent.run([], thread);
  expect([thread.activeRequests, thread.calls, world.ran, world.requests()]).toEqual([
    [],
    [],
    [],
    0,
  ]);
});

test('an imported user message can’t be retracted', async () => {
  const agent = memoryWorld([]).agent();
  const thread = await agent.thread('t', { messages: conversation.slice(0, 1) });
  expect(await errorCode(agent.retract(thread))).toBe('not-allowed');
});

test('a call of the model that repeats an imported id is another call, and asks', async () => {
  const world = memoryWorld([{ calls: [book('c1', 'Rome')] }, { text: 'Booked.' }]);
  const agent = world.agent();
  const thread = await agent.thread('t', { messages: conversation });
  const waiting = await agent.run('Again', thread);
  expect(waiting.approvalRequests).toHaveLength(1);
  expect(thread.calls[0]?.toolCallId).not.toBe('c1');
  expect(world.ran).toEqual([]);
  await agent.run(
    waiting.approvalRequests.map((each) => each.approve()),
    thread,
  );
  expect(world.ran).toHaveLength(1);
});

test('open calls are refused with their position, or closed without a claim that they ran', async () => {
  const open: ModelMessage[] = [
    { role: 'user', content: 'Book' },
    { role: 'assistant', content: [call('c1'), call('c2'), request('a2', 'c2')] },
  ];
  const world = memoryWorld([{ calls: [book('c2', 'Rome')] }]);
  const agent = world.agent();
  expect(await messageOf(agent.thread('t', { messages: open }))).toContain(
    'messages[1].content[0]: the call c1 has no result',
  );
  expect((await agent.thread('t')).revision).toBe(0);
  const thread = await agent.thread('t', { messages: open, openCalls: 'close' });
  expect(thread.messages.at(-1)).toMatchObject({
    role: 'tool',
    content: [
      { toolCallId: 'c1', output: { type: 'error-text' } },
      { toolCallId: 'c2', output: { type: 'execution-denied' } },
    ],
  });
  const asked = await agent.run([], thread);
  expect([asked.approvalRequests.length, world.ran]).toEqual([1, []]);
});

test('what can’t be kept is refused with its position, and nothing is written', async () => {
  const user: ModelMessage = { role: 'user', content: 'Hi' };
  const prototype: unknown = JSON.parse('{"__proto__":{"city":"Rome"}}');
  const cases: [string, unknown[]][] = [
    ['messages[1]: the role', [user, { role: 'developer', content: 'x' }]],
    ['messages[1]: the role', [user, null]],
    ['messages[0]: a system message', [{ role: 'system', content: 'x' }]],
    ['messages[1]: the message is empty', [user, { role: 'assistant', content: [] }]],
    [
      'messages[0].content[1]: not a valid user',
      [{ role: 'user', content: [{ type: 'text', text: 'a' }, { type: 'nonsense' }] }],
    ],
    [
      'messages[0].content[0]: The file',
      [
        {
          role: 'user',
          content: [{ type: 'file', data: new URL('file:///etc/passwd'), mediaType: 'text/plain' }],
        },
      ],
    ],
    [
      'messages[1].content[0]: the result has no open call',
      [user, { role: 'tool', content: [result('c9')] }],
    ],
    [
      'messages[2].content[0]: the result has no open call',
      [
        user,
        { role: 'assistant', content: [call('c1')] },
        { role: 'tool', content: [result('c1', 'look')] },
      ],
    ],
    [
      'messages[1].content[1]: the call id c1 is repeated',
      [user, { role: 'assistant', content: [call('c1'), call('c1')] }],
    ],
    [
      'messages[3].content[0]: the call id c1 is repeated',
      [
        ...conversation.slice(0, 2),
        { role: 'tool', content: [result('c1')] },
        { role: 'assistant', content: [call('c1', { providerExecuted: true })] },
      ],
    ],
    [
      'messages[2].content[0]: no open request',
      [...conversation.slice(0, 2), { role: 'tool', content: [answer('other')] }],
    ],
    [
      'messages[4].content[0]: no open request',
      [...conversation.slice(0, 4), { role: 'tool', content: [answer('a1')] }],
    ],
    [
      'messages[1].content[0]: the input of call c1',
      [user, { role: 'assistant', content: [call('c1', { input: prototype })] }],
    ],
    ...[Number.NaN, () => 5, /5/u].map((sum): [string, unknown[]] => [
      'messages[1].content[0]: the input of call c1 has a value that JSON has no form for: "sum"',
      [user, { role: 'assistant', content: [call('c1', { input: { sum } })] }],
    ]),
    [
      'messages[1].content[0]: the call p1 has no result; remove the call',
      [
        user,
        {
          role: 'assistant',
          content: [call('p1', { providerExecuted: true }), request('pa', 'p1')],
        },
        { role: 'tool', content: [answer('pa')] },
      ],
    ],
    [
      'messages[1]: UI messages and model messages are mixed',
      [user, { id: 'm', role: 'user', parts: [] }],
    ],
    ['at least one message', []],
  ];
  const agent = memoryWorld([]).agent();
  for (const [text, messages] of cases) {
    for (const openCalls of ['refuse', 'close'] as const) {
      if (openCalls === 'close' && text.includes('c9')) continue;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JavaScript may pass anything.
      const work = agent.thread('t', { messages: messages as ModelMessage[], openCalls });
      await expect(work).rejects.toMatchObject({
        code: 'invalid-input',
        message: expect.stringContaining(text),
      });
    }
  }
  expect((await agent.thread('t')).revision).toBe(0);
});

test('UI messages are converted, keep their ids, and are not added again', async () => {
  const messages: UIMessage[] = [
    { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Book Rome' }] },
    {
      id: 'x1',
      role: 'assistant',
      parts: [
        { type: 'step-start' },
        {
          type: 'tool-book',
          toolCallId: 'c1',
          state: 'output-available',
          input: { city: 'Rome' },
          output: 'ok',
          approval: { id: 'a1', approved: true },
        },
        { type: 'step-start' },
        { type: 'text', text: 'Booked.' },
      ],
    },
  ];
  const agent = memoryWorld([]).agent();
  const thread = await agent.thread('t', { messages });
  expect(thread.messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
  ]);
  await agent.run('Book Rome', thread, { messageId: 'u1' });
  expect(thread.messages).toHaveLength(4);
  const waiting: UIMessage[] = [
    {
      id: 'x1',
      role: 'assistant',
      parts: [
        {
          type: 'tool-book',
          toolCallId: 'c1',
          state: 'approval-requested',
          input: {},
          approval: { id: 'a1' },
        },
      ],
    },
  ];
  expect(await messageOf(agent.thread('u', { messages: waiting }))).toContain(
    'messages[0].parts[0]: the call c1 has no result',
  );
});

test('bytes and URLs come back as they were, and a thread restored elsewhere is the same', async () => {
  const messages: ModelMessage[] = [
    {
      role: 'user',
      content: [
        { type: 'file', data: new Uint8Array([1, 2]), mediaType: 'image/png' },
        { type: 'file', data: new URL('https://example.com/a.png'), mediaType: 'image/png' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'hm', providerOptions: { p: { signature: 's' } } },
        { type: 'text', text: 'A cat.' },
      ],
    },
  ];
  const thread = await memoryWorld([]).agent().thread('t', { messages });
  const restored = await memoryWorld([]).agent().restore(JSON.stringify(thread));
  expect(restored.messages).toEqual(thread.messages);
  expect(restored.messages[1]).toEqual(messages[1]);
  expect(JSON.stringify(restored)).toBe(JSON.stringify(thread));
});

test('a thread of another agent is not imported into', async () => {
  const world = memoryWorld([]);
  await world.agent({ name: 'one' }).thread('t', { messages: conversation });
  const work = world.agent({ name: 'two' }).thread('t', { messages: conversation });
  expect(await errorCode(work)).toBe('wrong-agent');
});

test('a call id that a provider gave again gets a new one, the same for each import', async () => {
  const metadata = { providerOptions: { p: { itemId: 'c1' }, q: { signature: 's1' } } };
  const messages: ModelMessage[] = [
    ...conversation,
    { role: 'user', content: 'Again' },
    { role: 'assistant', content: [call('c1', metadata), call('c1_2'), request('a2', 'c1')] },
    { role: 'tool', content: [answer('a2')] },
    { role: 'tool', content: [result('c1'), result('c1_2')] },
    { role: 'assistant', content: [call('c1')] },
    { role: 'tool', content: [result('c1')] },
  ];
  const world = memoryWorld([{ calls: [book('c1_2', 'Rome')] }]);
  const agent = world.agent();
  const thread = await agent.thread('t', { messages });
  const idsOf = (type: string): unknown[] =>
    thread.messages.flatMap(({ content }) =>
      (typeof content === 'string' ? [] : [...content]).flatMap((part) =>
        part.type === type && 'toolCallId' in part ? [part.toolCallId] : [],
      ),
    );
  expect(idsOf('tool-call')).toEqual(['c1', 'c1_2', 'c1_2_2', 'c1_3']);
  expect(idsOf('tool-result')).toEqual(['c1', 'c1_2', 'c1_2_2', 'c1_3']);
  expect(idsOf('tool-approval-request')).toEqual(['c1', 'c1_2']);
  expect(JSON.stringify(thread)).not.toContain('itemId');
  /* Some providers want back what they sent with a call. */
  expect(JSON.stringify(thread)).toContain('s1');
  expect((await world.agent().thread('t', { messages })).revision).toBe(2);
  await agent.run([], thread);
  expect(['c1', 'c1_2', 'c1_2_2', 'c1_3']).not.toContain(thread.calls[0]?.toolCallId);
  expect([thread.activeApprovalRequests.length, world.ran]).toEqual([1, []]);
});

test('an open call with a repeated id is closed under its new one', async () => {
  const messages: ModelMessage[] = [...conversation, { role: 'assistant', content: [call('c1')] }];
  const thread = await memoryWorld([]).agent().thread('t', { messages, openCalls: 'close' });
  expect(thread.messages.slice(-2)).toMatchObject([
    { content: [{ toolCallId: 'c1_2' }] },
    { content: [{ toolCallId: 'c1_2', output: { type: 'error-text' } }] },
  ]);
});

test('the fault of a UI message names its part', async () => {
  const booked = { type: 'tool-book', toolCallId: 'c1', input: {}, state: 'input-available' };
  const file = { type: 'file', mediaType: 'image/png', url: 'file:///etc/passwd' };
  const text = { type: 'text', text: 'Look' };
  const cases: [string, unknown][] = [
    [
      'messages[1].parts[2]: the call c1',
      { id: 'x', role: 'assistant', parts: [{ type: 'step-start' }, text, booked] },
    ],
    ['messages[1].parts[1]: The file', { id: 'x', role: 'user', parts: [text, file] }],
  ];
  for (const [place, message] of cases) {
    const messages = [{ id: 'u', role: 'user', parts: [text] }, message];
    const agent = memoryWorld([]).agent();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JavaScript may pass anything.
    const work = agent.thread('t', { messages: messages as UIMessage[] });
    expect(await messageOf(work)).toContain(place);
  }
});

test('an imported thread has no decisions', async () => {
  const thread = await memoryWorld([]).agent().thread('t', { messages: conversation });
  expect([thread.decisions, thread.activeRequests, thread.calls]).toEqual([[], [], []]);
});
