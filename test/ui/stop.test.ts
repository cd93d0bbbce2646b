import { tool } from 'ai';
import { createAgent, memoryStore } from 'holdpoint';
import { createUiHandler, stopChat, toUIMessages } from 'holdpoint/ui';
import { describe, expect, test } from 'vitest';
import {
  finishPart,
  streamedModel,
  type StreamPart,
  textParts,
} from '../support/streamed-model.ts';
import { cityInput, travelTools } from '../support/travel-world.ts';
import { chatPage, comparable, lastText, openApprovals, toolParts } from './chat-page.ts';
import { call, city, fetchFrom, reasoningParts, streamingSite } from './streaming-site.ts';
import { waitUntil } from '../support/waiting.ts';

const says = (text: string) => [...textParts('0', text), finishPart()];

const authorize = () => ({ principal: 'ann' });

/** An answer that begins, and is never finished. */
async function* endless(...parts: StreamPart[]): AsyncGenerator<StreamPart, void> {
  yield* parts;
  await new Promise(() => {});
}

const begun = (text: string): StreamPart[] => [
  { type: 'text-start', id: '0' },
  { type: 'text-delta', id: '0', delta: text },
];

/** A page of a thread, and how it stops. */
function stoppable(...[answers, options, page]: Parameters<typeof streamingSite>) {
  const ends: (string | undefined)[] = [];
  const onFinish = ({ finishReason }: { finishReason?: string }): void =>
    void ends.push(finishReason);
  const at = streamingSite(answers, { pollMs: 3_600_000, ...options }, { onFinish, ...page });
  const stops: unknown[] = [];
  const fetch = fetchFrom(async (request) => {
    stops.push(await request.clone().json());
    return at.handler(request);
  });
  const stop = async (chat = at.chat): Promise<void> => stopChat(chat, { api: '/chat', fetch });
  return { ...at, ends, stop, stops };
}

