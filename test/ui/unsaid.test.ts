import { Chat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import { type AgentOptions, memoryStore } from 'holdpoint';
import { createUiHandler, ThreadChat, type UiHandlerOptions } from 'holdpoint/ui';
import { describe, expect, test } from 'vitest';
import type { ScriptedStep } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, travelWorld } from '../support/travel-world.ts';
import { lastText, openApprovals, origin, urlOf } from './chat-page.ts';
import { waitFor } from '../support/waiting.ts';

type Fetch = typeof globalThis.fetch;

const bodyOf = (init: RequestInit | undefined) =>
  typeof init?.body === 'string' ? init.body : 'GET';

/** A page on a thread, and what lies between it and the server, which tests replace. */
function site(
  script: ScriptedStep[],
  { between, ...handlerOptions }: Partial<UiHandlerOptions> & { between?: (route: Fetch) => Fetch },
  agentOptions: Partial<AgentOptions> = {},
) {
  const store = memoryStore();
  const world = travelWorld(scriptedModel(script), () => store);
  const agent = world.agent(agentOptions);
  const handler = createUiHandler({
    agent,
    authorize: () => ({ principal: 'ann' }),
    ...handlerOptions,
  });
  const route: Fetch = async (input, init) => {
    init?.signal?.throwIfAborted();
    return handler(new Request(new URL(urlOf(input), origin), init));
  };
  const sent: string[] = [];
  const fetch: Fetch = async (...asked) => {
    sent.push(bodyOf(asked[1]));
    if (sent.length > 9_000) throw new Error('The page sends for ever.');
    return (between?.(route) ?? route)(...asked);
  };
  const thread = new ThreadChat((init) => new Chat<UIMessage>(init), {
    id: 't',
    api: '/chat',
    fetch,
    // A thousand times as fast. A page that did not wait would ask thousands of times between two polls of `vi.waitFor`.
    wait: async (milliseconds) =>
      new Promise((resolve) => milliseconds < 12_000 && setTimeout(resolve, milliseconds / 1_000)),
  });
  const texts = async () => JSON.stringify((await agent.thread('t')).messages);
  const given = async () =>
    (await agent.thread('t')).events.filter(({ type }) => type === 'request-answered').length;
  return { thread, chat: thread.chat, sent, texts, given };
}

type At = ReturnType<typeof site>;

/** Waits until the page says this. */
async function says({ thread, chat }: At, problem: object | undefined): Promise<void> {
  await waitFor(() => expect(thread.state.problem).toEqual(problem), 5_000);
  await waitFor(() => expect(['ready', 'error']).toContain(chat.status));
}

const approval = (requestId: string) =>
  ({ type: 'approval-response', requestId, approved: true }) as const;
const one: ScriptedStep[] = [{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }];
const unsent = { type: 'refused', code: 'not-sent', text: 'Your message was not sent.' };

/** A server that tests take away. */
function net() {
  const state = { isDown: false, losesReplies: false };
  const between =
    (route: Fetch): Fetch =>
    async (...asked) => {
      if (state.isDown) throw new TypeError('Failed to fetch');
      const response = await route(...asked);
      if (!state.losesReplies) return response;
      await response.text();
      state.isDown = true;
      throw new TypeError('Failed to fetch');
    };
  return { state, between };
}

describe('S13-11: a message that is stopped while the server is away', () => {
  test.each(['', ' and stands below the same words'])(
    'comes back to the person%s',
    async (again) => {
      const { state, between } = net();
      const at = site([{ text: 'One.' }], { between });
      await at.thread.open();
      if (again !== '') await at.chat.sendMessage({ text: 'Precious words' });
      state.isDown = true;
      void at.chat.sendMessage({ text: 'Precious words' });
      await waitFor(() => expect(at.thread.state.problem?.type).toBe('away'));
      await at.thread.stop();
      state.isDown = false;
      await says(at, { ...unsent, unsaid: 'Precious words' });
      expect(at.chat.messages).toHaveLength(again === '' ? 0 : 2);
    },
  );

  test('is not said to be lost where only its reply was', async () => {
    const { state, between } = net();
    const at = site([{ text: 'One.' }], { between });
    await at.thread.open();
    state.losesReplies = true;
    void at.chat.sendMessage({ text: 'Precious words' });
    await waitFor(() => expect(at.thread.state.problem?.type).toBe('away'));
    await at.thread.stop();
    Object.assign(state, { isDown: false, losesReplies: false });
    await waitFor(() => expect(lastText(at.chat.messages)).toBe('One.'));
    await says(at, undefined);
  });
});

