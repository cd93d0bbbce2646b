import { tool } from 'ai';
import { type AgUiHandlerOptions, createAgUiHandler } from 'holdpoint/ag-ui';
import { createParser } from 'eventsource-parser';
import { expect, test } from 'vitest';
import { Clock } from '../rap-tools/clock.ts';
import { cityInput, look, travelTools } from '../support/travel-world.ts';
import { checkedEvents } from './checked-events.ts';
import {
  client,
  endOf,
  nextTurn,
  post,
  runInput,
  served,
  site,
  typesOf,
  user,
} from './ag-ui-site.ts';

const said = runInput({ messages: [user('u1')] });
const comment = ': keep-alive\n\n';

/** A thread whose tool runs until the test ends it. */
function quiet(options: Partial<AgUiHandlerOptions> = {}) {
  const clock = new Clock();
  const weather = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const slow = tool({
    inputSchema: cityInput,
    execute: async () => {
      begun.resolve();
      await weather.promise;
      return 'rain';
    },
  });
  const at = site([{ calls: [look('c1', 'Oslo')] }, { text: 'Rain.' }], {
    tools: { ...travelTools([]), look: slow },
  });
  const worker = at.worker({ keepAliveMs: 20_000, wait: clock.wait, ...options });
  const ended = new Promise<void>((resolve) => {
    worker.agent.on('run-ended', () => resolve());
  });
  return { ...at, ...worker, clock, weather, begun, ended };
}

/** Reads a stream until it has said something. */
async function readUntil(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
  wanted: string,
) {
  const decoder = new TextDecoder();
  let text = '';
  while (!text.includes(wanted)) {
    const next = await reader?.read();
    if (next?.done !== false) throw new Error(`It ended without ${wanted}.`);
    text += decoder.decode(next.value, { stream: true });
  }
  return text;
}

test("a stream that is quiet for long says a comment each time, which the protocol's own client skips", async () => {
  const at = quiet();
  const comments: string[] = [];
  const parser = createParser({ onEvent: () => {}, onComment: (each) => void comments.push(each) });
  const address = await served(async (request) => {
    const response = await at.handler(request);
    const [own, sent] = response.body?.tee() ?? [];
    void (async () => {
      for await (const part of own ?? []) parser.feed(new TextDecoder().decode(part));
    })();
    return new Response(sent, response);
  });
  const visitor = client(address);
  const run = visitor.say('Weather?');
  await at.begun.promise;
  /* The first may pass just as something is told. */
  for (let count = 0; count < 4; count += 1) await at.clock.pass(20_000);
  at.weather.resolve();
  expect(endOf(await run)).toEqual({ type: 'success' });
  expect(visitor.agent.messages.at(-1)).toMatchObject({ content: 'Rain.' });
  expect(comments.length).toBeGreaterThanOrEqual(3);
  expect(new Set(comments)).toEqual(new Set(['keep-alive']));
});

test('the time begins anew with all that is told, and is over with the stream', async () => {
  const at = quiet();
  const response = await at.handler(post(said));
  const reader = response.body?.getReader();
  let text = await readUntil(reader, 'TOOL_CALL_END');
  const next = readUntil(reader, 'RUN_FINISHED');
  await at.begun.promise;
  expect(at.clock.waits).toEqual([20_000]);
  at.weather.resolve();
  text += await next;
  expect((await reader?.read())?.done).toBe(true);
  expect(at.clock.waits).toEqual([]);
  expect(text).not.toContain(comment);
  expect(typesOf(checkedEvents(text)).at(-1)).toBe('RUN_FINISHED');
});

test.each(['body', 'signal'] as const)('a client that leaves ends the wait: %s', async (way) => {
  const at = quiet();
  const gone = new AbortController();
  const response = await at.handler(new Request(post(said), { signal: gone.signal }));
  const reader = response.body?.getReader();
  await readUntil(reader, 'TOOL_CALL_END');
  const next = reader?.read();
  await at.begun.promise;
  expect(at.clock.waits).toEqual([20_000]);
  if (way === 'signal') gone.abort();
  else await reader?.cancel();
  expect((await next)?.done).toBe(true);
  expect(at.clock.waits).toEqual([]);
  at.weather.resolve();
  await at.ended;
});

test('for a client that does not read there is neither a wait nor a comment, and the run goes on', async () => {
  const at = quiet();
  const response = await at.handler(post(said));
  await at.begun.promise;
  await nextTurn();
  expect(at.clock.waits).toEqual([]);
  at.weather.resolve();
  await at.ended;
  expect(at.clock.waits).toEqual([]);
  const text = await response.text();
  expect(text).not.toContain(comment);
  expect(endOf(checkedEvents(text))).toEqual({ type: 'success' });
});

test('no event is lost beside a keep-alive comment', async () => {
  const at = quiet();
  const response = await at.handler(post(said));
  const reader = response.body?.getReader();
  let text = await readUntil(reader, 'TOOL_CALL_END');
  const next = readUntil(reader, 'RUN_FINISHED');
  await at.begun.promise;
  const passed = at.clock.pass(20_000);
  at.weather.resolve();
  text += await next;
  await passed;
  expect(typesOf(checkedEvents(text))).toEqual([
    'RUN_STARTED',
    'TOOL_CALL_START',
    'TOOL_CALL_ARGS',
    'TOOL_CALL_END',
    'TOOL_CALL_RESULT',
    'TEXT_MESSAGE_START',
    'TEXT_MESSAGE_CONTENT',
    'TEXT_MESSAGE_END',
    'RUN_FINISHED',
  ]);
});

test('a wait that fails costs no more than the comment', async () => {
  const at = quiet({
    wait: async () => {
      throw new Error('no clock');
    },
  });
  at.weather.resolve();
  expect(endOf((await at.post(said)).events)).toEqual({ type: 'success' });
});

test('it is after 15 seconds, unless the app says otherwise', async () => {
  const { agent, clock, begun, weather } = quiet();
  const { wait } = clock;
  const handler = createAgUiHandler({ agent, authorize: () => ({ principal: 'ann' }), wait });
  const { body } = await handler(post(said));
  const text = readUntil(body?.getReader(), 'RUN_FINISHED');
  await begun.promise;
  expect(clock.waits).toEqual([15_000]);
  weather.resolve();
  await text;
});

test('0 is never, and what no timer can keep is refused', async () => {
  const at = quiet({ keepAliveMs: 0 });
  const text = at.post(said);
  await at.begun.promise;
  expect(at.clock.waits).toEqual([]);
  at.weather.resolve();
  expect(endOf((await text).events)).toEqual({ type: 'success' });
  for (const keepAliveMs of [-1, Number.NaN, Infinity, 2 ** 31]) {
    expect(() => quiet({ keepAliveMs })).toThrow(TypeError);
  }
});
