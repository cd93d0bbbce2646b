import { Chat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import { type Agent, approve, memoryStore, type ThreadStore } from 'holdpoint';
import { approvalRequestSchema } from 'holdpoint/schemas';
import { createUiHandler, ThreadChat, type UiHandlerOptions } from 'holdpoint/ui';
import { describe, expect, test } from 'vitest';
import type { ScriptedStep } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, travelWorld } from '../support/travel-world.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import { lastText, openApprovals, origin, toolParts, urlOf } from './chat-page.ts';
import { pickCases } from '../support/sampling.ts';

const asks: ScriptedStep[] = [{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }];
const says: ScriptedStep[] = [{ text: 'Hello.' }, { text: 'Again.' }];

/** The locks of a browser, as its tabs share them: who steals a lock has it at once. */
function browserLocks() {
  const holders = new Map<string, () => void>();
  return {
    async request(name: string, _options: { steal: true }, hold: () => Promise<unknown>) {
      const stolen = Promise.withResolvers<never>();
      holders.get(name)?.();
      const lose = (): void => stolen.reject(new DOMException('Stolen.', 'AbortError'));
      holders.set(name, lose);
      try {
        return await Promise.race([hold(), stolen.promise]);
      } finally {
        if (holders.get(name) === lose) holders.delete(name);
      }
    },
  };
}

/** The channels of a browser: what one tab says, all others hear. */
function browserChannels() {
  const open = new Set<EventTarget>();
  return class extends EventTarget {
    constructor() {
      super();
      open.add(this);
    }
    postMessage(data: string): void {
      for (const each of open) {
        if (each !== this) each.dispatchEvent(Object.assign(new Event('message'), { data }));
      }
    }
    close(): void {
      open.delete(this);
    }
  };
}

/** A browser with a network that can be lost, and what its tabs have open at the server. */
function makeBrowser() {
  const locks = browserLocks();
  const BroadcastChannel = browserChannels();
  const events = new EventTarget();
  const browser = { isOnline: true, isDown: false, sent: [] as string[], open: 0, mostOpen: 0 };
  /** Breaks the connections that are open. */
  const connections = new Set<() => void>();
  const goDown = (): void => {
    browser.isDown = true;
    for (const cut of connections) cut();
  };
  const tab = () => {
    const document = Object.assign(new EventTarget(), { visibilityState: 'visible' });
    const show = (visibilityState: 'visible' | 'hidden'): void => {
      Object.assign(document, { visibilityState });
      document.dispatchEvent(new Event('visibilitychange'));
    };
    const navigator = {
      locks,
      get onLine() {
        return browser.isOnline;
      },
    };
    const globals = {
      document,
      navigator,
      BroadcastChannel,
      addEventListener: events.addEventListener.bind(events),
      removeEventListener: events.removeEventListener.bind(events),
    };
    return { globals, show };
  };
  const goOnline = (isOnline: boolean): void => {
    Object.assign(browser, { isOnline, isDown: !isOnline });
    events.dispatchEvent(new Event(isOnline ? 'online' : 'offline'));
  };
  return { browser, tab, goOnline, goDown, connections };
}

interface SiteOptions {
  handler?: Partial<UiHandlerOptions>;
  store?: ThreadStore;
  wrap?: (agent: Agent) => UiHandlerOptions['agent'];
  /** Something between the browser and the server. */
  proxy?: (request: Request, serve: () => Promise<Response>) => Promise<Response>;
}

