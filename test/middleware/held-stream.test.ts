import { streamText, tool, type ToolSet } from 'ai';
import { holdPoint } from 'holdpoint/middleware';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { eventsIn } from '../support/events-in.ts';
import { overloaded } from '../support/overloaded.ts';
import {
  finishPart,
  type StreamPart,
  streamedModel,
  textParts,
} from '../support/streamed-model.ts';
import { book, look } from '../support/travel-world.ts';
import { type HeldModel, heldWorld, ofThread, scriptedWorld } from './held-world.ts';
import { waitFor } from '../support/waiting.ts';

async function open(model: HeldModel, text = 'Go', abortSignal?: AbortSignal) {
  const { stream } = await model.doStream({
    prompt: [{ role: 'user', content: [{ type: 'text', text }] }],
    ...ofThread(),
    ...(abortSignal && { abortSignal }),
  });
  return stream.getReader();
}

type Reader = Awaited<ReturnType<typeof open>>;

async function rest(reader: Reader): Promise<StreamPart[]> {
  const parts: StreamPart[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return parts;
    parts.push(value);
  }
}

async function until(reader: Reader, type: StreamPart['type']): Promise<StreamPart> {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`There was no ${type}.`);
    if (value.type === type) return value;
  }
}

function callParts(toolCallId: string, toolName: string, input: object): StreamPart[] {
  return [
    { type: 'tool-input-start', id: toolCallId, toolName },
    { type: 'tool-input-delta', id: toolCallId, delta: JSON.stringify(input) },
    { type: 'tool-input-end', id: toolCallId },
    { type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) },
  ];
}

function filePart(data: string): StreamPart {
  return { type: 'file', mediaType: 'text/plain', data: { type: 'data', data } };
}

test('blocks of several steps have ids of their own, and one finish ends them all', async () => {
  const calls = callParts('c1', 'look', { city: 'Rome' });
  const { model: inner } = streamedModel(
    [...textParts('0', 'Let ', 'me.'), ...calls, finishPart('tool-calls')],
    [...textParts('0', 'Seen.'), finishPart()],
  );
  const parts = await rest(await open(heldWorld({ model: inner }).model));
  expect(parts.map((part) => ('id' in part ? `${part.type} ${part.id}` : part.type))).toEqual([
    'stream-start',
    'text-start 0.0',
    'text-delta 0.0',
    'text-delta 0.0',
    'text-end 0.0',
    'tool-input-start c1',
    'tool-input-delta c1',
    'tool-input-end c1',
    'tool-call',
    'tool-result',
    'text-start 1.0',
    'text-delta 1.0',
    'text-end 1.0',
    expect.stringMatching(/^response-metadata/),
    'finish',
  ]);
  expect(parts.at(-1)).toMatchObject({ usage: { inputTokens: { total: 6, noCache: 4 } } });
});

test('a result comes when it is durable, and does not wait for its sibling', async () => {
  const finishing = Promise.withResolvers<string>();
  const slow = tool({
    inputSchema: z.object({}),
    execute: async () => finishing.promise,
  });
  const fast = tool({ inputSchema: z.object({}), execute: async () => 'fast' });
  const { model, store } = scriptedWorld(
    [
      {
        calls: [
          { id: 'c1', name: 'slow', input: {} },
          { id: 'c2', name: 'fast', input: {} },
        ],
      },
      { text: 'Both.' },
    ],
    { tools: { slow, fast }, toolApproval: {} },
  );
  const reader = await open(model);
  expect(await until(reader, 'tool-result')).toMatchObject({ toolCallId: 'c2', result: 'fast' });
  expect((await eventsIn(store, 't')).at(-1)).toMatchObject({ type: 'call-ended', index: 1 });
  finishing.resolve('slow');
  expect(await until(reader, 'tool-result')).toMatchObject({ toolCallId: 'c1', result: 'slow' });
  await rest(reader);
});

test('the model is read as fast as the stream is', async () => {
  const { model: inner, heard } = streamedModel([
    ...textParts('0', ...Array.from({ length: 1_000 }, () => 'word ')),
    finishPart(),
  ]);
  const reader = await open(heldWorld({ model: inner }).model);
  expect(heard).toMatchObject({ requests: 1, parts: 1 });
  await until(reader, 'text-delta');
  await new Promise(setImmediate);
  expect(heard.parts).toBeLessThan(5);
  await rest(reader);
  expect(heard.parts).toBe(1_003);
});

