import { createUIMessageStreamResponse, readUIMessageStream, tool, type UIMessage } from 'ai';
import fc from 'fast-check';
import { createAgent, memoryStore } from 'holdpoint';
import {
  createUiHandler,
  lastAssistantMessageHasApprovalResponses,
  toUIMessages,
  toUIMessageStream,
  type UiHandlerOptions,
} from 'holdpoint/ui';
import { describe, expect, test } from 'vitest';
import {
  finishPart,
  streamedModel,
  type StreamPart,
  textParts,
} from '../support/streamed-model.ts';
import { cityInput, memoryWorld, travelTools } from '../support/travel-world.ts';
import {
  chatPage,
  chunksOf,
  comparable,
  lastText,
  openApprovals,
  post,
  toolParts,
} from './chat-page.ts';

const authorize = () => ({ principal: 'ann' });
const user = (text: string) => ({ id: 'u', role: 'user', parts: [{ type: 'text', text }] });

/** A page of a thread whose model streams these answers. */
function streaming(
  answers: Parameters<typeof streamedModel>,
  options: Partial<UiHandlerOptions> = {},
) {
  const { model, heard } = streamedModel(...answers);
  const store = memoryStore();
  const toolApproval = { book: 'user-approval' } as const;
  const { tools = travelTools([]) } = options;
  const agent = createAgent({ model, store, tools, maxRetries: 0, toolApproval });
  const handler = createUiHandler({ agent, authorize, ...options });
  const reloaded = async () => toUIMessages(await agent.thread('t'), options);
  return { agent, handler, heard, reloaded, ...chatPage(handler) };
}

const call = (id: string, toolName: string, input: string): StreamPart[] => [
  { type: 'tool-input-start', id, toolName },
  { type: 'tool-input-delta', id, delta: input.slice(0, 4) },
  { type: 'tool-input-delta', id, delta: input.slice(4) },
  { type: 'tool-input-end', id },
  { type: 'tool-call', toolCallId: id, toolName, input },
];
const reasoningParts = (id: string, ...deltas: string[]): StreamPart[] => [
  { type: 'reasoning-start', id },
  ...deltas.map((delta): StreamPart => ({ type: 'reasoning-delta', id, delta })),
  { type: 'reasoning-end', id },
];
const city = '{"city":"Rome"}';

