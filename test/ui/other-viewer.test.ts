import { Chat } from '@ai-sdk/react';
import { DefaultChatTransport, type UIMessage } from 'ai';
import { type AgentOptions, memoryStore } from 'holdpoint';
import { createUiHandler, prepareSendMessagesRequest, ThreadChat } from 'holdpoint/ui';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ScriptedStep } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, travelWorld } from '../support/travel-world.ts';
import { chatPage, lastText, openApprovals, origin, post, urlOf } from './chat-page.ts';
import { waitFor } from '../support/waiting.ts';
import { pickCases } from '../support/sampling.ts';

interface Person {
  id: string;
  token?: string;
}

/** A browser: everything that a tab sends carries the cookie of whoever is signed in at that moment. */
interface Browser {
  person: Person | undefined;
  isDown: boolean;
  sent: { method: string; url: string; body: string; status: number }[];
  /** What a request waits for on its way. */
  onWay: (body: string) => Promise<void>;
}

const ada = { id: 'ada' };
const ben = { id: 'ben' };
const booking: ScriptedStep[] = [{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }];

/** A thread that Ada and Ben share, and one browser with a tab. */
function site(
  script: ScriptedStep[] = booking,
  options: Partial<AgentOptions> = {},
  authorize: (person: Person | undefined) => { principal: unknown } | Response | undefined = (
    person,
  ) => person && { principal: person },
) {
  const kept = memoryStore();
  const world = travelWorld(scriptedModel(script), () => kept);
  const agent = world.agent(options);
  let person: Person | undefined;
  const handler = createUiHandler({ agent, authorize: () => authorize(person) });
  const browser: Browser = { person: ada, isDown: false, sent: [], onWay: async () => {} };
  const fetch: typeof globalThis.fetch = async (input, init) => {
    init?.signal?.throwIfAborted();
    if (browser.sent.length > 200) throw new Error('The page sends for ever.');
    if (browser.isDown) throw new TypeError('Failed to fetch');
    ({ person } = browser);
    const request = new Request(new URL(urlOf(input), origin), init);
    const response = await handler(request);
    const { method, url } = request;
    const body = typeof init?.body === 'string' ? init.body : '';
    browser.sent.push({ method, url, body, status: response.status });
    await browser.onWay(body);
    return response;
  };
  const tab = () => {
    const thread = new ThreadChat((init) => new Chat<UIMessage>(init), {
      id: 't',
      api: '/chat',
      fetch,
      wait: async (milliseconds) =>
        milliseconds === 12_000 ? new Promise(() => {}) : new Promise((done) => setTimeout(done)),
    });
    return { thread, chat: thread.chat };
  };
  /** A request of a page by itself. */
  const send = async (as: Person, request: Request): Promise<Response> => {
    person = as;
    return handler(request);
  };
  const events = async () => (await agent.thread('t')).events;
  const texts = async () => JSON.stringify(await events());
  return { agent, world, browser, tab, send, events, texts };
}

type Site = ReturnType<typeof site>;
type Tab = ReturnType<Site['tab']>;

const get = (query: string): Request => new Request(`${origin}/chat?id=t${query}`);
const viewerSchema = z.object({ viewer: z.string() });
const viewerIn = async (response: Response): Promise<string> =>
  viewerSchema.parse(await response.json()).viewer;
const viewerFor = async ({ send }: Site, person: Person): Promise<string> =>
  viewerIn(await send(person, get('')));
const yes = (requestId: string) =>
  ({ type: 'approval-response', requestId, approved: true }) as const;
const isAway = ({ thread }: Tab) => waitFor(() => expect(thread.state.problem?.type).toBe('away'));
const isLoaded = ({ thread }: Tab) => waitFor(() => expect(thread.state.isLoaded).toBe(true));
const otherViewer = {
  type: 'refused',
  code: 'other-viewer',
  text: 'This page was loaded for somebody else. What was not sent is gone.',
};

/** Ada's tab, which shows the request for her booking. */
async function asked(at: Site): Promise<Tab & { requestId: string }> {
  const tab = at.tab();
  await tab.thread.open();
  await tab.chat.sendMessage({ text: 'Book Paris' });
  const [requestId = ''] = openApprovals(tab.chat.messages);
  return { ...tab, requestId };
}

