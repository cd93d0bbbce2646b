import { memoryStore, type AgentOptions } from 'holdpoint';
import { createAgUiHandler } from 'holdpoint/ag-ui';
import { createUiHandler, toUIMessages, type UiHandlerOptions } from 'holdpoint/ui';
import { describe, expect, test } from 'vitest';
import { tool } from 'ai';
import type { ScriptedStep } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, cityInput, look, travelTools, travelWorld } from '../support/travel-world.ts';
import {
  chatPage,
  chunksOf,
  comparable,
  lastText,
  openApprovals,
  origin,
  type PageOptions,
  post,
  toolParts,
} from './chat-page.ts';
import { waitUntil } from '../support/waiting.ts';

const authorize = () => ({ principal: 'ann' });

/** A thread with pages on it; each worker is an agent of its own over one store. */
function site(script: ScriptedStep[], agentOptions: Partial<AgentOptions> = {}) {
  const kept = memoryStore();
  const played = scriptedModel(script);
  const world = travelWorld(played, () => kept);
  const worker = (options: Partial<UiHandlerOptions> = {}, more: Partial<AgentOptions> = {}) => {
    const agent = world.agent({ ...agentOptions, ...more });
    return { agent, handler: createUiHandler({ agent, authorize, ...options }) };
  };
  const first = worker();
  const { agent } = first;
  /** A page that loads the thread as it stands. */
  const tab = async (options: PageOptions = {}, { handler } = first) =>
    chatPage(handler, { messages: await toUIMessages(await agent.thread('t')), ...options });
  const reloaded = async () => comparable(await toUIMessages(await agent.thread('t')));
  return { ...first, world, played, worker, tab, reloaded };
}

const two = [{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }];

/** Two tabs that show the same question. */
async function twoTabs(script: ScriptedStep[], options: PageOptions = {}) {
  const at = site(script);
  const one = await at.tab();
  await one.chat.sendMessage({ text: 'Book' });
  const other = await at.tab(options);
  const [id = ''] = openApprovals(other.chat.messages);
  return { at, one, other, id };
}

describe('a second tab', () => {
  test('that gives the same answer catches up, sends once, and nothing runs twice', async () => {
    const { at, one, other, id } = await twoTabs(two);
    await one.respond(id, true);
    await other.respond(id, true);
    expect(at.world.ran).toHaveLength(1);
    expect(other.sent).toHaveLength(1);
    expect(lastText(other.chat.messages)).toBe('Booked.');
    expect(comparable(other.chat.messages)).toEqual(await at.reloaded());
  });

  test("that gives the same answer with the AI SDK's own transport sees its outcome, and sends once", async () => {
    const { at, one, other, id } = await twoTabs(two, { sendsHistory: true });
    await one.respond(id, true);
    await other.respond(id, true);
    expect(at.world.ran).toHaveLength(1);
    expect(other.sent).toHaveLength(1);
    expect(toolParts(other.chat.messages)).toMatchObject([{ state: 'output-available' }]);
    expect(other.errors).toEqual([]);
  });

  test('that answers otherwise is told so with 409, and nothing changes', async () => {
    const { at, one, other, id } = await twoTabs(two);
    await one.respond(id, true);
    const { revision } = await at.agent.thread('t');
    await other.respond(id, false);
    expect(other.sent).toMatchObject([{ status: 409 }]);
    expect(other.errors[0]?.message).toContain('already-answered');
    expect((await at.agent.thread('t')).revision).toBe(revision);
  });

  test('that is a turn behind is told the rest of its own turn, and no more', async () => {
    const { one, other, id } = await twoTabs([...two, { text: 'Later.' }]);
    await one.respond(id, true);
    await one.chat.sendMessage({ text: 'And?' });
    await other.respond(id, true);
    expect(lastText(other.chat.messages)).toBe('Booked.');
    expect(other.errors).toEqual([]);
    expect(other.chat.messages).toHaveLength(2);
  });
});

