import { APICallError, RetryError, tool } from 'ai';
import {
  type Agent,
  type AgentStreamEvent,
  createAgent,
  memoryStore,
  type ThreadStore,
} from 'holdpoint';
import { eventsOf } from 'holdpoint/schemas';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { stories } from '../stories/stories.ts';
import { errorCode } from '../support/error-code.ts';
import { eventsIn } from '../support/events-in.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import {
  finishPart,
  streamedModel,
  type StreamPart,
  textParts,
} from '../support/streamed-model.ts';
import { streamingAgent } from '../support/streaming-agent.ts';
import { book, cityInput, look, memoryWorld, travelWorld } from '../support/travel-world.ts';
import { withoutTimes } from '../support/without-times.ts';
import { pickCases } from '../support/sampling.ts';

async function read(stream: AsyncIterable<AgentStreamEvent>): Promise<AgentStreamEvent[]> {
  const events: AgentStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const typesOf = (events: readonly AgentStreamEvent[]): string[] => events.map(({ type }) => type);
const hello = [...textParts('0', 'Hel', 'lo.'), finishPart()];
const overloaded = new APICallError({
  message: 'overloaded',
  url: 'http://localhost',
  requestBodyValues: {},
  statusCode: 529,
  isRetryable: true,
  responseHeaders: { 'retry-after-ms': '1' },
});

/** Parts, and then the end that `end` makes. */
async function* partsThen(parts: readonly StreamPart[], end: () => Promise<unknown>) {
  yield* parts;
  await end();
}
const failing = (parts: readonly StreamPart[], error: unknown) =>
  partsThen(parts, () => Promise.reject(error));
const stalled = (parts: readonly StreamPart[]) => partsThen(parts, () => new Promise(() => {}));

describe('a stream tells', () => {
  test('what the model says as it says it, what happened once it is durable, and the end', async () => {
    const world = memoryWorld([
      { reasoning: 'Hm.', text: 'One moment.', calls: [book('c1', 'Paris'), look('c2', 'Rome')] },
    ]);
    const agent = world.agent();
    const stream = agent.stream('Book', await agent.thread('t'));
    const events: AgentStreamEvent[] = [];
    for await (const event of stream) {
      events.push(event);
      if (!('at' in event)) continue;
      const stored = await eventsIn(world.store, 't');
      expect(stored).toContainEqual(event);
      expect(Object.isFrozen(event)).toBe(true);
    }
    expect(typesOf(events)).toEqual([
      'thread-created',
      'message-added',
      'run-started',
      'reasoning-start',
      'reasoning-delta',
      'reasoning-end',
      'text-start',
      'text-delta',
      'text-delta',
      'text-end',
      'tool-input-start',
      'tool-input-delta',
      'tool-input-end',
      'tool-input-start',
      'tool-input-delta',
      'tool-input-end',
      'step-finished',
      'request-opened',
      'call-started',
      'call-ended',
      'run-ended',
      'finish',
    ]);
    expect(events).toContainEqual({ type: 'text-delta', id: '1', text: 'One ' });
    expect(events).toContainEqual({ type: 'tool-input-delta', id: 'c2', delta: '{"city":"Rome"}' });
    const response = await stream.response;
    expect(events.at(-1)).toEqual({ type: 'finish', response });
    expect(response).toMatchObject({ status: 'waiting', text: 'One moment.' });
  });

  test('sources, which no message keeps', async () => {
    const source: StreamPart = { type: 'source', sourceType: 'url', id: 's', url: 'http://a.test' };
    const { model } = streamedModel([source, ...hello]);
    const agent = createAgent({ model });
    expect(await read(agent.stream('Hi', await agent.thread()))).toContainEqual(source);
  });

  test('bad input as its one event, and nothing changes', async () => {
    const agent = memoryWorld([]).agent();
    const thread = await agent.thread('t');
    const stream = agent.stream({ role: 'assistant', content: 'Hi' }, thread);
    expect(await read(stream)).toMatchObject([{ type: 'error', error: { code: 'invalid-input' } }]);
    expect(await errorCode(stream.response)).toBe('invalid-input');
    expect(thread.revision).toBe(0);
  });
});

async function logOf(story: (typeof stories)[number], speak: (agent: Agent) => Agent) {
  const log: unknown[] = [];
  const keeping = (store: ThreadStore): ThreadStore => ({
    ...store,
    async append(threadId, expected, entries, summary, ...beside) {
      await store.append(threadId, expected, entries, summary, ...beside);
      log.push(...entries.map(eventsOf));
    },
  });
  const ours = memoryStore();
  let ids = 0;
  const world = travelWorld(scriptedModel(story.script), () => ours, speak);
  const generateId = (): string => `id-${(ids += 1)}`;
  await story.play({
    ...world,
    agent: ({ store = ours, ...options } = {}) =>
      world.agent({ generateId, ...options, store: keeping(store) }),
  });
  return withoutTimes(log);
}

describe('run and stream give equal threads', () => {
  test.each(pickCases(stories, 3))('$name', async (story) => {
    const log = await logOf(story, (agent) => agent);
    expect(await logOf(story, streamingAgent)).toEqual(log);
    expect(log).not.toEqual([]);
  });
});

describe('the reader', () => {
  test('nothing happens before somebody reads', async () => {
    const world = memoryWorld([{ text: 'Hi.' }]);
    const agent = world.agent();
    const thread = await agent.thread('t');
    agent.stream('Hi', thread);
    await new Promise(setImmediate);
    expect(thread.revision).toBe(0);
    expect(world.requests()).toBe(0);
  });

  test('sets the pace: the model is asked, and read, no faster', async () => {
    const { model, heard } = streamedModel([
      ...textParts('0', ...Array(50).fill('x')),
      finishPart(),
    ]);
    const agent = createAgent({ model });
    const stream = agent.stream('Hi', await agent.thread('t'));
    const events = stream[Symbol.asyncIterator]();
    const seen: number[] = [];
    for (let count = 0; count < 3; count += 1) await events.next();
    await new Promise(setImmediate);
    expect(heard.requests).toBe(0);
    for (let count = 0; count < 10; count += 1) {
      await events.next();
      await new Promise(setImmediate);
      seen.push(heard.parts);
    }
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    await events.return?.();
  });

  test('may be slow: a result is recorded without it, and the model waits', async () => {
    const world = memoryWorld([{ calls: [look('c1', 'Rome')] }, { text: 'Done.' }]);
    const agent = world.agent();
    const thread = await agent.thread('t');
    const recorded = new Promise((resolve) => agent.on('call-ended', resolve));
    const stream = agent.stream('Look', thread);
    for await (const event of stream) {
      if (event.type !== 'call-started') continue;
      await recorded;
      expect(thread.calls).toMatchObject([{ status: 'succeeded' }]);
      expect(world.requests()).toBe(1);
    }
    expect(await stream.response).toMatchObject({ status: 'completed', text: 'Done.' });
  });

  test('that neither reads on nor leaves holds the thread', async () => {
    const world = memoryWorld([{ text: 'One moment.' }]);
    const agent = world.agent();
    const thread = await agent.thread('t');
    for await (const event of agent.stream('Hi', thread)) {
      if (event.type !== 'text-delta') continue;
      expect(await errorCode(agent.run('Hello?', thread))).toBe('thread-busy');
    }
  });

  test.each([
    [{ stepMs: 5 }, 'error'],
    [{ firstChunkMs: 5, chunkMs: 5 }, 'finish'],
  ])('may take its time: with %o the run ends with %s', async (timeout, end) => {
    vi.stubGlobal('AI_SDK_LOG_WARNINGS', false);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { model } = streamedModel(hello);
      const agent = createAgent({ model, timeout });
      const events: AgentStreamEvent[] = [];
      for await (const event of agent.stream('Hi', await agent.thread('t'))) {
        events.push(event);
        await vi.advanceTimersByTimeAsync(10);
      }
      expect(events.at(-1)?.type).toBe(end);
    } finally {
      vi.useRealTimers();
      vi.unstubAllGlobals();
    }
  });

  test('may be missing: response alone drives the run to its end', async () => {
    const world = memoryWorld([
      { text: 'Let me see.', calls: [look('c1', 'Rome')] },
      { text: 'Done.' },
    ]);
    const agent = world.agent();
    const stream = agent.stream('Look', await agent.thread('t'));
    const response = await stream.response;
    expect(response).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(await read(stream)).toEqual([{ type: 'finish', response }]);
  });

  test('may hold response from the beginning and miss nothing', async () => {
    const agent = memoryWorld([{ text: 'Hi.' }]).agent();
    const stream = agent.stream('Hi', await agent.thread('t'));
    const { response } = stream;
    expect(typesOf(await read(stream))).toContain('text-delta');
    expect(await response).toMatchObject({ status: 'completed' });
  });

  test('may leave in the middle of an answer: nothing of the step is recorded, and run([]) goes on', async () => {
    const { model, heard } = streamedModel(stalled(textParts('0', 'Hel')), hello);
    const agent = createAgent({ model });
    const thread = await agent.thread('t');
    const stream = agent.stream('Hi', thread);
    for await (const event of stream) if (event.type === 'text-delta') break;
    expect(thread.status).toBe('due');
    expect(thread.messages).toHaveLength(1);
    expect(heard.cancelled).toBe(1);
    await expect(stream.response).rejects.toMatchObject({ name: 'AbortError' });
    const next = agent.stream([], thread);
    expect(typesOf(await read(next))).toContain('step-finished');
    expect(await next.response).toMatchObject({ status: 'completed', text: 'Hello.' });
  });

  test('may leave while it waits for the next part', async () => {
    const { model, heard } = streamedModel(stalled(textParts('0', 'Hel')));
    const agent = createAgent({ model });
    const thread = await agent.thread('t');
    const events = agent.stream('Hi', thread)[Symbol.asyncIterator]();
    while (heard.parts < 3) await events.next();
    const pending = events.next();
    await events.return?.();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(await events.next()).toEqual({ done: true, value: undefined });
    expect(thread.status).toBe('due');
  });

  test('may leave while a tool runs: the tool is told, and its result is recorded', async () => {
    const world = memoryWorld([{ calls: [look('c1', 'Rome')] }, { text: 'Done.' }]);
    const slow = tool({
      inputSchema: cityInput,
      execute: (_input, { abortSignal }) =>
        new Promise((resolve) => abortSignal?.addEventListener('abort', () => resolve('partly'))),
    });
    const agent = world.agent({ tools: { look: slow }, toolApproval: {} });
    const thread = await agent.thread('t');
    for await (const event of agent.stream('Look', thread))
      if (event.type === 'call-started') break;
    expect(thread.calls).toMatchObject([{ status: 'succeeded', outcome: { output: 'partly' } }]);
    expect(thread.status).toBe('due');
    expect(await agent.run([], thread)).toMatchObject({ status: 'completed', text: 'Done.' });
  });

  test('may leave before it has begun: nothing is recorded', async () => {
    const world = memoryWorld([{ text: 'Hi.' }]);
    const agent = world.agent();
    const thread = await agent.thread('t');
    const stream = agent.stream('Hi', thread);
    await stream[Symbol.asyncIterator]().return?.();
    await expect(stream.response).rejects.toMatchObject({ name: 'AbortError' });
    expect(thread.revision).toBe(0);
  });
});