describe('S13-11: a person who stops a reply', () => {
  test('keeps the words that were said, live and after a reload, and the next message is answered', async () => {
    const at = stoppable([endless(...begun('Hello ')), says('Next.')]);
    const sent = at.chat.sendMessage({ text: 'Hi' });
    await waitUntil(() => lastText(at.chat.messages) === 'Hello ');
    await at.stop();
    await sent;
    expect(at.stops).toEqual([{ id: 't', stop: true }]);
    expect(at.chat.status).toBe('ready');
    expect(at.errors).toEqual([]);
    expect(at.ends.at(-1)).toBe('interrupted');
    expect(lastText(at.chat.messages)).toBe('Hello ');
    expect(comparable(at.chat.messages)).toEqual(comparable(await at.reloaded()));
    const { events, status } = await at.agent.thread('t');
    expect(status).toBe('idle');
    expect(events.find(({ type }) => type === 'stop-requested')).toMatchObject({
      principal: 'ann',
      channel: 'ui',
    });
    await at.chat.sendMessage({ text: 'And?' });
    expect(at.errors).toEqual([]);
    expect(lastText(at.chat.messages)).toBe('Next.');
    expect(comparable(at.chat.messages)).toEqual(comparable(await at.reloaded()));
  });

  test('keeps what was recorded before, and no thoughts that were cut off', async () => {
    const at = stoppable([
      [...textParts('0', 'Looking.'), ...call('c1', 'look', city), finishPart('tool-calls')],
      endless(...reasoningParts('r', 'Hm'), ...begun('Found ')),
    ]);
    const sent = at.chat.sendMessage({ text: 'Look' });
    await waitUntil(() => lastText(at.chat.messages).endsWith('Found '));
    await at.stop();
    await sent;
    expect(lastText(at.chat.messages)).toBe('Looking.Found ');
    expect(at.chat.messages.at(-1)?.parts.some(({ type }) => type === 'reasoning')).toBe(false);
    expect(comparable(at.chat.messages)).toEqual(comparable(await at.reloaded()));
  });

  test('in one tab sees it stopped in the other one', async () => {
    const at = stoppable([endless(...begun('Hello '))]);
    const sent = at.chat.sendMessage({ text: 'Hi' });
    await waitUntil(() => lastText(at.chat.messages) === 'Hello ');
    const other = chatPage(at.handler, { messages: await at.reloaded() });
    const resumed = other.chat.resumeStream();
    await waitUntil(() => lastText(other.chat.messages) === 'Hello ');
    await at.stop(other.chat);
    await Promise.all([sent, resumed]);
    for (const { chat, errors } of [at, other]) {
      expect(errors).toEqual([]);
      expect(chat.status).toBe('ready');
      expect(comparable(chat.messages)).toEqual(comparable(await at.reloaded()));
    }
  });

  test('ends a tool that heeds its signal, and the page shows how it ended', async () => {
    const look = tool({
      inputSchema: cityInput,
      execute: async (_input, { abortSignal }) =>
        new Promise<string>((_resolve, reject) => {
          abortSignal?.addEventListener('abort', () => reject(new Error('ended')));
        }),
    });
    const at = stoppable([[...call('c1', 'look', city), finishPart('tool-calls')]], {
      tools: { ...travelTools([]), look },
    });
    const started = new Promise((resolve) => at.agent.on('call-started', resolve));
    const sent = at.chat.sendMessage({ text: 'Look' });
    await started;
    await at.stop();
    await sent;
    expect(toolParts(at.chat.messages)).toMatchObject([{ state: 'output-error' }]);
    expect(at.ends.at(-1)).toBe('interrupted');
    expect(comparable(at.chat.messages)).toEqual(comparable(await at.reloaded()));
    expect(at.heard.requests).toBe(1);
  });

  test('while a request is open may answer it afterwards, and the answer is sent', async () => {
    const look = tool({
      inputSchema: cityInput,
      execute: async (_input, { abortSignal }) =>
        new Promise<string>((_resolve, reject) => {
          abortSignal?.addEventListener('abort', () => reject(new Error('ended')));
        }),
    });
    const at = stoppable(
      [
        [...call('c1', 'look', city), ...call('c2', 'book', city), finishPart('tool-calls')],
        says('Booked.'),
      ],
      { tools: { ...travelTools([]), look } },
    );
    const started = new Promise((resolve) => at.agent.on('call-started', resolve));
    const sent = at.chat.sendMessage({ text: 'Look' });
    await started;
    await at.stop();
    await sent;
    const [open = ''] = openApprovals(at.chat.messages);
    await at.respond(open, true);
    expect(lastText(at.chat.messages)).toBe('Booked.');
    expect(comparable(at.chat.messages)).toEqual(comparable(await at.reloaded()));
  });

  test('reads why where the server refuses that, and the reply continues', async () => {
    const gate = Promise.withResolvers<void>();
    async function* slow(): AsyncGenerator<StreamPart, void> {
      yield* begun('Hello ');
      await gate.promise;
      yield* [{ type: 'text-end', id: '0' } as const, finishPart()];
    }
    const at = streamingSite([slow()]);
    const sent = at.chat.sendMessage({ text: 'Hi' });
    await waitUntil(() => lastText(at.chat.messages) === 'Hello ');
    const stranger = createUiHandler({ agent: at.agent, authorize: () => undefined });
    const stopping = stopChat(at.chat, { api: '/chat', fetch: fetchFrom(stranger) });
    await expect(stopping).rejects.toMatchObject({
      statusCode: 403,
      responseBody: expect.stringContaining('not-allowed'),
    });
    expect(at.chat.status).toBe('streaming');
    gate.resolve();
    await sent;
    expect((await at.agent.thread('t')).events.map(({ type }) => type)).not.toContain(
      'stop-requested',
    );
  });

  test('where nothing runs changes nothing', async () => {
    const at = stoppable([says('Hello.')]);
    await at.chat.sendMessage({ text: 'Hi' });
    const { revision } = await at.agent.thread('t');
    await at.stop();
    expect((await at.agent.thread('t')).revision).toBe(revision);
    expect(at.chat.status).toBe('ready');
    expect(comparable(at.chat.messages)).toEqual(comparable(await at.reloaded()));
  });

  test('does more than to close the connection: that alone lets the reply be written to its end', async () => {
    const gate = Promise.withResolvers<void>();
    async function* slow(): AsyncGenerator<StreamPart, void> {
      yield* begun('Hello ');
      await gate.promise;
      yield* [{ type: 'text-delta', id: '0', delta: 'there.' } as const, finishPart()];
    }
    const at = streamingSite([slow()]);
    const sent = at.chat.sendMessage({ text: 'Hi' });
    await waitUntil(() => lastText(at.chat.messages) === 'Hello ');
    await at.chat.stop();
    await sent;
    gate.resolve();
    await waitUntil(async () => (await at.agent.thread('t')).status === 'idle');
    expect(lastText(await at.reloaded())).toBe('Hello there.');
  });

  test('stops it in whichever process it runs, within a second or two', async () => {
    const store = memoryStore();
    const { model } = streamedModel(endless(...begun('Hello ')));
    const [here, elsewhere] = [createAgent({ model, store }), createAgent({ model, store })];
    const page = chatPage(createUiHandler({ agent: here, authorize }));
    const sent = page.chat.sendMessage({ text: 'Hi' });
    await waitUntil(() => lastText(page.chat.messages) === 'Hello ');
    const fetch = fetchFrom(createUiHandler({ agent: elsewhere, authorize }));
    await stopChat(page.chat, { api: '/chat', fetch });
    await sent;
    const loaded = await toUIMessages(await elsewhere.thread('t'));
    expect(lastText(loaded)).toBe('Hello ');
    expect(comparable(page.chat.messages)).toEqual(comparable(loaded));
  });
});