/** A site whose clock, server and browsers are the test's. */
function site(script: ScriptedStep[], options: SiteOptions = {}) {
  const { store: kept = memoryStore(), wrap = (agent) => agent } = options;
  const watched = { subscribers: 0, heads: 0 };
  const store: ThreadStore = {
    ...kept,
    async head(threadId) {
      watched.heads += 1;
      return kept.head(threadId);
    },
  };
  if (kept.subscribe !== undefined) {
    const subscribe = kept.subscribe.bind(kept);
    store.subscribe = (listener) => {
      const unsubscribe = subscribe(listener);
      watched.subscribers += 1;
      return async () => {
        watched.subscribers -= 1;
        await unsubscribe();
      };
    };
  }
  const clock = virtualClock();
  const world = travelWorld(scriptedModel(script), () => store);
  const agent = world.agent();
  const handler = createUiHandler({
    agent: wrap(agent),
    authorize: ({ request }) => ({ principal: request.headers.get('x-person') }),
    wait: clock.wait,
    ...options.handler,
  });
  const { proxy = async (_request, serve) => serve() } = options;
  /** A browser, and the `fetch` that all its pages have. */
  const openBrowser = () => {
    const made = makeBrowser();
    const { browser } = made;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      if (browser.isDown) throw new TypeError('Failed to fetch');
      const request = new Request(new URL(urlOf(input), origin), init);
      browser.sent.push(`${request.method} ${new URL(request.url).search}`);
      browser.open += 1;
      browser.mostOpen = Math.max(browser.mostOpen, browser.open);
      let isOpen = true;
      const close = (): void => {
        if (isOpen) browser.open -= 1;
        isOpen = false;
        made.connections.delete(cut);
      };
      const broken = new AbortController();
      const cut = (): void => {
        close();
        broken.abort(new TypeError('network error'));
      };
      made.connections.add(cut);
      init?.signal?.addEventListener('abort', close);
      try {
        const response = await proxy(request, async () => handler(request));
        if (response.body === null) close();
        const read = new TransformStream<Uint8Array, Uint8Array>({ flush: close });
        const signal = AbortSignal.any([request.signal, broken.signal]);
        const body = response.body?.pipeThrough(read, { signal }) ?? null;
        return new Response(body, { status: response.status, headers: response.headers });
      } catch (error) {
        close();
        throw error;
      }
    };
    const visit = async (person: string, id = 't') => {
      const { globals, show } = made.tab();
      const thread = new ThreadChat((init) => new Chat<UIMessage>(init), {
        id,
        api: '/chat',
        headers: { 'x-person': person },
        fetch,
        wait: clock.wait,
        browser: globals,
      });
      void thread.open();
      thread.follow();
      await clock.pass(0);
      return { thread, chat: thread.chat, show, [Symbol.dispose]: () => thread.close() };
    };
    return { ...made, visit };
  };
  return { agent, world, handler, clock, watched, openBrowser };
}

type Page = Awaited<ReturnType<ReturnType<ReturnType<typeof site>['openBrowser']>['visit']>>;

/** The approval of the request that a page shows as open. */
function approvalOn({ chat }: Page) {
  const part = toolParts(chat.messages).find(({ state }) => state === 'approval-requested');
  return approve(approvalRequestSchema.parse(part?.approval?.descriptor));
}

/** Takes the server away, and counts what the browser tries then. */
function countAttempts(browser: { isDown: boolean }): () => number {
  let attempts = 0;
  Object.defineProperty(browser, 'isDown', {
    get: () => {
      attempts += 1;
      return true;
    },
  });
  return () => attempts;
}

const withoutNotices = (): ThreadStore => {
  const { subscribe: _none, ...store } = memoryStore();
  return store;
};
const withoutListening = (): ThreadStore => ({
  ...memoryStore(),
  subscribe: () => {
    throw new TypeError('This pool opens 1.');
  },
});
const ownObject = (agent: Agent): UiHandlerOptions['agent'] => ({
  now: () => agent.now(),
  thread: async (...id) => agent.thread(...id),
  rights: async (...asked) => agent.rights(...asked),
  stream: (...run) => agent.stream(...run),
  respond: async (...answer) => agent.respond(...answer),
  deliver: async (...outcome) => agent.deliver(...outcome),
  stop: async (...run) => agent.stop(...run),
  withdraw: async (...vote) => agent.withdraw(...vote),
  reassign: async (...request) => agent.reassign(...request),
});