/** The server is away while Ada acts, she signs out, Ben signs in, and the server is back. */
async function changesHands({ browser }: Site, tab: Tab, act: () => unknown): Promise<void> {
  browser.isDown = true;
  void act();
  await isAway(tab);
  browser.person = ben;
  browser.isDown = false;
  await waitFor(() => expect(tab.thread.state.problem).toEqual(otherViewer));
  await isLoaded(tab);
}

describe('a tab in which Ada has signed out and Ben has signed in', () => {
  test('does not send her yes as his: nothing is recorded, and the call does not run', async () => {
    const at = site();
    const tab = await asked(at);
    const before = (await at.events()).length;
    const viewer = tab.thread.state.viewer;
    await changesHands(at, tab, async () => tab.thread.answer(yes(tab.requestId)));
    expect((await at.events()).length).toBe(before);
    expect(at.world.ran).toEqual([]);
    expect(openApprovals(tab.chat.messages)).toEqual([tab.requestId]);
    expect([...tab.thread.state.sending]).toEqual([]);
    expect(tab.thread.state.viewer).not.toBe(viewer);
    await tab.thread.answer(yes(tab.requestId));
    await waitFor(() => expect(lastText(tab.chat.messages)).toBe('Booked.'));
    expect(await at.texts()).toContain('"principal":{"id":"ben"}');
  });

  test('does not send her message as his, nor gives it back to him', async () => {
    const at = site([{ text: 'Hello.' }]);
    const tab = at.tab();
    await tab.thread.open();
    await changesHands(at, tab, async () => tab.chat.sendMessage({ text: 'I resign.' }));
    expect(await at.texts()).not.toContain('resign');
    expect(JSON.stringify([tab.chat.messages, tab.thread.state.problem])).not.toContain('resign');
  });

  test.each([
    [
      'withdrawal',
      async ({ thread, requestId }: Tab & { requestId: string }) => thread.withdraw(requestId),
    ],
    [
      'reassignment',
      async ({ thread, requestId }: Tab & { requestId: string }) =>
        thread.reassign(requestId, 'cy'),
    ],
    ['regenerate', async ({ chat }: Tab) => chat.regenerate()],
    [
      'answer with a reason to remember',
      async ({ thread, requestId }: Tab & { requestId: string }) =>
        thread.answer({ ...yes(requestId), remember: { scope: 'thread', match: 'exact' } }),
    ],
  ])('does not send her %s as his', async (_name, act) => {
    const at = site(booking, {
      toolApproval: {
        book: { type: 'user-approval', remember: { scope: 'thread', match: 'exact' } },
      },
    });
    const tab = await asked(at);
    const before = (await at.events()).length;
    await changesHands(at, tab, async () => act(tab));
    expect((await at.events()).length).toBe(before);
  });

  test('drops an answer of hers that waits for the end of a reply', async () => {
    const at = site([{ text: 'Hello.' }]);
    const tab = at.tab();
    await tab.thread.open();
    const reply = Promise.withResolvers<void>();
    at.browser.onWay = async (body) => (body.includes('Hi') ? reply.promise : undefined);
    void tab.chat.sendMessage({ text: 'Hi' });
    await waitFor(() => expect(at.browser.sent.at(-1)?.method).toBe('POST'));
    const answered = tab.thread.answer({ ...yes('r1'), reason: 'It is mine' });
    at.browser.person = ben;
    await tab.thread.withdraw('r1');
    expect(tab.chat.messages).toEqual([]);
    reply.resolve();
    await answered;
    await isLoaded(tab);
    expect(at.browser.sent.filter(({ body }) => body.includes('It is mine'))).toEqual([]);
    expect(lastText(tab.chat.messages)).toBe('Hello.');
  });

  test('is loaded for him when it looks whether the thread has changed', async () => {
    const at = site();
    const tab = await asked(at);
    const { viewer } = tab.thread.state;
    at.browser.person = ben;
    const shown: unknown[] = [];
    tab.thread.subscribe(() => shown.push(tab.thread.state.viewer));
    await tab.thread.poll();
    await isLoaded(tab);
    expect(shown).toContain(undefined);
    expect(tab.thread.state.viewer).toBe(await viewerFor(at, ben));
    expect(tab.thread.state.viewer).not.toBe(viewer);
  });

  test('sends her own answer when she has signed in again herself', async () => {
    const at = site();
    const tab = await asked(at);
    at.browser.isDown = true;
    void tab.thread.answer(yes(tab.requestId));
    await isAway(tab);
    at.browser.person = { ...ada };
    at.browser.isDown = false;
    await waitFor(() => expect(lastText(tab.chat.messages)).toBe('Booked.'));
    expect(at.world.ran).toHaveLength(1);
  });

  test('does not show what arrives late for her', async () => {
    const at = site(booking, {}, (person) =>
      person ? { principal: person } : new Response('Sign in.', { status: 401 }),
    );
    const tab = await asked(at);
    const late = Promise.withResolvers<void>();
    at.browser.onWay = async () => late.promise;
    const reading = tab.thread.refresh();
    await waitFor(() => expect(at.browser.sent.at(-1)?.method).toBe('GET'));
    at.browser.onWay = async () => {};
    at.browser.person = undefined;
    await tab.thread.withdraw(tab.requestId);
    late.resolve();
    await reading;
    await waitFor(() =>
      expect(at.browser.sent.at(-1)).toMatchObject({ method: 'GET', status: 401 }),
    );
    expect(tab.chat.messages).toEqual([]);
    expect(tab.thread.state).toMatchObject({ isLoaded: false, problem: { type: 'refused' } });
  });
});