describe('what the model is saying', () => {
  test('comes in the chunks of the AI SDK, and nothing twice', async () => {
    const at = streaming([
      [
        ...reasoningParts('r', 'Hm.'),
        ...textParts('0', 'Let ', 'me.'),
        ...call('c1', 'look', city),
        finishPart('tool-calls'),
      ],
      [...textParts('0', 'Done.'), finishPart()],
    ]);
    const chunks = await chunksOf(await at.handler(post({ id: 't', message: user('Look') })));
    expect(chunks.map(({ type }) => type)).toEqual([
      'start',
      'start-step',
      'reasoning-start',
      'reasoning-delta',
      'reasoning-end',
      'text-start',
      'text-delta',
      'text-delta',
      'text-end',
      'tool-input-start',
      'tool-input-delta',
      'tool-input-delta',
      'tool-input-available',
      'finish-step',
      'message-metadata',
      'tool-output-available',
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
      'finish-step',
      'message-metadata',
      'finish',
    ]);
  });

  test('is taken back when it is not what was recorded: ids that repeat, white space, a step that was cut off', async () => {
    const at = streaming([
      [...call('c1', 'look', city), finishPart('tool-calls')],
      [...textParts('0', ' ', '\n'), ...call('c1', 'look', city), finishPart('tool-calls')],
      [...reasoningParts('0', 'Thinking'), finishPart('length')],
    ]);
    await at.chat.sendMessage({ text: 'Look' });
    expect(new Set(toolParts(at.chat.messages).map(({ toolCallId }) => toolCallId)).size).toBe(2);
    expect(at.chat.messages.at(-1)?.parts.map(({ type }) => type)).toEqual([
      'step-start',
      'tool-look',
      'step-start',
      'tool-look',
      'step-start',
    ]);
    expect(comparable(at.chat.messages)).toEqual(comparable(await at.reloaded()));
  });

  test('is not begun on the page before it says something', async () => {
    const at = streaming([
      [...textParts('0', ' ', '\n'), ...call('c1', 'look', city), finishPart('tool-calls')],
      [...textParts('0', '', ' ', 'Hi.'), finishPart()],
    ]);
    const chunks = await chunksOf(await at.handler(post({ id: 't', message: user('Look') })));
    expect(chunks.filter(({ type }) => type === 'reset-step')).toEqual([]);
    expect(chunks.filter(({ type }) => type === 'text-delta')).toEqual([
      { type: 'text-delta', id: '1.0', delta: ' Hi.' },
    ]);
  });

  test('is told without reasoning and sources where the app wants that', async () => {
    const source: StreamPart = { type: 'source', sourceType: 'url', id: 's', url: 'http://a.test' };
    const answer = [...reasoningParts('r', 'Hm.'), source, ...textParts('0', 'Hi.'), finishPart()];
    const all = streaming([answer]);
    await all.chat.sendMessage({ text: 'Hi' });
    expect(all.chat.messages.at(-1)?.parts.map(({ type }) => type)).toEqual([
      'step-start',
      'reasoning',
      'source-url',
      'text',
    ]);
    const less = streaming([answer], { sendReasoning: false, sendSources: false });
    await less.chat.sendMessage({ text: 'Hi' });
    expect(less.chat.messages.at(-1)?.parts.map(({ type }) => type)).toEqual([
      'step-start',
      'text',
    ]);
    expect(comparable(less.chat.messages)).toEqual(comparable(await less.reloaded()));
  });

  test('shows which tools are dynamic, and their titles', async () => {
    const titled = tool({ title: 'Look up', inputSchema: cityInput, execute: () => 'x' });
    const tools = { ...travelTools([]), look: titled };
    const answers = [
      [...call('c1', 'look', city), ...call('c2', 'toString', '{}'), finishPart('tool-calls')],
      textParts('0', 'Hi.'),
    ];
    const at = streaming([...answers], { tools });
    await at.chat.sendMessage({ text: 'Hi' });
    expect(toolParts(at.chat.messages)).toMatchObject([
      { type: 'tool-look', title: 'Look up' },
      { type: 'dynamic-tool', toolName: 'toString', state: 'output-error' },
    ]);
  });
});

describe('a provider that fails in the middle', () => {
  const failing: StreamPart[] = [
    ...textParts('0', 'Hel'),
    { type: 'error', error: new Error('secret key') },
  ];

  test('what was half told is taken back, the page hears of an error and not of its text, and a retry shows the step once', async () => {
    const at = streaming([failing, [...textParts('0', 'Hello.'), finishPart()]]);
    const response = await at.handler(post({ id: 't', message: user('Hi') }));
    const chunks = await chunksOf(response);
    expect(chunks.slice(-3)).toEqual([
      { type: 'reset-step' },
      { type: 'message-metadata', messageMetadata: { threadId: 't', revision: 4, status: 'idle' } },
      { type: 'error', errorText: 'An error occurred.' },
    ]);
    expect(JSON.stringify(chunks)).not.toContain('secret');
    await at.chat.regenerate({ messageId: undefined }).catch(() => {});
    const page = chatPage(at.handler, { messages: await at.reloaded() });
    await page.chat.regenerate();
    expect(page.errors).toEqual([]);
    expect(lastText(page.chat.messages)).toBe('Hello.');
    expect(comparable(page.chat.messages)).toEqual(comparable(await at.reloaded()));
  });

  test.each(['sendMessage', 'regenerate'] as const)(
    '%s goes on where the thread stands',
    async (how) => {
      const at = streaming([
        [...call('c1', 'look', city), finishPart('tool-calls')],
        failing,
        [...textParts('0', 'Hello.'), finishPart()],
      ]);
      await at.chat.sendMessage({ text: 'Hi' });
      expect(at.errors).toMatchObject([{ message: 'An error occurred.' }]);
      await at.chat[how]();
      await at.quiet();
      expect(at.chat.status).toBe('ready');
      expect(lastText(at.chat.messages)).toBe('Hello.');
      expect(toolParts(at.chat.messages)).toHaveLength(1);
      const { events } = await at.agent.thread('t');
      expect(events.filter(({ type }) => type === 'message-added')).toHaveLength(1);
      expect(comparable(at.chat.messages.map(withoutDoubleStarts))).toEqual(
        comparable(await at.reloaded()),
      );
    },
  );
});