test('cancelling the stream ends the run and aborts its tools, and the next call resumes', async () => {
  const told: unknown[] = [];
  const starting = Promise.withResolvers<void>();
  const wait = tool({
    inputSchema: z.object({}),
    execute: async (_, { abortSignal }) => {
      starting.resolve();
      await new Promise<void>((resolve) => abortSignal?.addEventListener('abort', () => resolve()));
      told.push(abortSignal?.reason);
      return 'stopped';
    },
  });
  const script = [{ calls: [{ id: 'c1', name: 'wait', input: {} }] }, { text: 'It was stopped.' }];
  const { model, agent } = scriptedWorld(script, { tools: { wait }, toolApproval: {} });
  const reader = await open(model);
  await until(reader, 'tool-call');
  const pending = reader.read();
  await starting.promise;
  await reader.cancel();
  await pending;
  expect(told).toHaveLength(1);
  const thread = await agent.thread('t');
  expect(thread.calls).toMatchObject([{ status: 'succeeded', outcome: { output: 'stopped' } }]);
  expect(thread.status).toBe('due');
  expect((await rest(await open(model))).find(({ type }) => type === 'text-delta')).toMatchObject({
    delta: 'It ',
  });
});

/** A held model that has begun to say something long. */
function talking(options: Partial<Parameters<typeof holdPoint<ToolSet>>[0]> = {}) {
  const words = Array.from({ length: 1_000 }, () => 'word ');
  const { model: inner } = streamedModel(
    [...textParts('0', ...words), finishPart()],
    [...textParts('0', 'Again.'), finishPart()],
  );
  return heldWorld({ model: inner }, options);
}

describe('a stream that nobody reads', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('gives its thread back after a minute, and the next message is taken', async () => {
    const { model, store } = talking();
    const reader = await open(model);
    await until(reader, 'text-delta');
    await vi.advanceTimersByTimeAsync(59_000);
    expect((await store.head('t'))?.status).toBe('running');
    await vi.advanceTimersByTimeAsync(2_000);
    expect((await store.head('t'))?.status).toBe('due');
    expect(await until(await open(model, 'Next'), 'text-delta')).toMatchObject({ delta: 'Again.' });
    /* A reader who returns to the first stream finds out why it ended. */
    expect(await until(reader, 'error')).toMatchObject({
      error: { name: 'TimeoutError', message: 'The stream was not read for 60000 ms.' },
    });
  });

  test.each([{}, { unreadTimeoutMs: 60_000 }])(
    'gives its thread back when its lease is over, however short: %o',
    async (options) => {
      const { model, store } = talking({ leaseMs: 1_000, ...options });
      const response = streamText({ model, prompt: 'Go', ...ofThread() }).toTextStreamResponse();
      const reader = response.body?.getReader();
      await reader?.read();
      await vi.advanceTimersByTimeAsync(900);
      expect((await store.head('t'))?.status).toBe('running');
      await vi.advanceTimersByTimeAsync(101);
      expect((await store.head('t'))?.status).toBe('due');
      const next = open(model, 'Next');
      expect(await until(await next, 'text-delta')).toMatchObject({ delta: 'Again.' });
    },
  );

  test('not even its beginning, gives its thread back too', async () => {
    const { model, store } = talking({ unreadTimeoutMs: 500 });
    await open(model);
    await vi.advanceTimersByTimeAsync(501);
    expect((await store.head('t'))?.status).toBe('due');
  });

  test('through streamText, gives its thread back too', async () => {
    const { model, store } = talking();
    const reader = streamText({ model, prompt: 'Go', ...ofThread() }).stream.getReader();
    for (let part = 0; part < 5; part += 1) await reader.read();
    expect((await store.head('t'))?.status).toBe('running');
    await vi.advanceTimersByTimeAsync(60_001);
    expect((await store.head('t'))?.status).toBe('due');
  });

  test('while a tool takes its time, is waited for as long as there is a reader', async () => {
    const slow = tool({
      inputSchema: z.object({}),
      execute: async () => new Promise((resolve) => setTimeout(resolve, 300_000, 'slow')),
    });
    const script = [{ calls: [{ id: 'c1', name: 'slow', input: {} }] }, { text: 'Done.' }];
    const { model } = scriptedWorld(script, { tools: { slow }, toolApproval: {} });
    const reading = rest(await open(model));
    await vi.advanceTimersByTimeAsync(300_001);
    expect((await reading).at(-1)).toMatchObject({ finishReason: { unified: 'stop' } });
  });

  test('to its end, keeps what is left of it for a reader who comes late', async () => {
    const { model } = scriptedWorld([{ calls: [book('c1', 'Paris')] }]);
    const reader = await open(model);
    await until(reader, 'tool-approval-request');
    await until(reader, 'response-metadata');
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(600_000);
    expect((await rest(reader)).at(-1)).toMatchObject({ type: 'finish' });
  });

  test.each([0, Number.NaN, Infinity, -1])('is not timed by %o: a TypeError at once', (ms) => {
    expect(() => holdPoint({ unreadTimeoutMs: ms })).toThrow(TypeError);
  });
});

