import type { UIMessage } from 'ai';
import { stopChat } from 'holdpoint/ui';
import { describe, expect, test } from 'vitest';
import { finishPart, type StreamPart, textParts } from '../support/streamed-model.ts';
import { chatPage, comparable, lastText } from './chat-page.ts';
import { call, city, fetchFrom, streamingSite } from './streaming-site.ts';
import { waitUntil } from '../support/waiting.ts';

const says = (text: string) => [...textParts('0', text), finishPart()];
const failing: StreamPart[] = [{ type: 'error', error: new Error('unsupported picture') }];
const picture = {
  type: 'file' as const,
  mediaType: 'image/tiff',
  filename: 'scan.tiff',
  url: 'data:image/tiff;base64,aGk=',
};
const refused = "This message is part of the record and can't be edited; send a new message.";

/** The id of the message that the person has sent last. */
const lastQuestion = (messages: readonly UIMessage[]) =>
  messages.findLast(({ role }) => role === 'user')?.id ?? '';

/** The texts that the model was sent, by users. */
const said = (messages: readonly { role: string; content: unknown }[]) =>
  messages.flatMap(({ role, content }) => (role === 'user' ? [content] : []));

describe('S13-10: a message that the provider refused', () => {
  test.each(['live', 'loaded', 'loaded, and then live'])(
    'is edited by sending it anew under its id, and the thread can be used again (%s)',
    async (how) => {
      const at = streamingSite([says('Hello.'), failing, failing, says('Better.'), says('Fine.')]);
      await at.chat.sendMessage({ text: 'Hi' });
      await at.chat.sendMessage({ text: 'See', files: [picture] });
      expect(at.errors).toHaveLength(1);
      const page = how === 'live' ? at : chatPage(at.handler, { messages: await at.reloaded() });
      const messageId = lastQuestion(page.chat.messages);
      await page.chat.sendMessage({ text: 'See this', files: [picture], messageId });
      expect(page.errors.at(-1)?.message).toBe('An error occurred.');
      const last = how.endsWith('loaded')
        ? chatPage(at.handler, { messages: await at.reloaded() })
        : page;
      const again = lastQuestion(last.chat.messages);
      await last.chat.sendMessage({ text: 'Then without it', messageId: again });
      await last.quiet();
      expect(lastText(last.chat.messages)).toBe('Better.');
      expect(comparable(last.chat.messages)).toEqual(comparable(await at.reloaded()));
      const { messages, events } = await at.agent.thread('t');
      expect(said(messages)).toHaveLength(2);
      expect(JSON.stringify(messages)).not.toContain('tiff');
      expect(JSON.stringify(await at.reloaded())).not.toContain('tiff');
      expect(events.filter(({ type }) => type === 'message-retracted')).toMatchObject([
        { principal: 'ann', channel: 'ui' },
        { principal: 'ann', channel: 'ui' },
      ]);
      await last.chat.sendMessage({ text: 'And?' });
      expect(lastText(last.chat.messages)).toBe('Fine.');
      expect(comparable(last.chat.messages)).toEqual(comparable(await at.reloaded()));
    },
  );

  test('is edited also after a message that failed for it, which the page has dropped with the edit', async () => {
    const at = streamingSite([failing, failing, says('Better.'), says('Fine.')]);
    await at.chat.sendMessage({ text: 'See', files: [picture] });
    const messageId = at.chat.messages[0]?.id ?? '';
    await at.chat.sendMessage({ text: 'Never mind' });
    expect(at.errors).toHaveLength(2);
    await at.chat.sendMessage({ text: 'Hi', messageId });
    expect(lastText(at.chat.messages)).toBe('Better.');
    expect(said((await at.agent.thread('t')).messages)).toHaveLength(1);
    expect(comparable(at.chat.messages)).toEqual(comparable(await at.reloaded()));
    await at.chat.sendMessage({ text: 'And?' });
    expect(lastText(at.chat.messages)).toBe('Fine.');
    expect(at.errors).toHaveLength(2);
  });

  test('is not said twice, where the response to its edit was lost', async () => {
    const at = streamingSite([failing, says('Better.')]);
    await at.chat.sendMessage({ text: 'See', files: [picture] });
    const messageId = at.chat.messages[0]?.id ?? '';
    const losing = chatPage(
      async (request) => {
        await (await at.handler(request)).text();
        throw new TypeError('fetch failed');
      },
      { messages: at.chat.messages },
    );
    await losing.chat.sendMessage({ text: 'Without', messageId });
    const page = chatPage(at.handler, { messages: losing.chat.messages });
    await page.chat.sendMessage();
    await page.quiet();
    expect(lastText(page.chat.messages)).toBe('Better.');
    expect(comparable(page.chat.messages)).toEqual(comparable(await at.reloaded()));
    expect(at.heard.requests).toBe(2);
  });
});