/* A step that was taken back leaves its beginning, which shows nothing. */
function withoutDoubleStarts(message: UIMessage): UIMessage {
  const { parts } = message;
  return {
    ...message,
    parts: parts.filter(
      ({ type }, index) => type !== 'step-start' || parts[index + 1]?.type !== 'step-start',
    ),
  };
}

describe('a page that reads slowly', () => {
  test('slows the model down: what is said and not read is a handful of pieces', async () => {
    const at = streaming([
      [...textParts('0', ...Array.from({ length: 500 }, () => 'x')), finishPart()],
    ]);
    const response = await at.handler(post({ id: 't', message: user('Hi') }));
    const reader = response.body?.getReader();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(at.heard.parts).toBeLessThan(5);
    let read = 0;
    let ahead = 0;
    for (; read < 100; read += 1) {
      await reader?.read();
      await new Promise(setImmediate);
      ahead = Math.max(ahead, at.heard.parts - read);
    }
    expect(at.heard.parts).toBeGreaterThan(50);
    expect(ahead).toBeLessThan(12);
    await reader?.cancel();
  });
});

describe('a route of your own', () => {
  test('streams a run with toUIMessageStream', async () => {
    const world = memoryWorld([{ text: 'Hello.' }, { text: 'Again.' }]);
    const agent = world.agent();
    const thread = await agent.thread('t');
    const told = async (input: string | [], revision?: number) => {
      const stream = toUIMessageStream({
        stream: agent.stream(input, thread),
        thread,
        ...(revision === undefined ? {} : { revision }),
      });
      return chunksOf(createUIMessageStreamResponse({ stream }));
    };
    const chunks = await told('Hi');
    expect(chunks[0]).toMatchObject({ type: 'start', messageId: 't:2' });
    expect(chunks).toContainEqual({ type: 'text-delta', id: '0.0', delta: 'Hello.' });
    expect((await told('Again'))[0]).toMatchObject({ type: 'start', messageId: 't:6' });
    expect((await told([], 6)).map(({ type }) => type)).toEqual([
      'start',
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
      'finish-step',
      'message-metadata',
      'finish',
    ]);
  });

  test('a run that is refused is an error chunk, and one whose reader leaves goes on', async () => {
    const world = memoryWorld([{ text: 'Hello.' }]);
    const agent = world.agent();
    const thread = await agent.thread('t');
    const bad = agent.stream({ role: 'assistant', content: 'x' }, thread);
    const refused = createUIMessageStreamResponse({
      stream: toUIMessageStream({ stream: bad, thread }),
    });
    expect((await chunksOf(refused)).at(-1)).toMatchObject({ type: 'error' });
    const stream = agent.stream('Hi', thread);
    const reader = toUIMessageStream({ stream, thread }).getReader();
    await reader.read();
    await reader.cancel();
    expect(await stream.response).toMatchObject({ status: 'completed', text: 'Hello.' });
  });

  test('what toUIMessages gives can be read on from, with the reader of the AI SDK', async () => {
    const world = memoryWorld([
      { calls: [{ id: 'c1', name: 'book', input: { city: 'Paris' } }] },
      { text: 'Booked.' },
    ]);
    const agent = world.agent();
    const { thread, approvalRequests } = await agent.run('Book', await agent.thread('t'));
    const message = (await toUIMessages(thread)).at(-1);
    const answers = approvalRequests.map((request) => request.approve());
    const stream = toUIMessageStream({ stream: agent.stream(answers, thread), thread });
    let last = message;
    for await (const state of readUIMessageStream({ stream, ...(message && { message }) }))
      last = state;
    expect(comparable(last === undefined ? [] : [last])).toEqual(
      comparable((await toUIMessages(await agent.thread('t'))).slice(-1)),
    );
  });
});

