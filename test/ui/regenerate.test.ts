import { describe, expect, test } from 'vitest';
import { finishPart, type StreamPart, textParts } from '../support/streamed-model.ts';
import { chatPage, comparable, lastText, openApprovals } from './chat-page.ts';
import { call, city, streamingSite } from './streaming-site.ts';

const says = (text: string) => [...textParts('0', text), finishPart()];
const failing: StreamPart[] = [{ type: 'error', error: new Error('overloaded') }];
const refused = "This reply is part of the record and can't be written again; send a new message.";

describe('S13-11: a reply that a person wants written again', () => {
  test.each([false, true])(
    'stays on the page, which says that it is on record (the whole history is sent: %s)',
    async (sendsHistory) => {
      const at = streamingSite([says('One.'), says('Two.')], {}, { sendsHistory });
      await at.chat.sendMessage({ text: 'Hi' });
      await at.chat.regenerate();
      await at.quiet();
      expect(at.errors.map(({ message }) => message)).toEqual([refused]);
      expect(lastText(at.chat.messages)).toBe('One.');
      expect(comparable(at.chat.messages)).toEqual(comparable(await at.reloaded()));
      expect(at.heard.requests).toBe(1);
      await at.chat.sendMessage({ text: 'Again' });
      expect(lastText(at.chat.messages)).toBe('Two.');
    },
  );

  test('stays on the page where it is an older one, and nothing of the thread changes', async () => {
    const at = streamingSite([says('One.'), says('Two.'), says('Three.')]);
    await at.chat.sendMessage({ text: 'Hi' });
    await at.chat.sendMessage({ text: 'More' });
    const { revision } = await at.agent.thread('t');
    await at.chat.regenerate({ messageId: at.chat.messages[1]?.id ?? '' });
    await at.quiet();
    expect(at.errors.map(({ message }) => message)).toEqual([refused]);
    expect(lastText(at.chat.messages)).toBe('One.');
    expect((await at.agent.thread('t')).revision).toBe(revision);
    expect(at.heard.requests).toBe(2);
  });

  test('is continued where its run has failed', async () => {
    const at = streamingSite([
      [...call('c1', 'look', city), finishPart('tool-calls')],
      failing,
      says('Found.'),
    ]);
    await at.chat.sendMessage({ text: 'Look' });
    expect(at.errors).toHaveLength(1);
    await at.chat.regenerate();
    await at.quiet();
    expect(at.errors).toHaveLength(1);
    expect(lastText(at.chat.messages)).toBe('Found.');
    expect(comparable(at.chat.messages)).toEqual(comparable(await at.reloaded()));
  });

  test('is written where there was none, as the provider failed', async () => {
    const at = streamingSite([failing, says('Hello.')]);
    await at.chat.sendMessage({ text: 'Hi' });
    await at.chat.regenerate();
    await at.quiet();
    expect(at.errors).toHaveLength(1);
    expect(comparable(at.chat.messages)).toEqual(comparable(await at.reloaded()));
    expect(lastText(at.chat.messages)).toBe('Hello.');
  });

  test('shows its open request again where it waits for a person', async () => {
    const at = streamingSite([[...call('c1', 'book', city), finishPart('tool-calls')]]);
    await at.chat.sendMessage({ text: 'Book' });
    const open = openApprovals(at.chat.messages);
    await at.chat.regenerate();
    await at.quiet();
    expect(at.errors).toEqual([]);
    expect(open).toHaveLength(1);
    expect(openApprovals(at.chat.messages)).toEqual(open);
  });

  test('is shown again, without a refusal, to a page that sends its message once more', async () => {
    const at = streamingSite([says('One.')]);
    await at.chat.sendMessage({ text: 'Hi' });
    const page = chatPage(at.handler, { messages: at.chat.messages.slice(0, 1) });
    await page.chat.sendMessage();
    await page.quiet();
    expect(page.errors).toEqual([]);
    expect(lastText(page.chat.messages)).toBe('One.');
  });
});