describe('a second tab that is a turn behind', () => {
  test('is told nothing of the turn that its request goes on with', async () => {
    const { at, one, other, id } = await twoTabs([...two, { fail: 'down' }, { text: 'Later.' }]);
    await one.respond(id, true);
    await one.chat.sendMessage({ text: 'And?' });
    await other.respond(id, true);
    expect(at.played.requests).toBe(4);
    const reloaded = await toUIMessages(await at.agent.thread('t'));
    expect(JSON.stringify(reloaded)).toContain('Later.');
    expect(comparable(other.chat.messages)).toEqual(comparable(reloaded.slice(0, 2)));
  });
});

const approvalOf = (requestId: string) => ({
  type: 'approval-response',
  requestId,
  approved: true,
});

/** A worker whose tool takes its time, and a tab of another worker that answers meanwhile. */
async function busy(options: Partial<UiHandlerOptions> = {}) {
  const tools = Promise.withResolvers<void>();
  const slow = tool({
    inputSchema: cityInput,
    execute: async ({ city }) => {
      await tools.promise;
      return { booked: city };
    },
  });
  const at = site([{ calls: [book('c1', 'Paris'), book('c2', 'Rome')] }, { text: 'Both.' }], {
    tools: { ...travelTools([]), book: slow },
    leaseMs: 600,
  });
  const one = await at.tab();
  await one.chat.sendMessage({ text: 'Book' });
  const [first = '', second = ''] = openApprovals(one.chat.messages);
  const running = await at.handler(post({ id: 't', answers: [approvalOf(first)] }));
  const elsewhere = at.worker(options);
  return { at, running, tools, elsewhere, answers: [approvalOf(second)] };
}

describe('a thread that another worker runs', () => {
  test('is followed: the answer is recorded, and what the other does is told', async () => {
    let looks = 0;
    const { at, running, tools, elsewhere, answers } = await busy({
      wait: async () => {
        looks += 1;
        if (looks === 2) tools.resolve();
        await new Promise((resolve) => setTimeout(resolve, 1));
      },
    });
    const told = running.text();
    const followed = await elsewhere.handler(post({ id: 't', answers }));
    const chunks = await chunksOf(followed);
    expect(chunks).toContainEqual(
      expect.objectContaining({ type: 'tool-output-available', toolCallId: 'c1' }),
    );
    expect(chunks).toContainEqual(
      expect.objectContaining({ type: 'tool-output-available', toolCallId: 'c2' }),
    );
    expect(chunks).toContainEqual(expect.objectContaining({ type: 'text-delta', delta: 'Both.' }));
    expect(chunks.at(-1)).toMatchObject({ type: 'finish', messageMetadata: { status: 'idle' } });
    expect(await told).toContain('Both.');
    expect(at.played.requests).toBe(2);
  });

  test('is followed no longer than the page is there', async () => {
    const [looked, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let looks = 0;
    const { tools, elsewhere, answers } = await busy({
      wait: async (_milliseconds, signal) => {
        looks += 1;
        looked.resolve();
        signal.addEventListener('abort', () => left.resolve());
        await left.promise;
      },
    });
    const followed = await elsewhere.handler(post({ id: 't', answers }));
    const reader = followed.body?.getReader();
    const end = (async () => {
      while ((await reader?.read())?.done === false);
    })();
    await looked.promise;
    await reader?.cancel();
    await Promise.all([left.promise, end]);
    tools.resolve();
    expect(looks).toBe(1);
  });

  test('and that is lost, is taken up here when its lease is over', async () => {
    let now = 1_000;
    const clock = { now: () => now, leaseMs: 1_000 };
    const at = site([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }], clock);
    const one = await at.tab();
    await one.chat.sendMessage({ text: 'Book' });
    const [id = ''] = openApprovals(one.chat.messages);
    const { book: booking } = travelTools([]);
    const stuck = at.worker(
      {},
      {
        ...clock,
        tools: { ...travelTools([]), book: { ...booking, execute: () => new Promise(() => {}) } },
      },
    );
    const answers = [{ type: 'approval-response', requestId: id, approved: true }];
    const lost = await stuck.handler(post({ id: 't', answers }));
    const saver = at.worker(
      { wait: async () => void (now += 2_000) },
      { ...clock, toolRecovery: { book: { idempotent: true } } },
    );
    const chunks = await chunksOf(await saver.handler(post({ id: 't', answers })));
    expect(chunks).toContainEqual(
      expect.objectContaining({ type: 'text-delta', delta: 'Booked.' }),
    );
    expect(at.world.ran).toHaveLength(1);
    await lost.body?.cancel();
  });
});