describe('a page that nobody touches', () => {
  const sites: [string, () => SiteOptions][] = [
    ['the store has notices', () => ({})],
    ['the store has none', () => ({ store: withoutNotices() })],
    ['the store can’t listen', () => ({ store: withoutListening() })],
    ['the agent is the app’s own object', () => ({ wrap: ownObject })],
    ['the route holds no request', () => ({ handler: { followMs: 0 } })],
  ];
  test.each(pickCases(sites, 3))(
    'that was opened before the first message shows a request within two seconds, and what became of it: %s',
    async (_name, options) => {
      const at = site(asks, options());
      using bob = await at.openBrowser().visit('bob');
      await at.clock.pass(50_000);
      using ann = await at.openBrowser().visit('ann');
      void ann.chat.sendMessage({ text: 'Book' });
      await at.clock.pass(2_000);
      expect(openApprovals(bob.chat.messages)).toEqual(openApprovals(ann.chat.messages));
      expect(openApprovals(bob.chat.messages)).toHaveLength(1);
      void ann.thread.answer(approvalOn(ann));
      await at.clock.pass(2_000);
      expect(lastText(bob.chat.messages)).toBe('Booked.');
    },
  );

  test.each(pickCases(sites, 3))(
    'shows a message and its reply, of which there is no notice, within two seconds: %s',
    async (_name, options) => {
      const at = site(says, options());
      using bob = await at.openBrowser().visit('bob');
      for (const text of ['Hello.', 'Again.']) {
        await at.clock.pass(50_000);
        await at.agent.run('Hi', await at.agent.thread('t'), { principal: 'ann' });
        await at.clock.pass(2_000);
        expect(lastText(bob.chat.messages)).toBe(text);
      }
    },
  );

  test('is told of a request at once where the store has notices', async () => {
    const at = site(asks);
    using bob = await at.openBrowser().visit('bob');
    await at.clock.pass(10_000);
    await at.agent.run('Book', await at.agent.thread('t'), { principal: 'ann' });
    await at.clock.pass(0);
    expect(openApprovals(bob.chat.messages)).toHaveLength(1);
  });

  test('asks less often while nothing happens, where the route holds no request', async () => {
    const at = site(says, { handler: { followMs: 0 } });
    const { browser, visit } = at.openBrowser();
    using page = await visit('bob');
    const before = browser.sent.length;
    await at.clock.pass(60_000);
    expect(page.thread.state.isLoaded).toBe(true);
    expect(browser.sent.length - before).toBeLessThanOrEqual(42);
  });

  test('does not believe what the sender of a message says of the thread in its metadata', async () => {
    const at = site([{ fail: 'overloaded' }], { handler: { followMs: 0 } });
    const { browser, visit } = at.openBrowser();
    using eve = await visit('eve');
    const metadata = { threadId: 't', revision: 1_000_000, status: 'idle' };
    void eve.chat.sendMessage({ text: 'Hi', metadata });
    await at.clock.pass(2_000);
    eve.thread.close();
    using bob = await visit('bob');
    browser.sent.length = 0;
    await at.clock.pass(60_000);
    expect(bob.chat.messages.at(-1)?.metadata).toEqual(metadata);
    expect(browser.sent.length).toBeGreaterThan(0);
    expect(browser.sent.join(' ')).not.toContain('1000000');
  });

  test('holds one request for 25 seconds, which records and runs nothing', async () => {
    const at = site(says);
    const { browser, visit } = at.openBrowser();
    using page = await visit('bob');
    await at.clock.pass(60_000);
    expect(page.thread.state.isLoaded).toBe(true);
    expect(browser.mostOpen).toBe(1);
    expect(browser.sent.filter((sent) => sent.includes('follow')).length).toBeLessThanOrEqual(3);
    expect((await at.agent.thread('t')).revision).toBe(0);
    expect(at.watched.heads).toBeLessThanOrEqual(50);
  });

  test('leaves nothing behind at the server when it is closed', async () => {
    const at = site(says);
    const { browser, visit } = at.openBrowser();
    const page = await visit('bob');
    await at.clock.pass(5_000);
    expect([browser.open, at.watched.subscribers]).toEqual([1, 1]);
    page.thread.close();
    await at.clock.pass(0);
    expect([browser.open, at.watched.subscribers]).toEqual([0, 0]);
    const { heads } = at.watched;
    await at.clock.pass(60_000);
    expect(at.watched.heads).toBe(heads);
    expect(browser.open).toBe(0);
  });

  test('follows once, however often it is told to, and not after it was closed', async () => {
    const at = site(says);
    const { browser, visit } = at.openBrowser();
    const page = await visit('bob');
    page.thread.follow();
    await at.clock.pass(10_000);
    expect(browser.mostOpen).toBe(1);
    page.thread.close();
    page.thread.follow();
    page.show('hidden');
    page.show('visible');
    const before = browser.sent.length;
    await at.clock.pass(10_000);
    expect(browser.sent).toHaveLength(before);
    void page.thread.open();
    page.thread.follow();
    await at.agent.run('Hi', await at.agent.thread('t'), { principal: 'ann' });
    await at.clock.pass(2_000);
    expect(lastText(page.chat.messages)).toBe('Hello.');
    page.thread.close();
  });

  test('says for whom it was loaded, so that the request it holds is refused to somebody else', async () => {
    const at = site(says);
    const { browser, visit } = at.openBrowser();
    using page = await visit('bob');
    await at.clock.pass(5_000);
    const held = browser.sent.find((sent) => sent.includes('follow'));
    expect(held).toContain(`viewer=${encodeURIComponent(page.thread.state.viewer ?? '')}`);
  });

  test('is told by its own stream alone while it has one', async () => {
    const at = site(asks);
    const { browser, visit } = at.openBrowser();
    using page = await visit('ann');
    await at.clock.pass(5_000);
    void page.chat.sendMessage({ text: 'Book' });
    await at.clock.pass(5_000);
    void page.thread.answer(approvalOn(page));
    await at.clock.pass(5_000);
    expect(lastText(page.chat.messages)).toBe('Booked.');
    expect(browser.mostOpen).toBe(1);
  });
});

