import { createUiHandler, toUIMessages } from 'holdpoint/ui';
import { describe, expect, test } from 'vitest';
import { finishPart, type StreamPart, textParts } from '../support/streamed-model.ts';
import { chatPage, comparable, lastText } from './chat-page.ts';
import { call, city, streamingSite } from './streaming-site.ts';
import { waitUntil } from '../support/waiting.ts';

/** Parts in two halves: the second comes when the test says so. */
function halves(first: StreamPart[], second: StreamPart[]) {
  const gate = Promise.withResolvers<void>();
  async function* parts(): AsyncGenerator<StreamPart, void> {
    yield* first;
    await gate.promise;
    yield* second;
  }
  return { parts: parts(), goOn: gate.resolve };
}

const hello = () =>
  halves(
    [
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'Hello ' },
    ],
    [{ type: 'text-delta', id: '0', delta: 'there.' }, { type: 'text-end', id: '0' }, finishPart()],
  );

type Site = ReturnType<typeof streamingSite>;

/** The page, reloaded: it has what the log has, and resumes. */
async function reload(at: Pick<Site, 'handler' | 'reloaded'>) {
  const page = chatPage(at.handler, { messages: await at.reloaded() });
  return { ...page, resumed: page.chat.resumeStream() };
}

const shows = async (page: Pick<ReturnType<typeof chatPage>, 'chat'>, text: string) =>
  waitUntil(() => lastText(page.chat.messages) === text);

describe('S13-11: a page that is reloaded in the middle of a reply', () => {
  test('shows the words that were said so far, and then the rest as it is said', async () => {
    const { parts, goOn } = hello();
    const at = streamingSite([parts], { pollMs: 3_600_000 });
    const sent = at.chat.sendMessage({ text: 'Hi' });
    await shows(at, 'Hello ');
    const page = await reload(at);
    await shows(page, 'Hello ');
    expect(page.chat.status).toBe('streaming');
    goOn();
    await Promise.all([sent, page.resumed]);
    expect(lastText(page.chat.messages)).toBe('Hello there.');
    expect(page.errors).toEqual([]);
    expect(comparable(page.chat.messages)).toEqual(comparable(await at.reloaded()));
    expect(comparable(page.chat.messages)).toEqual(comparable(at.chat.messages));
  });

  test('shows them as well where the first page has gone, and however often it is reloaded', async () => {
    const { parts, goOn } = hello();
    const at = streamingSite([parts], { pollMs: 3_600_000 });
    const sent = at.chat.sendMessage({ text: 'Hi' });
    await shows(at, 'Hello ');
    await at.chat.stop();
    await sent;
    const once = await reload(at);
    await shows(once, 'Hello ');
    await once.chat.stop();
    const again = await reload(at);
    await shows(again, 'Hello ');
    goOn();
    await again.resumed;
    expect(lastText(again.chat.messages)).toBe('Hello there.');
    expect(comparable(again.chat.messages)).toEqual(comparable(await at.reloaded()));
  });

  test('shows each step once, where it comes back between two of them', async () => {
    const first = halves(call('c1', 'look', city), [finishPart('tool-calls')]);
    const second = hello();
    const at = streamingSite([first.parts, second.parts], { pollMs: 3_600_000 });
    const sent = at.chat.sendMessage({ text: 'Look' });
    await waitUntil(() => at.chat.messages.at(-1)?.parts.some(({ type }) => type === 'tool-look'));
    const page = await reload(at);
    await waitUntil(() =>
      page.chat.messages.at(-1)?.parts.some(({ type }) => type === 'tool-look'),
    );
    first.goOn();
    await shows(page, 'Hello ');
    const later = await reload(at);
    await shows(later, 'Hello ');
    second.goOn();
    await Promise.all([sent, page.resumed, later.resumed]);
    for (const { chat, errors } of [page, later]) {
      expect(errors).toEqual([]);
      expect(comparable(chat.messages)).toEqual(comparable(await at.reloaded()));
    }
  });

  test('forgets words whose run failed, and says that it did', async () => {
    const { parts, goOn } = halves(textParts('0', 'Hel'), [
      { type: 'error', error: new Error('overloaded') },
    ]);
    const at = streamingSite([parts], { pollMs: 3_600_000 });
    const sent = at.chat.sendMessage({ text: 'Hi' });
    await shows(at, 'Hel');
    const page = await reload(at);
    await shows(page, 'Hel');
    goOn();
    await Promise.all([sent, page.resumed]);
    expect(page.errors).toMatchObject([{ message: 'An error occurred.' }]);
    expect(lastText(page.chat.messages)).toBe('');
  });

  test('in another process shows what is recorded, step by step, to the end', async () => {
    const { parts, goOn } = hello();
    const at = streamingSite([parts]);
    const sent = at.chat.sendMessage({ text: 'Hi' });
    await shows(at, 'Hello ');
    const { agent } = at;
    const elsewhere = createUiHandler({
      agent: { ...agent, thread: async (...given) => agent.thread(...given) },
      authorize: () => ({ principal: 'ann' }),
      wait: async () => {
        goOn();
        await sent;
      },
    });
    const page = await reload({ ...at, handler: elsewhere });
    await page.resumed;
    expect(lastText(page.chat.messages)).toBe('Hello there.');
    expect(comparable(page.chat.messages)).toEqual(
      comparable(await toUIMessages(await agent.thread('t'))),
    );
  });

  test('ends with an error where the store can not be read any more', async () => {
    const { parts, goOn } = hello();
    const at = streamingSite([parts]);
    const sent = at.chat.sendMessage({ text: 'Hi' });
    await shows(at, 'Hello ');
    const handler = createUiHandler({
      agent: at.agent,
      authorize: () => ({ principal: 'ann' }),
      wait: async () => Promise.reject(new Error('secret')),
    });
    const page = await reload({ ...at, handler });
    await page.resumed;
    expect(page.errors).toMatchObject([{ message: 'An error occurred.' }]);
    goOn();
    await sent;
  });
});