test('an aborted signal ends the run, and the AI SDK says that it was aborted', async () => {
  const leaving = new AbortController();
  const { model: inner } = streamedModel(
    [...textParts('0', 'One ', 'two.'), finishPart()],
    [...textParts('0', 'Again.'), finishPart()],
  );
  const { model, store } = heldWorld({ model: inner });
  const parts: string[] = [];
  const result = streamText({ model, prompt: 'Go', ...ofThread(), abortSignal: leaving.signal });
  for await (const part of result.stream) {
    parts.push(part.type);
    if (part.type === 'text-delta') leaving.abort();
  }
  expect(parts.at(-1)).toBe('abort');
  await waitFor(async () => expect((await store.head('t'))?.status).toBe('due'));
  expect(await until(await open(model), 'text-delta')).toMatchObject({ delta: 'Again.' });
});

test('content other than text is sent once, from the complete response and not from the broken one', async () => {
  const failure = overloaded();
  const source: StreamPart = { type: 'source', sourceType: 'url', id: 's', url: 'http://x' };
  const { model: inner } = streamedModel(
    [filePart('YQ=='), { type: 'error', error: failure }],
    [filePart('Yg=='), source, ...textParts('0', 'Here.'), finishPart()],
  );
  const parts = await rest(await open(heldWorld({ model: inner }, { maxRetries: 1 }).model));
  expect(parts.filter(({ type }) => type === 'file')).toEqual([filePart('Yg==')]);
  expect(parts.filter(({ type }) => type === 'source')).toEqual([source]);
});

test('calls that the provider ran are sent with their results', async () => {
  const { model: inner } = streamedModel([
    {
      type: 'tool-call',
      toolCallId: 'p1',
      toolName: 'search',
      input: '{}',
      providerExecuted: true,
      dynamic: true,
    },
    { type: 'tool-result', toolCallId: 'p1', toolName: 'search', result: 'found', dynamic: true },
    ...textParts('0', 'Found.'),
    finishPart(),
  ]);
  const { model, ran } = heldWorld({ model: inner });
  const result = streamText({ model, prompt: 'Go', ...ofThread() });
  await result.consumeStream();
  expect((await result.content).map(({ type }) => type).toSorted()).toEqual([
    'text',
    'tool-call',
    'tool-result',
  ]);
  expect(ran).toEqual([]);
});

test('the input of a call that reuses an id is sent with the call, under its new id', async () => {
  const again = [...callParts('c1', 'look', { city: 'Oslo' }), finishPart('tool-calls')];
  const { model: inner } = streamedModel(again, again, [...textParts('0', 'Seen.'), finishPart()]);
  const parts = await rest(await open(heldWorld({ model: inner }).model));
  expect(parts.filter(({ type }) => type === 'tool-input-start')).toHaveLength(1);
  const [first, second] = parts.filter((part) => part.type === 'tool-call');
  expect(first?.toolCallId).toBe('c1');
  expect(second?.toolCallId).not.toBe('c1');
});

test('two calls of one id in a step: neither runs, and each has its result', async () => {
  const { model, ran } = scriptedWorld([
    { calls: [look('c1', 'Rome'), book('c1', 'Paris')] },
    { text: 'One at a time, then.' },
  ]);
  const result = streamText({ model, prompt: 'Go', ...ofThread() });
  await result.consumeStream();
  expect((await result.content).map(({ type }) => type)).toEqual([
    'tool-call',
    'tool-error',
    'tool-call',
    'tool-error',
    'text',
  ]);
  expect(ran).toEqual([]);
});