test('once it is loaded for him, a late refusal of what she read does not clear the page', async () => {
  const at = site();
  const tab = await asked(at);
  at.browser.person = ben;
  const late = Promise.withResolvers<void>();
  at.browser.onWay = async () => late.promise;
  const reading = tab.thread.refresh();
  await waitFor(() => expect(at.browser.sent.at(-1)?.status).toBe(403));
  at.browser.onWay = async () => {};
  await tab.thread.withdraw(tab.requestId);
  await isLoaded(tab);
  const shown: boolean[] = [];
  tab.thread.subscribe(() => shown.push(tab.thread.state.isLoaded));
  late.resolve();
  await reading;
  await tab.thread.refresh();
  expect(shown).not.toContain(false);
  expect(openApprovals(tab.chat.messages)).toEqual([tab.requestId]);
});

describe('a tab that may not use the thread any more', () => {
  const refusals: [string, () => Response | undefined][] = [
    ['403 of the route', () => undefined],
    ['401 of the app', () => new Response('Sign in.', { status: 401 })],
    ['403 of the app', () => new Response('No.', { status: 403 })],
  ];
  const acts: [string, (tab: Tab & { requestId: string }) => Promise<unknown>][] = [
    ['an answer', async ({ thread, requestId }) => thread.answer(yes(requestId))],
    ['a look', async ({ thread }) => thread.refresh()],
    ['a poll', async ({ thread }) => thread.poll()],
    ['a vote', async ({ thread, requestId }) => thread.withdraw(requestId)],
    ['a stop', async ({ thread }) => thread.stop()],
    ['a message', async ({ chat }) => chat.sendMessage({ text: 'I resign.' })],
  ];
  test.each(
    refusals.flatMap(([why, refuse]) => acts.map(([what, act]) => ({ why, refuse, what, act }))),
  )('shows nothing of it after a $why to $what', async ({ refuse, act }) => {
    const at = site(booking, {}, (person) => (person ? { principal: person } : refuse()));
    const tab = await asked(at);
    at.browser.person = undefined;
    await act(tab);
    await waitFor(() => expect(tab.thread.state.isLoaded).toBe(false));
    await waitFor(() => expect(tab.thread.state.problem?.type).toBe('refused'));
    expect(tab.chat.messages).toEqual([]);
    expect(tab.thread.state).toMatchObject({ viewer: undefined, sending: new Set() });
    expect(JSON.stringify(tab.thread.state)).not.toContain('resign');
    at.browser.person = ben;
    await waitFor(async () => {
      await tab.thread.tryAgain();
      expect(tab.thread.state.isLoaded).toBe(true);
    });
    expect(openApprovals(tab.chat.messages)).toEqual([tab.requestId]);
    expect(await at.texts()).not.toContain('resign');
  });

  test('stays when only one answer is refused, or one vote', async () => {
    const at = site(booking, { mayAnswer: () => false });
    const tab = await asked(at);
    const { viewer } = tab.thread.state;
    const viewers: unknown[] = [];
    tab.thread.subscribe(() => viewers.push(tab.thread.state.viewer));
    await tab.thread.answer(yes(tab.requestId));
    await waitFor(() => expect(tab.thread.state.problem).toMatchObject({ code: 'not-allowed' }));
    await tab.thread.reassign(tab.requestId, 'cy');
    await tab.thread.refresh();
    expect(openApprovals(tab.chat.messages)).toEqual([tab.requestId]);
    expect(new Set(viewers)).toEqual(new Set([viewer]));
  });

  test('of two tabs in one browser the other one shows nothing either, once it has looked', async () => {
    const at = site();
    const one = await asked(at);
    const other = at.tab();
    await other.thread.open();
    at.browser.person = undefined;
    await one.thread.refresh();
    await other.thread.poll();
    expect([one.chat.messages, other.chat.messages]).toEqual([[], []]);
  });
});

