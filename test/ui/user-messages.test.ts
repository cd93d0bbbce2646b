import { Chat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import { createUiHandler, ThreadChat, toUIMessages } from 'holdpoint/ui';
import { describe, expect, test } from 'vitest';
import type { ScriptedStep } from '../support/script.ts';
import { memoryWorld } from '../support/travel-world.ts';
import { waitUntil } from '../support/waiting.ts';
import { chatPage, origin, post, urlOf } from './chat-page.ts';

const words: ScriptedStep[] = [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }];

/** A thread that several people share: the header `x-person` says who sends. */
function site(script = words) {
  const world = memoryWorld(script);
  const agent = world.agent();
  const handler = createUiHandler({
    agent,
    authorize: ({ request }) => ({ principal: request.headers.get('x-person') ?? 'ann' }),
  });
  const loaded = async () => toUIMessages(await agent.thread('t'));
  const say = async (person: string, message: object) => {
    const response = await handler(post({ id: 't', message }, { 'x-person': person }));
    return { status: response.status, text: await response.text() };
  };
  return { ...world.played, agent, handler, loaded, say, ...chatPage(handler) };
}

const user = (id: string, text: string, metadata?: unknown) => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text }],
  ...(metadata === undefined ? {} : { metadata }),
});

/** The ids, roles and first texts of messages. */
const briefly = (messages: readonly UIMessage[]) =>
  messages.map(({ id, role, parts }) => [
    id,
    role,
    parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))[0],
  ]);

describe("a user's message", () => {
  test.each([[{ sentAt: 5, tags: ['a', { b: null }] }], ['a text'], [null]])(
    'is the same after a reload, with its metadata: %j',
    async (metadata) => {
      const { chat, loaded } = site();
      await chat.sendMessage({ text: 'hello', metadata });
      await chat.sendMessage({ text: 'more' });
      expect(chat.messages[0]).toMatchObject({ metadata });
      expect(await loaded()).toEqual(JSON.parse(JSON.stringify(chat.messages)));
    },
  );

  test('keeps its id on a page that follows the thread', async () => {
    const { handler } = site();
    const page = new ThreadChat((init) => new Chat<UIMessage>(init), {
      id: 't',
      api: '/chat',
      fetch: async (input, init) => handler(new Request(new URL(urlOf(input), origin), init)),
    });
    const ids = new Set<string | undefined>();
    page.subscribe(() => ids.add(page.chat.messages[0]?.id));
    await page.open();
    page.composer.set('hello');
    page.composer.send();
    await waitUntil(() => page.chat.messages.length === 2 && page.chat.status === 'ready');
    await page.refresh();
    page.close();
    expect([...ids].filter((id) => id !== undefined)).toEqual([page.chat.messages[0]?.id]);
  });

  test('that is edited has its id and its new metadata', async () => {
    const { chat, loaded } = site([{ fail: 'overloaded' }, ...words]);
    await chat.sendMessage({ text: 'hello', metadata: { draft: 1 } });
    const messageId = chat.messages[0]?.id ?? '';
    await chat.sendMessage({ text: 'hello!', messageId, metadata: { draft: 2 } });
    expect(await loaded()).toMatchObject([
      { id: messageId, metadata: { draft: 2 }, parts: [{ text: 'hello!' }] },
      { role: 'assistant' },
    ]);
  });

  test('that is sent again is recorded once, with the metadata that it had first', async () => {
    const { say, loaded, prompts } = site();
    for (const metadata of [{ sent: 1 }, { sent: 2 }, undefined])
      expect((await say('ann', user('u', 'hello', metadata))).status).toBe(200);
    expect(await loaded()).toMatchObject([
      { id: 'u', metadata: { sent: 1 } },
      { role: 'assistant' },
    ]);
    expect(prompts).toHaveLength(1);
  });

  test('gives no model its id or its metadata', async () => {
    const { chat, prompts } = site();
    await chat.sendMessage({ text: 'hello', metadata: { secret: 'of the page' } });
    await chat.sendMessage({ text: 'more', metadata: { secret: 'of the page' } });
    expect(prompts).toHaveLength(2);
    const id = chat.messages[0]?.id ?? '';
    for (const unsaid of ['secret', id, 'holdpoint'])
      expect(JSON.stringify(prompts)).not.toContain(unsaid);
  });

  test.each([
    ['too long', { a: 'x'.repeat(262_144) }, 'characters long'],
    ['too deep', JSON.parse(`${'['.repeat(65)}${']'.repeat(65)}`), 'deep'],
    ['of a key that names a prototype', JSON.parse('{"__proto__":{"a":1}}'), '__proto__'],
  ])('with metadata that is %s is refused, and nothing is recorded', async (_how, bad, why) => {
    const { say, agent } = site();
    const { status, text } = await say('ann', user('u', 'hello', bad));
    expect(status).toBe(400);
    expect(text).toContain(why);
    expect((await agent.thread('t')).revision).toBe(0);
  });
});

describe('an id that somebody chose', () => {
  test.each([
    ['an earlier reply', (revision: number) => `t:${revision - 3}`],
    ['its own reply', (revision: number) => `t:${revision + 1}`],
    ['a later reply', (revision: number) => `t:${revision + 5}`],
    ['an imported message', () => 't:imported:0'],
  ])('of the form of the id of %s does not take its place', async (_which, idAt) => {
    const { agent, say, loaded } = site();
    await say('ann', user('a', 'hello'));
    const id = idAt((await agent.thread('t')).revision);
    expect((await say('eve', user(id, 'mine'))).status).toBe(200);
    await say('ann', user('b', 'more'));
    const shown = briefly(await loaded());
    expect(shown.map(([, role, text]) => [role, text])).toEqual([
      ['user', 'hello'],
      ['assistant', 'One.'],
      ['user', 'mine'],
      ['assistant', 'Two.'],
      ['user', 'more'],
      ['assistant', 'Three.'],
    ]);
    expect(new Set(shown.map(([each]) => each)).size).toBe(6);
    expect(shown[2]?.[0]).toMatch(/^t:\d+:user$/);
    expect(shown.some(([each]) => each === id)).toBe(id !== 't:imported:0');
  });

  test("does not let Eve put words under a message of Ann's, or have it answered twice", async () => {
    const { say, loaded, prompts } = site([{ fail: 'overloaded' }, ...words]);
    await say('ann', user('a', 'hello', { mood: 'good' }));
    const before = await loaded();
    expect((await say('eve', user('a', 'mine', { mood: 'bad' }))).status).toBe(403);
    expect(await loaded()).toEqual(before);
    await say('ann', user('b', 'more'));
    const requests = prompts.length;
    await say('eve', user('a', 'hello', { mood: 'bad' }));
    expect((await say('eve', user('a', 'mine'))).status).toBe(400);
    expect(prompts).toHaveLength(requests);
    expect(await loaded()).toMatchObject([
      { id: 'a', metadata: { mood: 'good' }, parts: [{ text: 'hello' }] },
      { id: 'b' },
      { role: 'assistant' },
    ]);
  });

  test('that an imported message has names no other', async () => {
    const { agent, say, loaded } = site();
    const imported = {
      role: 'user' as const,
      content: 'first',
      providerOptions: { holdpoint: { messageId: 'a' } },
    };
    await agent.thread('t', { messages: [imported] });
    expect((await say('ann', user('a', 'other'))).status).toBe(400);
    await say('ann', user('b', 'more'));
    expect(briefly(await loaded()).map(([id]) => id)).toEqual(['a', 'b', 't:3']);
  });
});