describe('S13-10: an edit that is refused leaves the message as it was', () => {
  test.each([
    ['as it is blank', { parts: [{ type: 'text' as const, text: ' ' }] }, 400],
    ['as it is empty', { parts: [] }, 400],
    ['while something is asked', { parts: [{ type: 'text' as const, text: 'New' }] }, 409],
  ])('%s', async (_name, edited, status) => {
    const at = streamingSite([failing]);
    await at.chat.sendMessage({ text: 'Old words' });
    const thread = await at.agent.thread('t');
    if (status === 409) await at.agent.requestApproval(thread, { text: 'Deploy?' });
    const messageId = lastQuestion(at.chat.messages);
    await at.chat.sendMessage({ ...edited, role: 'user', messageId });
    expect(at.sent.at(-1)?.status).toBe(status);
    expect(JSON.stringify(await at.reloaded())).toContain('Old words');
  });
});

describe('S13-11: a message that has a reply', () => {
  test.each([
    ['in words', [says('One.')]],
    ['that failed later', [[...call('c1', 'look', city), finishPart('tool-calls')], failing]],
    ['that waits for a person', [[...call('c1', 'book', city), finishPart('tool-calls')]]],
  ])('%s is not edited, and the page says what to do', async (_name, answers) => {
    const at = streamingSite(answers);
    await at.chat.sendMessage({ text: 'first' });
    const { revision } = await at.agent.thread('t');
    await at.chat.sendMessage({ text: 'edited', messageId: at.chat.messages[0]?.id ?? '' });
    await at.quiet();
    expect(at.sent.at(-1)?.status).toBe(400);
    expect(at.errors.at(-1)?.message).toContain(refused);
    expect((await at.agent.thread('t')).revision).toBe(revision);
  });

  test('of a turn before is not edited either', async () => {
    const at = streamingSite([says('One.'), failing]);
    await at.chat.sendMessage({ text: 'first' });
    await at.chat.sendMessage({ text: 'second' });
    await at.chat.sendMessage({ text: 'edited', messageId: at.chat.messages[0]?.id ?? '' });
    expect(at.errors.at(-1)?.message).toContain(refused);
  });
});

/** A model that says nothing until it is stopped. */
async function* silent(): AsyncGenerator<StreamPart, void> {
  yield { type: 'text-start', id: '0' };
  await new Promise(() => {});
}

/** A page whose reply was stopped before its first word. */
async function stopped() {
  const at = streamingSite([silent(), says('Hello.')]);
  const sent = at.chat.sendMessage({ text: 'Hi' });
  await waitUntil(() => at.heard.parts > 0);
  await stopChat(at.chat, { api: '/chat', fetch: fetchFrom(at.handler) });
  await sent;
  expect(at.chat.messages.flatMap(({ role }) => role)).toContain('user');
  return at;
}

describe('S13-11: a message whose reply was stopped before its first word', () => {
  test('can be edited', async () => {
    const at = await stopped();
    await at.chat.sendMessage({ text: 'Hi there', messageId: at.chat.messages[0]?.id ?? '' });
    expect(lastText(at.chat.messages)).toBe('Hello.');
    expect(comparable(at.chat.messages)).toEqual(comparable(await at.reloaded()));
  });

  test('is answered when the person wants the reply written after all', async () => {
    const at = await stopped();
    await at.chat.regenerate();
    await at.quiet();
    expect(at.errors).toEqual([]);
    expect(lastText(at.chat.messages)).toBe('Hello.');
    expect(comparable(at.chat.messages)).toEqual(comparable(await at.reloaded()));
  });
});

test('S13-10: a message that is being answered is not edited: 409, and the page can stop it first', async () => {
  const at = streamingSite([silent(), says('Hello.')]);
  void at.chat.sendMessage({ text: 'Hi' });
  await waitUntil(() => at.heard.parts > 0);
  const page = chatPage(at.handler, { messages: await at.reloaded() });
  await page.chat.sendMessage({ text: 'Hi there', messageId: page.chat.messages[0]?.id ?? '' });
  expect(page.sent.at(-1)?.status).toBe(409);
  expect(page.errors.at(-1)?.message).toContain('thread-busy');
  await at.agent.stop(await at.agent.thread('t'));
  await page.chat.sendMessage({ text: 'Hi there', messageId: page.chat.messages[0]?.id ?? '' });
  expect(lastText(page.chat.messages)).toBe('Hello.');
});

test('S13-11: a message that is being answered after a stop is followed when its reply is wanted again', async () => {
  const gate = Promise.withResolvers<void>();
  async function* slow(): AsyncGenerator<StreamPart, void> {
    yield { type: 'text-start', id: '0' };
    await gate.promise;
    yield* says('Hello.').slice(1);
  }
  const at = streamingSite([silent(), slow()]);
  void at.chat.sendMessage({ text: 'Hi' });
  await waitUntil(() => at.heard.parts > 0);
  await at.agent.stop(await at.agent.thread('t'));
  await at.quiet();
  const second = at.chat.sendMessage({ text: 'Still there?' });
  await waitUntil(() => at.heard.requests === 2);
  const page = chatPage(at.handler, { messages: await at.reloaded() });
  const again = page.chat.regenerate();
  gate.resolve();
  await Promise.all([second, again]);
  expect(page.errors).toEqual([]);
  expect(lastText(page.chat.messages)).toBe('Hello.');
});