/** A tab that could not load yet. */
const waiting = async (at: Site): Promise<Tab> => {
  const tab = at.tab();
  at.browser.isDown = true;
  void tab.thread.open();
  await isAway(tab);
  return tab;
};
/** The server is back, and Ben has signed in. */
const isBack = async ({ browser }: Site, tab: Tab): Promise<void> => {
  browser.person = ben;
  browser.isDown = false;
  await isLoaded(tab);
};

describe('before the page has loaded', () => {
  test('a message comes back at once, and is not sent later', async () => {
    const at = site([{ text: 'Hello.' }]);
    const tab = await waiting(at);
    await tab.chat.sendMessage({ text: 'I resign.' });
    expect(tab.thread.state.problem).toMatchObject({ code: 'not-sent', unsaid: 'I resign.' });
    await isBack(at, tab);
    expect(await at.texts()).not.toContain('resign');
  });

  test('nothing else is sent either', async () => {
    const at = site();
    const tab = await waiting(at);
    void tab.thread.withdraw('r1');
    void tab.thread.reassign('r1', 'cy');
    void tab.thread.answer({ ...yes('r1'), reason: 'It is mine' });
    await isBack(at, tab);
    expect(at.browser.sent.filter(({ method }) => method === 'POST')).toEqual([]);
  });
});

test('a page that is closed stays closed when its last request is refused', async () => {
  const at = site();
  const tab = await asked(at);
  const late = Promise.withResolvers<void>();
  at.browser.person = ben;
  at.browser.onWay = async () => late.promise;
  const changing = tab.thread.withdraw(tab.requestId);
  await waitFor(() => expect(at.browser.sent.at(-1)?.status).toBe(403));
  tab.thread.close();
  const { length } = at.browser.sent;
  late.resolve();
  await changing;
  expect(at.browser.sent).toHaveLength(length);
});