test.each(['when its body is cancelled', 'when its request is aborted'])(
  'a request that waits ends at the server %s',
  async (how) => {
    const at = site(says);
    const leaving = new AbortController();
    const url = `${origin}/chat?id=t&seen=0.idle&follow`;
    const headers = { 'x-person': 'bob' };
    const response = await at.handler(new Request(url, { headers, signal: leaving.signal }));
    const reader = response.body?.getReader();
    const reading = reader?.read();
    await at.clock.pass(1_000);
    expect(at.watched.subscribers).toBe(1);
    if (how.includes('body')) await reader?.cancel();
    else leaving.abort();
    await at.clock.pass(0);
    expect(at.watched.subscribers).toBe(0);
    await reading;
  },
);

test('a request that waits says what the thread has become, and nothing of what is in it', async () => {
  const at = site(asks);
  const url = `${origin}/chat?id=t&seen=0.idle&follow`;
  const response = await at.handler(new Request(url, { headers: { 'x-person': 'bob' } }));
  const body = response.json();
  await at.clock.pass(0);
  await at.agent.run('Book', await at.agent.thread('t'), { principal: 'ann' });
  const { revision } = await at.agent.thread('t');
  await at.clock.pass(0);
  expect(await body).toEqual({ revision, status: 'waiting' });
  expect(response.headers.get('cache-control')).toBe('no-store');
});

describe('a hidden tab', () => {
  test('sends nothing, and shows what happened when it is shown again', async () => {
    const at = site(asks);
    const { browser, visit } = at.openBrowser();
    using page = await visit('bob');
    await at.clock.pass(5_000);
    page.show('hidden');
    await at.clock.pass(0);
    expect([browser.open, at.watched.subscribers]).toEqual([0, 0]);
    const before = browser.sent.length;
    await at.agent.run('Book', await at.agent.thread('t'), { principal: 'ann' });
    await at.clock.pass(60_000);
    expect(browser.sent).toHaveLength(before);
    page.show('visible');
    await at.clock.pass(0);
    expect(openApprovals(page.chat.messages)).toHaveLength(1);
  });
});