/** A turn whose tool waits for the test, and the response to a page. */
async function begun(options: Partial<UiHandlerOptions> = {}) {
  const work = Promise.withResolvers<void>();
  const signals: (AbortSignal | undefined)[] = [];
  const slow = tool({
    inputSchema: cityInput,
    execute: async ({ city }, { abortSignal }) => {
      signals.push(abortSignal);
      await Promise.race([
        work.promise,
        new Promise((_resolve, reject) =>
          abortSignal?.addEventListener('abort', () => reject(new Error('stopped'))),
        ),
      ]);
      return city;
    },
  });
  const at = site([{ calls: [look('c1', 'Rome')] }, { text: 'Done.' }], {
    tools: { ...travelTools([]), look: slow },
  });
  const controller = new AbortController();
  const { agent, handler } = at.worker(options);
  const ended = new Promise((resolve) => agent.on('run-ended', resolve));
  const message = { id: 'u', role: 'user', parts: [{ type: 'text', text: 'Look' }] };
  const request = new Request(post({ id: 't', message }), { signal: controller.signal });
  const response = await handler(request);
  const reader = response.body?.getReader();
  let text = '';
  while (!text.includes('tool-input-available')) {
    text += new TextDecoder().decode((await reader?.read())?.value);
  }
  return { at, work, ended, reader, controller, signals };
}

describe('a page that leaves', () => {
  test.each(['by cancelling the body', 'by aborting the request'])(
    '%s does not end what it began',
    async (how) => {
      const { at, work, ended, reader, controller, signals } = await begun();
      if (how.includes('body')) await reader?.cancel();
      else controller.abort();
      work.resolve();
      await ended;
      const thread = await at.agent.thread('t');
      expect(thread.status).toBe('idle');
      expect(signals[0]?.aborted ?? false).toBe(false);
      expect(lastText(await toUIMessages(thread))).toBe('Done.');
    },
  );

  test.each(['by cancelling the body', 'by aborting the request'])(
    '%s ends it where the app wants that, and it can go on',
    async (how) => {
      const { at, ended, reader, controller, signals } = await begun({ abortOnDisconnect: true });
      if (how.includes('body')) await reader?.cancel();
      else controller.abort();
      await ended;
      expect(signals[0]?.aborted).toBe(true);
      const thread = await at.agent.thread('t');
      expect(await at.agent.run([], thread)).toMatchObject({ status: 'completed', text: 'Done.' });
    },
  );
});

const get = (path: string) => new Request(origin + path);