describe('the route, asked by a page that was loaded for Ada while Ben is signed in', () => {
  const parts: [string, (requestId: string) => object][] = [
    [
      'message',
      () => ({ message: { id: 'm2', role: 'user', parts: [{ type: 'text', text: 'I resign.' }] } }),
    ],
    ['answer', (requestId) => ({ answers: [yes(requestId)] })],
    ['output', () => ({ outputs: [{ toolCallId: 'c1', output: 'done' }] })],
    ['regenerate', () => ({ trigger: 'regenerate-message' })],
    ['stop', () => ({ stop: true })],
    ['withdrawal', (requestId) => ({ withdraw: requestId })],
    ['reassignment', (requestId) => ({ reassign: { requestId, to: 'cy' } })],
  ];
  test.each(pickCases(parts, 3))(
    'refuses a %s before anything is recorded',
    async (_name, part) => {
      const at = site();
      const { requestId } = await asked(at);
      const before = await at.texts();
      const viewer = await viewerFor(at, ada);
      const body = { id: 't', viewer, whilePending: 'cancel', ...part(requestId) };
      const response = await at.send(ben, post(body));
      expect([response.status, await response.json()]).toEqual([
        403,
        { error: { code: 'other-viewer', message: expect.stringContaining('somebody else') } },
      ]);
      expect(await at.texts()).toBe(before);
      expect(at.world.ran).toEqual([]);
    },
  );

  test.each(['', '&stream', '&seen=5.waiting'])('refuses to read (%s)', async (query) => {
    const at = site();
    await asked(at);
    const viewer = await viewerFor(at, ada);
    const statuses = [ada, ben].map(
      async (person) => (await at.send(person, get(`${query}&viewer=${viewer}`))).status,
    );
    expect(await Promise.all(statuses)).toEqual([expect.not.stringMatching('403'), 403]);
    const path = new Request(`${origin}/chat/t/stream?viewer=${viewer}`);
    expect((await at.send(ben, path)).status).toBe(403);
  });

  test('takes what a page sends that does not say for whom it was loaded', async () => {
    const at = site();
    const page = chatPage(async (request) => at.send(ada, request));
    await page.chat.sendMessage({ text: 'Book Paris' });
    const [id = ''] = openApprovals(page.chat.messages);
    const ofBen = chatPage(async (request) => at.send(ben, request), {
      messages: page.chat.messages,
    });
    await ofBen.respond(id, true);
    expect(at.world.ran).toHaveLength(1);
    expect(JSON.stringify(ofBen.sent)).not.toContain('viewer');
  });
});

test('a plain page can say for whom it was loaded, with the body of its transport', async () => {
  const at = site();
  const viewer = await viewerFor(at, ada);
  const page = (as: Person) =>
    new Chat<UIMessage>({
      id: 't',
      transport: new DefaultChatTransport({
        api: `${origin}/chat`,
        body: () => ({ viewer }),
        prepareSendMessagesRequest,
        fetch: async (input, init) => at.send(as, new Request(urlOf(input), init)),
      }),
    });
  await page(ben).sendMessage({ text: 'I resign.' });
  expect(await at.events()).toEqual([]);
  await page(ada).sendMessage({ text: 'Book Paris' });
  expect(await at.texts()).toContain('Book Paris');
});

const principalId = (principal: unknown): string => String(Object(principal).id);

describe('the viewer', () => {
  test('is another one for each person and each thread, and does not say who it is', async () => {
    const at = site();
    const ofAda = await viewerFor(at, ada);
    expect(ofAda).toMatch(/^[\w-]{43}$/);
    expect(await viewerFor(at, { ...ada })).toBe(ofAda);
    expect(await viewerFor(at, ben)).not.toBe(ofAda);
    const other = await at.send(ada, new Request(`${origin}/chat?id=other`));
    expect(await viewerIn(other)).not.toBe(ofAda);
  });

  test('stays the same where principalId names the person and their token changes', async () => {
    const [named, whole] = [site(booking, { principalId }), site()];
    const viewers = async (at: Site) => [
      await viewerFor(at, { id: 'ada', token: 'one' }),
      await viewerFor(at, { id: 'ada', token: 'two' }),
    ];
    expect(new Set(await viewers(named)).size).toBe(1);
    expect(new Set(await viewers(whole)).size).toBe(2);
    expect((await viewers(named))[0]).not.toBe(await viewerFor(site(), { id: 'ada' }));
  });

  test('is compared by the page too, if a route does not', async () => {
    const at = site();
    const tab = await asked(at);
    const stored = { messages: [], status: 'idle', viewer: 'ben' };
    const thread = new ThreadChat((init) => new Chat<UIMessage>(init), {
      id: 't',
      fetch: async () => Response.json({ ...stored, viewer: at.browser.person?.id }),
    });
    await thread.open();
    thread.chat.messages = tab.chat.messages;
    at.browser.person = ben;
    const seen: unknown[] = [];
    thread.subscribe(() => seen.push(thread.state.isLoaded));
    await thread.refresh();
    await waitFor(() => expect(thread.state.viewer).toBe('ben'));
    expect(seen).toContain(false);
    expect(thread.chat.messages).toEqual([]);
  });
});
