import { createUIMessageStreamResponse, readUIMessageStream, tool, type UIMessage } from 'ai';
import { toUIMessages, toUIMessageStream } from 'holdpoint/ui';
import { describe, expect, test } from 'vitest';
import { finishPart, type StreamPart, textParts } from '../support/streamed-model.ts';
import { cityInput, memoryWorld, travelTools } from '../support/travel-world.ts';
import { chatPage, chunksOf, comparable, lastText, post, toolParts } from './chat-page.ts';
import { call, city, reasoningParts, streamingSite } from './streaming-site.ts';

function speechless(): string {
  throw new Error('no words');
}

const user = (text: string) => ({ id: 'u', role: 'user', parts: [{ type: 'text', text }] });

describe('what the model is saying', () => {
  test('comes in the chunks of the AI SDK, and nothing twice', async () => {
    const at = streamingSite([
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
    const at = streamingSite([
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
    const at = streamingSite([
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
    const all = streamingSite([answer]);
    await all.chat.sendMessage({ text: 'Hi' });
    expect(all.chat.messages.at(-1)?.parts.map(({ type }) => type)).toEqual([
      'step-start',
      'reasoning',
      'text',
      'source-url',
    ]);
    const less = streamingSite([answer], { sendReasoning: false, sendSources: false });
    await less.chat.sendMessage({ text: 'Hi' });
    expect(less.chat.messages.at(-1)?.parts.map(({ type }) => type)).toEqual([
      'step-start',
      'text',
    ]);
    expect(comparable(less.chat.messages)).toEqual(comparable(await less.reloaded()));
  });

  test('shows which tools are dynamic, their titles and their metadata', async () => {
    const metadata = { clientName: 'maps' };
    const titled = tool({ title: 'Look up', metadata, inputSchema: cityInput, execute: () => 'x' });
    const tools = { ...travelTools([]), look: titled };
    const answers = [
      [...call('c1', 'look', city), ...call('c2', 'toString', '{}'), finishPart('tool-calls')],
      [...textParts('0', 'Hi.'), finishPart()],
    ];
    const at = streamingSite([...answers], { tools });
    await at.chat.sendMessage({ text: 'Hi' });
    expect(toolParts(at.chat.messages)).toMatchObject([
      { type: 'tool-look', title: 'Look up', toolMetadata: metadata },
      { type: 'dynamic-tool', toolName: 'toString', state: 'output-error' },
    ]);
    expect(comparable(at.chat.messages)).toEqual(comparable(await at.reloaded()));
  });
});

describe('a provider that fails in the middle', () => {
  const failing: StreamPart[] = [
    ...textParts('0', 'Hel'),
    { type: 'error', error: new Error('secret key') },
  ];

  test('what was half told is taken back, the page hears of an error and not of its text, and a retry shows the step once', async () => {
    const at = streamingSite([failing, [...textParts('0', 'Hello.'), finishPart()]]);
    const response = await at.handler(post({ id: 't', message: user('Hi') }));
    const chunks = await chunksOf(response);
    expect(chunks.slice(-3)).toEqual([
      { type: 'reset-step' },
      { type: 'message-metadata', messageMetadata: { threadId: 't', revision: 4, status: 'due' } },
      { type: 'error', errorText: 'An error occurred.' },
    ]);
    expect(JSON.stringify(chunks)).not.toContain('secret');
    const page = chatPage(at.handler, { messages: await at.reloaded() });
    await page.chat.regenerate();
    expect(page.errors).toEqual([]);
    expect(lastText(page.chat.messages)).toBe('Hello.');
    expect(comparable(page.chat.messages)).toEqual(comparable(await at.reloaded()));
  });

  test('an onError that throws hides nothing: the page hears of an error', async () => {
    const at = streamingSite([failing], { onError: speechless });
    const response = await at.handler(post({ id: 't', message: user('Hi') }));
    expect((await chunksOf(response)).at(-1)).toEqual({
      type: 'error',
      errorText: 'An error occurred.',
    });
  });

  test('a page that was loaded after it goes on, and does not say the message again', async () => {
    const at = streamingSite([failing, [...textParts('0', 'Hello.'), finishPart()]]);
    await at.chat.sendMessage({ text: 'Hi' });
    const page = chatPage(at.handler, { messages: await at.reloaded() });
    expect(page.chat.messages).toHaveLength(1);
    await page.chat.sendMessage();
    expect(comparable(page.chat.messages)).toEqual(comparable(await at.reloaded()));
    expect(lastText(page.chat.messages)).toBe('Hello.');
  });

  test.each(['sendMessage', 'regenerate'] as const)(
    '%s goes on where the thread stands',
    async (how) => {
      const at = streamingSite([
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
    const at = streamingSite([
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

  test.each([Number.NaN, -1, 0.5])(
    'no revision is %d (regression: the turn was told three times)',
    async (revision) => {
      const agent = memoryWorld([]).agent();
      const thread = await agent.thread('t');
      const stream = agent.stream('Hi', thread);
      expect(() => toUIMessageStream({ stream, thread, revision })).toThrow('revision');
    },
  );

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