describe('a page that comes back', () => {
  test('loads messages, revision and status, which no cache keeps', async () => {
    const at = site(two);
    const page = await at.tab();
    await page.chat.sendMessage({ text: 'Book' });
    const response = await at.handler(get('/chat?id=t'));
    expect(response.headers.get('cache-control')).toBe('no-store');
    const loaded = JSON.parse(await response.text());
    expect(loaded).toMatchObject({ revision: 6, status: 'waiting' });
    expect(comparable(loaded.messages)).toEqual(comparable(page.chat.messages));
    const empty = await at.handler(get('/chat?id=new'));
    expect(await empty.json()).toEqual({
      messages: [],
      viewer: expect.any(String),
      rights: [],
      revision: 0,
      status: 'idle',
    });
  });

  test.each([true, false])(
    "is told the last turn again, under the same id, where it asks for it (the AI SDK's own way: %s)",
    async (sendsHistory) => {
      const at = site(two);
      const page = await at.tab();
      await page.chat.sendMessage({ text: 'Book' });
      const back = await at.tab({ sendsHistory });
      await back.chat.resumeStream();
      expect(comparable(back.chat.messages)).toEqual(await at.reloaded());
      await page.respond(openApprovals(page.chat.messages)[0] ?? '', true);
      await back.chat.resumeStream();
      expect(comparable(back.chat.messages)).toEqual(await at.reloaded());
      expect(lastText(back.chat.messages)).toBe('Booked.');
      expect(back.errors).toEqual([]);
    },
  );

  test('finds nothing to be told of a thread that has said nothing: 204', async () => {
    const at = site([]);
    expect((await at.handler(get('/chat/t/stream'))).status).toBe(204);
    const page = await at.tab();
    await page.chat.resumeStream();
    expect(page.chat.messages).toEqual([]);
  });

  test('follows a run that goes on', async () => {
    const { at, wait } = await runElsewhere({ text: 'Done.' });
    const back = await at.tab({}, at.worker({ wait }));
    await back.chat.resumeStream();
    expect(lastText(back.chat.messages)).toBe('Done.');
    expect(comparable(back.chat.messages)).toEqual(await at.reloaded());
  });

  test('hears that the run that it follows has failed (regression: it was told of an end)', async () => {
    const { at, wait } = await runElsewhere({ fail: 'secret key' });
    const heard: unknown[] = [];
    const onError = (error: unknown): string => {
      heard.push(error);
      return 'Try again.';
    };
    const back = await at.tab({}, at.worker({ wait, onError }));
    await back.chat.resumeStream();
    expect(back.chat.status).toBe('error');
    expect(back.errors).toMatchObject([{ message: 'Try again.' }]);
    expect(heard).toMatchObject([{ message: 'secret key' }]);
  });
});

test.each([0, -1, Number.NaN, Infinity, 2 ** 31])(
  'a thread can’t be looked at every %s ms (regression: it was, a thousand times a second)',
  (pollMs) => {
    const { agent } = site([]);
    expect(() => createUiHandler({ agent, authorize, pollMs })).toThrow('pollMs');
    expect(() => createAgUiHandler({ agent, authorize, pollMs })).toThrow('pollMs');
  },
);

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'a page whose connection broke after %i chunks is told the request by its next sendMessage (regression: it never was)',
  async (count) => {
    const at = site([...two, { text: 'Later.' }, ...two]);
    const before = await at.tab();
    await before.chat.sendMessage({ text: 'Book' });
    await before.respond(openApprovals(before.chat.messages)[0] ?? '', true);
    await before.chat.sendMessage({ text: 'Thanks' });
    let isBreaking = true;
    const page = await at.tab(
      {},
      {
        ...at,
        handler: async (request) => {
          const { body, headers } = await at.handler(request);
          return new Response(isBreaking ? body?.pipeThrough(breaking(count)) : body, { headers });
        },
      },
    );
    await page.chat.sendMessage({ text: 'Again' });
    expect(page.errors).toHaveLength(1);
    await waitUntil(async () => (await at.agent.thread('t')).status === 'waiting');
    isBreaking = false;
    await page.chat.sendMessage();
    await page.quiet();
    const [request] = (await at.agent.thread('t')).activeRequests;
    expect(openApprovals(page.chat.messages)).toEqual([request?.requestId]);
  },
);

/** A connection that breaks after so many chunks. */
function breaking(count: number) {
  let left = count;
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      left -= 1;
      if (left < 0) controller.error(new TypeError('network error'));
      else controller.enqueue(chunk);
    },
  });
}

/** A thread that another worker is running: its call ends when somebody waits for it, and then the model does its `last`. */
async function runElsewhere(last: ScriptedStep) {
  const work = Promise.withResolvers<void>();
  const slow = tool({
    inputSchema: cityInput,
    execute: async ({ city }) => {
      await work.promise;
      return city;
    },
  });
  const at = site([{ calls: [look('c1', 'Rome')] }, last], {
    tools: { ...travelTools([]), look: slow },
  });
  const started = new Promise((resolve) => at.agent.on('call-started', resolve));
  const run = at.agent.run('Look', await at.agent.thread('t'));
  await started;
  const wait = async (): Promise<void> => {
    work.resolve();
    await run.catch(() => {});
  };
  return { at, wait };
}