describe('a signal that aborts', () => {
  const reason = new Error('the user left');

  test.each(['with a reader that waits', 'with a reader that does not ask'])('%s', async (how) => {
    const { model, heard } = streamedModel(stalled(textParts('0', 'Hel')), hello);
    const agent = createAgent({ model });
    const thread = await agent.thread('t');
    const controller = new AbortController();
    const stream = agent.stream('Hi', thread, { abortSignal: controller.signal });
    const events = stream[Symbol.asyncIterator]();
    while (heard.parts < 2) await events.next();
    const pending = how.endsWith('waits') ? events.next() : undefined;
    controller.abort(reason);
    await expect(stream.response).rejects.toBe(reason);
    expect(thread.status).toBe('due');
    expect(heard.cancelled).toBe(1);
    await pending;
    const rest = typesOf(await read(stream));
    expect(rest.at(-1) ?? (await pending)?.value?.type).toBe('error');
    expect(await agent.stream([], thread).response).toMatchObject({ text: 'Hello.' });
  });
});

describe('a provider that fails', () => {
  test.each([
    [
      'with an error part',
      [...textParts('0', 'Hel'), { type: 'error' as const, error: overloaded }],
    ],
    ['with its connection', failing(textParts('0', 'Hel'), overloaded)],
  ])('in the middle, %s: its error, at once, and nothing of the step', async (_how, answer) => {
    const { model, heard } = streamedModel(answer, hello);
    const agent = createAgent({ model });
    const thread = await agent.thread('t');
    const stream = agent.stream('Hi', thread);
    const events = await read(stream);
    expect(events.at(-1)).toEqual({ type: 'error', error: overloaded });
    expect(await errorCode(stream.response)).toBe(overloaded);
    expect(heard.requests).toBe(1);
    expect(thread.messages).toHaveLength(1);
    expect(thread.status).toBe('due');
    expect(await agent.stream([], thread).response).toMatchObject({ text: 'Hello.' });
  });

  test('with an error part: the rest is not read, and its connection is let go', async () => {
    const { model, heard } = streamedModel([{ type: 'error', error: new Error('down') }, ...hello]);
    const agent = createAgent({ model });
    await agent.stream('Hi', await agent.thread('t')).response.catch(() => {});
    expect(heard).toMatchObject({ parts: 1, cancelled: 1 });
  });

  test('before the first part is asked again, as often as maxRetries says', async () => {
    const early: StreamPart[] = [{ type: 'stream-start', warnings: [] }];
    const { model, heard } = streamedModel(overloaded, failing(early, overloaded), hello);
    const agent = createAgent({ model });
    const events = await read(agent.stream('Hi', await agent.thread('t')));
    expect(events.at(-1)).toMatchObject({ type: 'finish', response: { text: 'Hello.' } });
    expect(heard.requests).toBe(3);
  });

  test('after a retry, in the middle: its own error', async () => {
    const { model } = streamedModel(overloaded, failing(textParts('0', 'Hel'), overloaded), hello);
    const agent = createAgent({ model });
    expect(await errorCode(agent.stream('Hi', await agent.thread('t')).response)).toBe(overloaded);
  });

  test('every time: the same error as from run', async () => {
    const { model, heard } = streamedModel(overloaded, overloaded, hello);
    const agent = createAgent({ model, maxRetries: 1 });
    const error = await errorCode(agent.stream('Hi', await agent.thread('t')).response);
    expect(RetryError.isInstance(error) && error.errors).toEqual([overloaded, overloaded]);
    expect(heard.requests).toBe(2);
  });

  test('with plain JSON for an error: an Error that has it', async () => {
    const payload = { type: 'api_error', message: 'Out of cheese.' };
    const { model } = streamedModel([{ type: 'error', error: payload }]);
    const agent = createAgent({ model });
    const error = await errorCode(agent.stream('Hi', await agent.thread('t')).response);
    expect(error).toMatchObject({ message: 'Out of cheese.', data: payload });
    expect(error).toBeInstanceOf(Error);
  });

  test.each([{ stepMs: 5 }, { totalMs: 5 }])('by falling silent: %o ends it', async (timeout) => {
    const { model, heard } = streamedModel(stalled(textParts('0', 'Hel')));
    const agent = createAgent({ model, timeout });
    const thread = await agent.thread('t');
    const error = await errorCode(agent.stream('Hi', thread).response);
    expect(error).toMatchObject({ name: 'TimeoutError' });
    expect(heard.cancelled).toBe(1);
    expect(thread.status).toBe('due');
  });

  test.each([
    ['without a last part', []],
    ['with a last part that says so', [finishPart('interrupted')]],
  ])('by ending too early, %s: an error, not half an answer', async (_how, end) => {
    const { model } = streamedModel([...textParts('0', 'Hel'), ...end]);
    const agent = createAgent({ model });
    const thread = await agent.thread('t');
    await expect(agent.stream('Hi', thread).response).rejects.toThrow(
      'ended without a finish part',
    );
    expect(thread.messages).toHaveLength(1);
  });

  describe('when nobody looks at response', () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    afterEach(() => void process.off('unhandledRejection', note));

    test('no rejection is left unhandled', async () => {
      process.on('unhandledRejection', note);
      const agent = memoryWorld([{ fail: 'down' }]).agent();
      const events = await read(agent.stream('Hi', await agent.thread('t')));
      expect(events.at(-1)).toMatchObject({ type: 'error', error: { message: 'down' } });
      await new Promise(setImmediate);
      expect(unhandled).toEqual([]);
    });
  });
});