test('S13-11: Stop waits for a message that is on its way, so that nothing runs after it', async () => {
  const gate = Promise.withResolvers<void>();
  const between =
    (route: Fetch): Fetch =>
    async (input, init) => {
      const isMessage = bodyOf(init).includes('Hi');
      if (isMessage) await gate.promise;
      return route(input, init);
    };
  const at = site([{ text: 'Hello.' }], { between });
  await at.thread.open();
  const sending = at.chat.sendMessage({ text: 'Hi' });
  await waitFor(() => expect(at.sent).toHaveLength(2));
  const stopping = at.thread.stop();
  await new Promise(setImmediate);
  expect(at.sent).toHaveLength(2);
  gate.resolve();
  await Promise.all([sending, stopping]);
  expect(at.sent.findIndex((body) => body.includes('"stop":true'))).toBe(2);
  expect(await at.texts()).toContain('Hi');
  expect(at.chat.messages[0]).toMatchObject({ role: 'user', parts: [{ text: 'Hi' }] });
});

const signIn = 'Something else answered for the server. You may have to sign in again.';
const signedOut = async () => {
  const state = { isSignedIn: true };
  const between =
    (route: Fetch): Fetch =>
    async (...asked) => {
      if (state.isSignedIn) return route(...asked);
      const headers = { 'content-type': 'text/html; charset=utf-8' };
      return new Response('<!doctype html><p>Sign in', { headers });
    };
  const at = site(one, { between });
  await at.thread.open();
  await at.chat.sendMessage({ text: 'Book' });
  state.isSignedIn = false;
  return { at, state };
};

describe('S13-09: a sign-in page that answers for the server', () => {
  test('takes no answer: the page shows the request as open, says why, and sends once', async () => {
    const { at, state } = await signedOut();
    const [id = ''] = openApprovals(at.chat.messages);
    await at.thread.answer(approval(id));
    await says(at, {
      type: 'refused',
      code: 'foreign-response',
      text: signIn,
      requestId: id,
    });
    expect(at.sent.filter((body) => body.includes('"approved"'))).toHaveLength(1);
    expect(openApprovals(at.chat.messages)).toEqual([id]);
    expect([...at.thread.state.sending]).toEqual([]);
    expect(await at.given()).toBe(0);
    state.isSignedIn = true;
    await at.thread.answer(approval(id));
    await waitFor(() => expect(lastText(at.chat.messages)).toBe('Booked.'));
  });

  test('takes no message: its text comes back', async () => {
    const { at } = await signedOut();
    await at.chat.sendMessage({ text: 'Or Rome?' });
    await says(at, { type: 'refused', code: 'foreign-response', text: signIn, unsaid: 'Or Rome?' });
  });
});

test('S13-09: an answer of somebody who has been signed out is not given, and the thread stays on the screen no more', async () => {
  const state = { isSignedIn: true };
  const at = site(one, { authorize: () => (state.isSignedIn ? { principal: 'ann' } : undefined) });
  await at.thread.open();
  await at.chat.sendMessage({ text: 'Book' });
  const [id = ''] = openApprovals(at.chat.messages);
  state.isSignedIn = false;
  await at.thread.answer(approval(id));
  const text = 'You are not allowed to do this.';
  await says(at, { type: 'refused', code: 'not-allowed', text });
  expect(at.chat.messages).toEqual([]);
  expect(at.thread.state.isLoaded).toBe(false);
  expect(await at.given()).toBe(0);
  expect(at.thread.state.sending.size).toBe(0);
});

const authorize = (state: { isBroken: boolean }) => () => {
  if (state.isBroken) throw new Error('The database is down, password 1234.');
  return { principal: 'ann' };
};

describe('S13-13: a thread that can not be read', () => {
  test('is read after all when the person tries again, and the page says nothing of it any more', async () => {
    const state = { isBroken: true };
    const at = site([], { authorize: authorize(state) });
    await at.thread.open();
    await says(at, { type: 'failed', text: 'An error occurred.' });
    expect(at.thread.state.isLoaded).toBe(false);
    state.isBroken = false;
    await at.thread.tryAgain();
    expect(at.thread.state).toMatchObject({ isLoaded: true, problem: undefined });
  });

  test('does not take the words away that were refused before', async () => {
    const state = { isBroken: false };
    const at = site([], { authorize: authorize(state) });
    await at.thread.open();
    state.isBroken = true;
    await at.chat.sendMessage({ text: 'Precious words' });
    await waitFor(() => expect(at.sent.filter((body) => body === 'GET')).toHaveLength(2));
    await at.thread.refresh();
    expect(at.thread.state.problem).toMatchObject({ unsaid: 'Precious words' });
  });
});