test('the visible tabs of a browser have one request waiting between them, and each shows its thread within two seconds', async () => {
  const at = site([...says, ...asks]);
  const { browser, visit } = at.openBrowser();
  using one = await visit('bob', 'one');
  using two = await visit('bob', 'two');
  using again = await visit('bob', 'two');
  for (let passed = 0; passed < 10_000; passed += 100) {
    await at.clock.pass(100);
    expect(browser.open).toBeLessThanOrEqual(1);
  }
  await at.agent.run('Hi', await at.agent.thread('one'), { principal: 'ann' });
  await at.clock.pass(2_000);
  expect(lastText(one.chat.messages)).toBe('Hello.');
  expect(two.chat.messages).toEqual([]);
  await at.agent.run('Hi', await at.agent.thread('two'), { principal: 'ann' });
  await at.clock.pass(2_000);
  expect([two, again].map(({ chat }) => lastText(chat.messages))).toEqual(['Again.', 'Again.']);
  one.show('hidden');
  again.show('hidden');
  await at.clock.pass(5_000);
  const before = browser.sent.length;
  await at.clock.pass(20_000);
  expect(browser.sent.length - before).toBeLessThanOrEqual(2);
});

test('two visible tabs of a browser that show one thread learn of a request at once, both, with one request waiting', async () => {
  const at = site(asks);
  const { browser, visit } = at.openBrowser();
  using one = await visit('bob');
  using two = await visit('bob');
  for (let passed = 0; passed < 5_000; passed += 100) {
    await at.clock.pass(100);
    expect(browser.open).toBeLessThanOrEqual(1);
  }
  await at.agent.run('Book', await at.agent.thread('t'), { principal: 'ann' });
  await at.clock.pass(0);
  expect([one, two].map(({ chat }) => openApprovals(chat.messages).length)).toEqual([1, 1]);
  await at.clock.pass(5_000);
  const reads = browser.sent.length;
  await at.clock.pass(10_000);
  expect(browser.sent.length - reads).toBeLessThanOrEqual(22);
});

describe('a proxy', () => {
  test('that lets no request wait so long keeps nothing from the page, which does not call it offline', async () => {
    const at = site(asks, {
      proxy: async (request, serve) => {
        if (!request.url.includes('follow')) return serve();
        await at.clock.wait(1_000, request.signal);
        return new Response('Gateway Timeout', { status: 504 });
      },
    });
    using bob = await at.openBrowser().visit('bob');
    const problems: unknown[] = [];
    bob.thread.subscribe(() => problems.push(bob.thread.state.problem));
    await at.clock.pass(30_000);
    await at.agent.run('Book', await at.agent.thread('t'), { principal: 'ann' });
    await at.clock.pass(2_500);
    expect(openApprovals(bob.chat.messages)).toHaveLength(1);
    expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
  });

  test('that forgets a request without a word is given up after half a minute', async () => {
    let isForgetful = true;
    const at = site(asks, {
      proxy: async (request, serve) => {
        if (!isForgetful || !request.url.includes('follow')) return serve();
        isForgetful = false;
        return new Promise((_resolve, reject) =>
          request.signal.addEventListener('abort', () => reject(request.signal.reason)),
        );
      },
    });
    using bob = await at.openBrowser().visit('bob');
    await at.agent.run('Book', await at.agent.thread('t'), { principal: 'ann' });
    await at.clock.pass(28_000);
    expect(openApprovals(bob.chat.messages)).toHaveLength(1);
  });
});

/** Waits for what never comes. */
async function loseWithoutWord(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason)),
  );
}