describe('live and after a reload', () => {
  const text = fc.constantFrom('Hi.', ' ', '', '\n\n', 'a b', '<b>', '\u202e');
  const id = fc.constantFrom('c1', 'c2', 'c3');
  const name = fc.constantFrom('book', 'look', 'fail', 'nope', 'toString', 'a.b');
  const input = fc.constantFrom(
    city,
    '{"city":"Paris","price":1}',
    '{}',
    '{"city":',
    '{"__proto__":1}',
  );
  const part: fc.Arbitrary<StreamPart[]> = fc.oneof(
    fc
      .tuple(id, fc.array(text, { maxLength: 3 }))
      .map(([key, deltas]) => textParts(key, ...deltas)),
    fc
      .tuple(id, fc.array(text, { maxLength: 3 }))
      .map(([key, deltas]) => reasoningParts(key, ...deltas)),
    fc.tuple(id, name, input).map(([key, toolName, given]) => call(key, toolName, given)),
    fc.tuple(id, name, input).map(([key, toolName, given]) => call(key, toolName, given).slice(-1)),
    fc.constant<StreamPart[]>([
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'aGk=' } },
    ]),
    fc.constant<StreamPart[]>([
      { type: 'source', sourceType: 'url', id: 's', url: 'http://a.test' },
    ]),
    id.map((key): StreamPart[] => [
      {
        type: 'tool-input-start',
        id: key,
        toolName: 'search',
        providerExecuted: true,
        dynamic: true,
      },
      { type: 'tool-input-end', id: key },
      {
        type: 'tool-call',
        toolCallId: key,
        toolName: 'search',
        input: '{}',
        providerExecuted: true,
        dynamic: true,
      },
      {
        type: 'tool-result',
        toolCallId: key,
        toolName: 'search',
        result: { found: key },
        dynamic: true,
      },
    ]),
    fc.constant<StreamPart[]>([
      { type: 'text-start', id: 'open' },
      { type: 'text-delta', id: 'open', delta: 'never ended' },
    ]),
  );
  const finish = fc
    .constantFrom('stop', 'tool-calls', 'length')
    .map((reason) => finishPart(reason));
  const step = fc
    .tuple(fc.array(part, { maxLength: 4 }), finish)
    .map(([parts, end]) => [...parts.flat(), end]);

  test('a page shows the same, whatever the model says and people answer', async () => {
    let calls = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 4 }),
        fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
        fc.boolean(),
        async (steps, decisions, isDynamic) => {
          const end = [...textParts('0', 'End.'), finishPart()];
          const at = streaming([...steps, end, end, end]);
          const handler = createUiHandler({
            agent: at.agent,
            authorize,
            ...(isDynamic ? { tools: travelTools([]) } : {}),
          });
          const options = isDynamic ? { tools: travelTools([]) } : {};
          const page = chatPage(handler, {
            sendAutomaticallyWhen: lastAssistantMessageHasApprovalResponses,
          });
          const same = async (): Promise<void> => {
            expect(page.errors).toEqual([]);
            const reloaded = await toUIMessages(await at.agent.thread('t'), options);
            expect(comparable(page.chat.messages)).toEqual(comparable(reloaded));
          };
          await page.chat.sendMessage({ text: 'Go' });
          await same();
          for (const approved of decisions) {
            const [request] = openApprovals(page.chat.messages);
            if (request === undefined) break;
            await page.respond(request, approved);
            await same();
          }
          calls += toolParts(page.chat.messages).length;
        },
      ),
      { numRuns: 150 },
    );
    expect(calls).toBeGreaterThan(50);
  });
});
