import { tool, type UIMessage } from 'ai';
import { describe, expect, test } from 'vitest';
import { toUIMessages } from 'holdpoint/ui';
import { finishPart, textParts } from '../support/streamed-model.ts';
import { cityInput, travelTools } from '../support/travel-world.ts';
import { chatPage, comparable, lastText, type PageOptions, post, toolParts } from './chat-page.ts';
import { call, city, streamingSite } from './streaming-site.ts';
import { pickCases } from '../support/sampling.ts';

const says = (text: string) => [...textParts('0', text), finishPart()];
const user = (text: string, id = 'u') => ({ id, role: 'user', parts: [{ type: 'text', text }] });

/** A page whose connection can be lost, before a request or before its response. */
function site(page: PageOptions = {}) {
  const at = streamingSite([says('One.'), says('Two.'), says('Three.')]);
  const line: { lost?: 'request' | 'response' } = {};
  const lossy = chatPage(async (request) => {
    if (line.lost === 'request') throw new TypeError('fetch failed');
    const response = await at.handler(request);
    if (line.lost === undefined) return response;
    await response.text();
    throw new TypeError('fetch failed');
  }, page);
  const said = async () => {
    const { messages } = await at.agent.thread('t');
    return messages.flatMap((message) => (message.role === 'user' ? [textOf(message)] : []));
  };
  return { ...at, ...lossy, line, said };
}

function textOf({ content }: { content: string | readonly object[] }): string {
  return typeof content === 'string'
    ? content
    : content.map((part) => ('text' in part ? part.text : '')).join('');
}

const ways = [
  ['sendMessage', false],
  ['sendMessage', true],
  ['regenerate', false],
  ['regenerate', true],
] as const;

describe('a message whose request was lost', () => {
  test.each(pickCases(ways, 3))(
    'is said by %s (the whole history is sent: %s; regression: it was dropped, and the turn before was told)',
    async (how, sendsHistory) => {
      const at = site({ sendsHistory });
      await at.chat.sendMessage({ text: 'first' });
      at.line.lost = 'request';
      await at.chat.sendMessage({ text: 'second' });
      delete at.line.lost;
      await at.chat[how]();
      await at.quiet();
      expect(await at.said()).toEqual(['first', 'second']);
      expect(at.chat.messages.map(({ role }) => role)).toEqual([
        'user',
        'assistant',
        'user',
        'assistant',
      ]);
      expect(comparable(at.chat.messages)).toEqual(comparable(await at.reloaded()));
    },
  );

  test.each(pickCases(ways, 3))(
    'is said once, where only the response was lost: %s (the whole history: %s)',
    async (how, sendsHistory) => {
      const at = site({ sendsHistory });
      at.line.lost = 'response';
      await at.chat.sendMessage({ text: 'first' });
      delete at.line.lost;
      await at.chat[how]();
      await at.quiet();
      expect(await at.said()).toEqual(['first']);
      expect(lastText(at.chat.messages)).toBe('One.');
      expect(comparable(at.chat.messages)).toEqual(comparable(await at.reloaded()));
    },
  );

  test('is told its own turn, where another tab has said more by then', async () => {
    const at = site();
    at.line.lost = 'response';
    await at.chat.sendMessage({ text: 'first' });
    delete at.line.lost;
    const other = chatPage(at.handler, { messages: await at.reloaded() });
    await other.chat.sendMessage({ text: 'more' });
    await at.chat.sendMessage();
    await at.quiet();
    expect(lastText(at.chat.messages)).toBe('One.');
    expect(at.chat.messages).toEqual([
      expect.anything(),
      expect.objectContaining({ id: (await at.reloaded())[1]?.id }),
    ]);
    expect(await at.said()).toEqual(['first', 'more']);
  });

  test('with files is known again, live and loaded', async () => {
    for (const load of [false, true]) {
      const at = site();
      at.line.lost = 'response';
      const url = 'data:application/pdf;base64,aGk=';
      const files = [
        { type: 'file' as const, mediaType: 'application/pdf', filename: 'a.pdf', url },
      ];
      await at.chat.sendMessage({ text: 'See', files });
      delete at.line.lost;
      const [first]: UIMessage[] = await toUIMessages(await at.agent.thread('t'));
      const page = load ? chatPage(at.handler, { messages: first ? [first] : [] }) : at;
      await page.chat.sendMessage();
      await page.quiet();
      expect(page.errors.slice(load ? 0 : 1)).toEqual([]);
      expect(await at.said()).toEqual(['See']);
      expect(lastText(page.chat.messages)).toBe('One.');
    }
  });
});

test('an edited message is refused: 400 (regression: its words were dropped, and the answer to the old ones was emptied)', async () => {
  const at = site();
  await at.chat.sendMessage({ text: 'first' });
  await at.chat.sendMessage({ text: 'edited', messageId: at.chat.messages[0]?.id ?? '' });
  await at.quiet();
  expect(at.sent.at(-1)?.status).toBe(400);
  expect(at.errors).toMatchObject([{ message: expect.stringContaining("can't be edited") }]);
  expect(await at.said()).toEqual(['first']);
});

test('ids of the form that is given here, to no message or to other words, too long, or no text: 400', async () => {
  const at = site();
  await at.chat.sendMessage({ text: 'first' });
  const { revision } = await at.agent.thread('t');
  for (const id of ['t:1:user', 't:2:user', 't:99:user', 't:0:user', 'x'.repeat(257), '\uD800']) {
    const response = await at.handler(post({ id: 't', message: user('other', id) }));
    expect([id, response.status]).toEqual([id, 400]);
  }
  expect((await at.agent.thread('t')).revision).toBe(revision);
});

test('results in the body beside a message are brought (regression: they were dropped)', async () => {
  const at = streamingSite(
    [[...call('c1', 'here', city), finishPart('tool-calls')], says('Rome.')],
    {
      tools: { ...travelTools([]), here: tool({ inputSchema: cityInput }) },
      clientTools: ['here'],
    },
  );
  await at.chat.sendMessage({ text: 'Where?' });
  await at.chat.sendMessage(
    { text: 'Well?' },
    { body: { outputs: [{ toolCallId: 'c1', output: 'Rome' }] } },
  );
  await at.quiet();
  expect(at.errors).toEqual([]);
  expect(JSON.stringify(await at.agent.thread('t'))).toContain('"output":"Rome"');
  expect(toolParts(await at.reloaded())).toMatchObject([{ output: 'Rome' }]);
});