/** A network that loses everything without a word while `isSilent`, also what is on its way. */
function silentNetwork() {
  const network = { isSilent: false };
  const proxy: SiteOptions['proxy'] = async (request, serve) => {
    if (network.isSilent) return loseWithoutWord(request.signal);
    const response = await serve();
    const flow = new TransformStream<Uint8Array, Uint8Array>({
      transform: (bytes, to) => (network.isSilent ? undefined : to.enqueue(bytes)),
      flush: async () => (network.isSilent ? loseWithoutWord(request.signal) : undefined),
    });
    const { status, headers } = response;
    return new Response(response.body?.pipeThrough(flow) ?? null, { status, headers });
  };
  return { network, proxy };
}

describe('offline', () => {
  const away = { type: 'away' };

  test('is said at once in every conversation, also in one that is opened then, and is over in all at once', async () => {
    const at = site(asks);
    const { visit, goOnline } = at.openBrowser();
    using one = await visit('ann', 'one');
    using two = await visit('ann', 'two');
    await at.clock.pass(10_000);
    goOnline(false);
    expect([one, two].map(({ thread }) => thread.state.problem)).toMatchObject([away, away]);
    const opening = visit('ann', 'three');
    using three = await opening;
    expect(three.thread.state.problem).toMatchObject(away);
    await at.clock.pass(20_000);
    expect([one, two, three].map(({ thread }) => thread.state.problem)).toMatchObject([
      away,
      away,
      away,
    ]);
    goOnline(true);
    await at.clock.pass(0);
    expect([one, two, three].map(({ thread }) => thread.state.problem)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(three.thread.state.isLoaded).toBe(true);
  });

  test('sends an answer by itself as soon as the connection is back, once', async () => {
    const at = site(asks);
    const { browser, visit, goOnline } = at.openBrowser();
    using page = await visit('ann');
    void page.chat.sendMessage({ text: 'Book' });
    await at.clock.pass(0);
    goOnline(false);
    void page.thread.answer(approvalOn(page));
    await at.clock.pass(30_000);
    expect(page.thread.state.sending.size).toBe(1);
    expect(page.thread.state.problem).toMatchObject(away);
    goOnline(true);
    await at.clock.pass(0);
    expect(lastText(page.chat.messages)).toBe('Booked.');
    expect(page.thread.state).toMatchObject({ problem: undefined, sending: new Set() });
    expect(browser.sent.filter((sent) => sent.startsWith('POST'))).toHaveLength(2);
    expect(at.world.ran).toHaveLength(1);
  });

  test('is noticed by one conversation for all, and so is the server that is back', async () => {
    const at = site(asks);
    const { browser, visit } = at.openBrowser();
    using one = await visit('ann', 'one');
    void one.chat.sendMessage({ text: 'Book' });
    await at.clock.pass(0);
    using two = await visit('ann', 'two');
    one.show('hidden');
    two.show('hidden');
    browser.isDown = true;
    void one.thread.answer(approvalOn(one));
    await at.clock.pass(20_000);
    expect(two.thread.state.problem).toMatchObject(away);
    browser.isDown = false;
    two.show('visible');
    await at.clock.pass(0);
    expect([one, two].map(({ thread }) => thread.state.problem)).toEqual([undefined, undefined]);
    expect(lastText(one.chat.messages)).toBe('Booked.');
  });

  test('is said as soon as the server has died, and within two seconds all is as it was once it is back', async () => {
    const at = site(asks);
    const { browser, visit, goDown } = at.openBrowser();
    using page = await visit('bob');
    await at.clock.pass(10_000);
    goDown();
    await at.clock.pass(0);
    expect(page.thread.state.problem).toMatchObject(away);
    await at.clock.pass(20_000);
    await at.agent.run('Book', await at.agent.thread('t'), { principal: 'ann' });
    browser.isDown = false;
    await at.clock.pass(2_000);
    expect(page.thread.state.problem).toBeUndefined();
    goDown();
    await at.clock.pass(0);
    void page.thread.answer(approvalOn(page));
    await at.clock.pass(20_000);
    expect(page.thread.state.problem).toMatchObject(away);
    browser.isDown = false;
    await at.clock.pass(2_000);
    expect(lastText(page.chat.messages)).toBe('Booked.');
    expect(at.world.ran).toHaveLength(1);
  });

  test('is said of a network that has died without a word within 40 seconds, and is over soon after it', async () => {
    const { network, proxy } = silentNetwork();
    const at = site(asks, { proxy });
    using page = await at.openBrowser().visit('bob');
    await at.clock.pass(10_000);
    network.isSilent = true;
    await at.clock.pass(40_000);
    expect(page.thread.state.problem).toMatchObject(away);
    await at.clock.pass(300_000);
    expect(page.thread.state.problem).toMatchObject(away);
    await at.agent.run('Book', await at.agent.thread('t'), { principal: 'ann' });
    network.isSilent = false;
    await at.clock.pass(25_000);
    expect(page.thread.state.problem).toBeUndefined();
    expect(openApprovals(page.chat.messages)).toHaveLength(1);
  });

  test.each(['a message', 'an answer'])(
    'is said within 12 seconds where %s gets no word, which is sent again after it, once',
    async (what) => {
      const { network, proxy } = silentNetwork();
      const at = site(asks, { proxy });
      using page = await at.openBrowser().visit('ann');
      const isAnswer = what === 'an answer';
      if (isAnswer) void page.chat.sendMessage({ text: 'Book' });
      await at.clock.pass(10_000);
      network.isSilent = true;
      if (isAnswer) void page.thread.answer(approvalOn(page));
      else void page.chat.sendMessage({ text: 'Book' });
      await at.clock.pass(13_000);
      expect(page.thread.state.problem).toMatchObject(away);
      network.isSilent = false;
      await at.clock.pass(25_000);
      expect(page.thread.state.problem).toBeUndefined();
      expect(openApprovals(page.chat.messages)).toHaveLength(isAnswer ? 0 : 1);
      expect(at.world.ran).toHaveLength(isAnswer ? 1 : 0);
    },
  );

  test('is said within 25 seconds in the middle of a reply', async () => {
    const { network, proxy } = silentNetwork();
    const dieInReply: SiteOptions['proxy'] = async (request, serve) => {
      const response = await proxy(request, serve);
      if (request.method === 'POST') network.isSilent = true;
      return response;
    };
    const at = site(asks, { proxy: dieInReply });
    using page = await at.openBrowser().visit('ann');
    await at.clock.pass(10_000);
    void page.chat.sendMessage({ text: 'Book' });
    await at.clock.pass(25_000);
    expect(page.chat.status).not.toBe('ready');
    expect(page.thread.state.problem).toMatchObject(away);
    network.isSilent = false;
    await at.clock.pass(40_000);
    expect(page.thread.state.problem).toBeUndefined();
    expect(openApprovals(page.chat.messages)).toHaveLength(1);
  });

  test('asks less often of a server that has been away for long', async () => {
    const at = site(says);
    const { browser, visit } = at.openBrowser();
    using page = await visit('bob');
    const attempts = countAttempts(browser);
    await at.clock.pass(10 * 60_000);
    expect(page.thread.state.problem).toMatchObject(away);
    expect(attempts()).toBeLessThan(120);
  });

  test('is over also for somebody who may not read the thread', async () => {
    const at = site(says);
    const { visit, goOnline } = at.openBrowser();
    using page = await visit('');
    const refused = { type: 'refused', code: 'not-allowed' };
    expect(page.thread.state.problem).toMatchObject(refused);
    goOnline(false);
    expect(page.thread.state.problem).toMatchObject(away);
    await at.clock.pass(20_000);
    goOnline(true);
    await at.clock.pass(0);
    expect(page.thread.state.problem).toMatchObject(refused);
  });

  test('is not believed of a server that can be reached, such as one on this machine', async () => {
    const at = site(says);
    const { browser, visit, goOnline } = at.openBrowser();
    using page = await visit('ann');
    await at.clock.pass(10_000);
    goOnline(false);
    browser.isDown = false;
    await at.clock.pass(0);
    expect(page.thread.state.problem).toBeUndefined();
  });
});
