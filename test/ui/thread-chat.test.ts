import { Chat } from '@ai-sdk/react';
import { isToolUIPart, type UIMessage } from 'ai';
import { type AgentOptions, memoryStore } from 'holdpoint';
import { questionRequestSchema } from 'holdpoint/schemas';
import { questionTools } from 'holdpoint/tools';
import { createUiHandler, ThreadChat, toUIMessages, type UiHandlerOptions } from 'holdpoint/ui';
import { describe, expect, test } from 'vitest';
import type { ScriptedStep } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { streamedModel, type StreamPart } from '../support/streamed-model.ts';
import { book, travelTools, travelWorld } from '../support/travel-world.ts';
import { comparable, lastText, openApprovals, origin, toolParts, urlOf } from './chat-page.ts';
import { waitFor, waitUntil } from '../support/waiting.ts';

type Net = 'up' | 'down' | 'bad-gateway' | 'loses-replies' | 'breaks-streams' | 'falls-silent';

interface Network {
  is: Net;
  sent: string[];
  waits: number;
  onWait: () => void;
  /** How long nothing must have come for the page to ask whether anything will. */
  silence: () => Promise<void>;
}

/** A thread with pages on it, and a network between that can be down. */
function site(
  script: ScriptedStep[],
  agentOptions: Partial<AgentOptions> = {},
  handlerOptions: Partial<UiHandlerOptions> = {},
) {
  const kept = memoryStore();
  const world = travelWorld(scriptedModel(script), () => kept);
  const agent = world.agent(agentOptions);
  const handler = createUiHandler({
    agent,
    authorize: () => ({ principal: 'ann' }),
    ...handlerOptions,
  });
  const page = async () => {
    const net: Network = {
      is: 'up',
      sent: [],
      waits: 0,
      onWait: () => {},
      silence: async () => new Promise(() => {}),
    };
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const request = new Request(new URL(urlOf(input), origin), init);
      if (net.is === 'down') throw new TypeError('Failed to fetch');
      if (net.is === 'bad-gateway') return new Response('Bad gateway', { status: 502 });
      const body = request.method === 'POST' ? `POST ${await request.clone().text()}` : 'GET';
      net.sent.push(body);
      const response = await handler(request);
      if (net.is === 'loses-replies') {
        await response.text();
        throw new TypeError('Failed to fetch');
      }
      if (net.is === 'breaks-streams' && request.method === 'POST') {
        return broken(response, (controller) => controller.error(new TypeError('network error')));
      }
      if (net.is === 'falls-silent' && request.method === 'POST') return broken(response, () => {});
      return response;
    };
    const thread = new ThreadChat((init) => new Chat<UIMessage>(init), {
      id: 't',
      api: '/chat',
      fetch,
      wait: async (milliseconds) => {
        /* For silence, which no test waits for but one. */
        if (milliseconds === 12_000) return net.silence();
        net.waits += 1;
        net.onWait();
        await new Promise(setImmediate);
      },
    });
    await thread.open();
    return { thread, chat: thread.chat, net };
  };
  const answers = async () =>
    (await agent.thread('t')).events.flatMap((event) =>
      event.type === 'request-answered' ? [event.response] : [],
    );
  const stored = async () => comparable(await toUIMessages(await agent.thread('t')));
  return { agent, world, page, answers, stored };
}

/* What comes through before the connection breaks is the first chunk. */
async function broken(
  response: Response,
  end: (controller: ReadableStreamDefaultController<Uint8Array>) => void,
): Promise<Response> {
  const text = await response.text();
  const bytes = new TextEncoder().encode(`${text.split('\n\n', 1)[0]}\n\n`);
  let isSent = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (isSent) end(controller);
      else controller.enqueue(bytes);
      isSent = true;
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}

/* A provider that says nothing. */
async function* endless(): AsyncGenerator<StreamPart> {
  yield* await new Promise<StreamPart[]>(() => {});
}

type At = Awaited<ReturnType<ReturnType<typeof site>['page']>>;

/** Waits until the page shows something. */
async function shows({ thread, chat }: At, seen: () => boolean): Promise<void> {
  await waitFor(() => {
    if (!seen()) throw new Error(JSON.stringify([thread.state, chat.status, chat.messages]));
  }, 5_000);
}

const isQuiet = ({ thread, chat }: At) =>
  (chat.status === 'ready' || chat.status === 'error') && thread.state.sending.size === 0;
const approval = (requestId: string, approved = true) =>
  ({ type: 'approval-response', requestId, approved }) as const;
const one = [{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }];
const two = [{ calls: [book('c1', 'Paris'), book('c2', 'Rome')] }, { text: 'Both.' }];

describe('an answer that the server is away for', () => {
  test.each(['down', 'bad-gateway'] as const)(
    'goes out by itself when the server is back, and is shown as on its way until then: %s',
    async (is) => {
      const at = site(one);
      const page = await at.page();
      await page.chat.sendMessage({ text: 'Book' });
      const [id = ''] = openApprovals(page.chat.messages);
      page.net.is = is;
      await page.thread.answer(approval(id));
      await shows(page, () => page.net.waits > 3);
      expect(page.thread.state.problem).toMatchObject({ type: 'away' });
      expect([...page.thread.state.sending]).toEqual([id]);
      expect(await at.answers()).toEqual([]);
      page.net.is = 'up';
      await shows(page, () => lastText(page.chat.messages) === 'Booked.' && isQuiet(page));
      expect(page.thread.state).toMatchObject({ problem: undefined, isLoaded: true });
      expect(await at.answers()).toMatchObject([{ requestId: id, approved: true }]);
      expect(at.world.ran).toHaveLength(1);
    },
  );

  test('runs nothing twice when only the reply was lost', async () => {
    const at = site(one);
    const page = await at.page();
    await page.chat.sendMessage({ text: 'Book' });
    const [id = ''] = openApprovals(page.chat.messages);
    page.net.is = 'loses-replies';
    page.net.onWait = () => (page.net.is = 'up');
    await page.thread.answer(approval(id));
    await shows(page, () => lastText(page.chat.messages) === 'Booked.' && isQuiet(page));
    expect(at.world.ran).toHaveLength(1);
    expect(comparable(page.chat.messages)).toEqual(await at.stored());
  });

  test('is not sent any more once the person stops it, and its request is open again', async () => {
    const at = site(one);
    const page = await at.page();
    await page.chat.sendMessage({ text: 'Book' });
    const [id = ''] = openApprovals(page.chat.messages);
    page.net.is = 'down';
    await page.thread.answer(approval(id));
    await shows(page, () => page.net.waits > 1);
    await page.thread.stop();
    page.net.is = 'up';
    await shows(page, () => openApprovals(page.chat.messages).length === 1 && isQuiet(page));
    expect(await at.answers()).toEqual([]);
  });

  test('is no answer any more when somebody else answered meanwhile, and the page says so', async () => {
    const at = site(one);
    const page = await at.page();
    const other = await at.page();
    await page.chat.sendMessage({ text: 'Book' });
    const [id = ''] = openApprovals(page.chat.messages);
    page.net.is = 'down';
    await page.thread.answer(approval(id));
    await other.thread.refresh();
    await other.thread.answer(approval(id, false));
    await shows(other, () => isQuiet(other) && lastText(other.chat.messages) === 'Booked.');
    page.net.is = 'up';
    await shows(page, () => page.thread.state.problem?.type === 'refused' && isQuiet(page));
    await shows(page, () => toolParts(page.chat.messages)[0]?.state === 'output-denied');
    expect(page.thread.state.problem?.text).toBe(
      'This was answered before. The first answer counts.',
    );
    expect(comparable(page.chat.messages)).toEqual(await at.stored());
  });
});

describe('a connection that breaks while the page reads', () => {
  test('leaves the page with what the server has, once it can be reached', async () => {
    const at = site(one);
    const page = await at.page();
    page.net.is = 'breaks-streams';
    await page.chat.sendMessage({ text: 'Book' });
    expect(page.thread.state.problem).toMatchObject({ type: 'away' });
    await shows(page, () => openApprovals(page.chat.messages).length === 1);
    expect(page.thread.state.problem).toBeUndefined();
    expect(comparable(page.chat.messages)).toEqual(await at.stored());
  });

  test('without a word is found out', async () => {
    const at = site(one);
    const page = await at.page();
    page.net.is = 'falls-silent';
    const silent = Promise.withResolvers<void>();
    page.net.silence = async () => silent.promise;
    const sent = page.chat.sendMessage({ text: 'Book' });
    await shows(page, () => page.chat.status === 'streaming' || page.chat.messages.length > 0);
    page.net.is = 'up';
    silent.resolve();
    await sent;
    await shows(page, () => openApprovals(page.chat.messages).length === 1);
    expect(comparable(page.chat.messages)).toEqual(await at.stored());
  });

  test('loses no answer that was given meanwhile', async () => {
    const at = site([...one.slice(0, 1), { calls: [book('c2', 'Rome')] }, { text: 'Both.' }]);
    const page = await at.page();
    await page.chat.sendMessage({ text: 'Book' });
    const [paris = ''] = openApprovals(page.chat.messages);
    page.net.is = 'down';
    await page.thread.answer(approval(paris));
    page.net.onWait = () => {
      page.net.is = 'breaks-streams';
    };
    await shows(page, () => openApprovals(page.chat.messages).length === 1);
    const [rome = ''] = openApprovals(page.chat.messages);
    page.net.is = 'up';
    await page.thread.answer(approval(rome));
    await shows(page, () => lastText(page.chat.messages) === 'Both.' && isQuiet(page));
    expect(await at.answers()).toMatchObject([{ requestId: paris }, { requestId: rome }]);
  });
});

describe('a text that is refused', () => {
  test('is taken off the page, given back, and does not keep Reject from counting', async () => {
    const at = site(one);
    const page = await at.page();
    await page.chat.sendMessage({ text: 'Book' });
    await page.chat.sendMessage({ text: 'Hurry up' });
    await shows(page, () => page.chat.messages.length === 2);
    expect(page.thread.state.problem).toEqual({
      type: 'refused',
      code: 'requests-open',
      text: 'Answer what is open first, then send your message again.',
      unsaid: 'Hurry up',
    });
    const [id = ''] = openApprovals(page.chat.messages);
    await page.thread.answer({ ...approval(id, false), reason: 'too dear' });
    await shows(page, () => isQuiet(page) && lastText(page.chat.messages) === 'Booked.');
    expect(await at.answers()).toMatchObject([{ approved: false, reason: 'too dear' }]);
    expect(page.thread.state.problem).toBeUndefined();
  });

  test('does not keep an answer from counting that is pressed before the page has caught up', async () => {
    const at = site(one);
    const page = await at.page();
    await page.chat.sendMessage({ text: 'Book' });
    const [id = ''] = openApprovals(page.chat.messages);
    const refused = page.chat.sendMessage({ text: 'Hurry up' });
    const answered = page.thread.answer(approval(id, false));
    await Promise.all([refused, answered]);
    await shows(page, () => isQuiet(page) && lastText(page.chat.messages) === 'Booked.');
    expect(await at.answers()).toMatchObject([{ requestId: id, approved: false }]);
    expect(comparable(page.chat.messages)).toEqual(await at.stored());
  });
});

describe('an answer that the person may not give', () => {
  test('is shown as refused, and its request as open', async () => {
    const at = site(one, { mayAnswer: () => false });
    const page = await at.page();
    await page.chat.sendMessage({ text: 'Book' });
    const [id = ''] = openApprovals(page.chat.messages);
    await page.thread.answer(approval(id));
    await shows(page, () => openApprovals(page.chat.messages).length === 1 && isQuiet(page));
    expect(page.thread.state.problem).toMatchObject({
      type: 'refused',
      code: 'not-allowed',
      text: 'You are not allowed to do this.',
    });
    expect(await at.answers()).toEqual([]);
  });

  test('beside others that count is shown as refused alone', async () => {
    const at = site(two, { mayAnswer: ({ request }) => !JSON.stringify(request).includes('Rome') });
    const page = await at.page();
    await page.chat.sendMessage({ text: 'Book' });
    const [paris = '', rome = ''] = openApprovals(page.chat.messages);
    page.net.is = 'down';
    await page.thread.answer(approval(paris));
    await page.thread.answer(approval(rome));
    page.net.is = 'up';
    await shows(page, () => page.thread.state.problem?.type === 'refused' && isQuiet(page));
    await shows(page, () => openApprovals(page.chat.messages).join() === rome);
    expect(await at.answers()).toMatchObject([{ requestId: paris }]);
    expect(at.world.ran).toHaveLength(1);
    expect(comparable(page.chat.messages)).toEqual(await at.stored());
  });
});

describe('a second tab', () => {
  test('that writes while it is behind shows all of the thread afterwards', async () => {
    const at = site([{ text: 'One.' }, { text: 'Two.' }]);
    const page = await at.page();
    const other = await at.page();
    await page.chat.sendMessage({ text: 'First' });
    await other.chat.sendMessage({ text: 'Second' });
    await shows(other, () => other.chat.messages.length === 4);
    expect(comparable(other.chat.messages)).toEqual(await at.stored());
  });

  test('that opens in the middle of a run follows it to its end', async () => {
    const gate = Promise.withResolvers<void>();
    const { book: slow, ...rest } = travelTools([]);
    const tools = {
      ...rest,
      book: { ...slow, execute: async () => gate.promise.then(() => ({ booked: 'Paris' })) },
    };
    const at = site(one, { tools }, { pollMs: 5 });
    const page = await at.page();
    await page.chat.sendMessage({ text: 'Book' });
    const [id = ''] = openApprovals(page.chat.messages);
    await page.thread.answer(approval(id));
    await shows(page, () => page.chat.status === 'streaming');
    const other = await at.page();
    await shows(other, () => other.chat.status === 'streaming');
    gate.resolve();
    await shows(other, () => lastText(other.chat.messages) === 'Booked.' && isQuiet(other));
    expect(comparable(other.chat.messages)).toEqual(await at.stored());
  });
});

describe('a question', () => {
  test('is answered as an approval is, also while the server is away', async () => {
    const asks = {
      id: 'q',
      name: 'user_choice',
      input: { question: 'Which?', options: ['a', 'b'] },
    };
    const at = site([{ calls: [asks] }, { text: 'Good.' }], {
      tools: { ...travelTools([]), ...questionTools() },
    });
    const page = await at.page();
    await page.chat.sendMessage({ text: 'Ask' });
    const part = page.chat.messages.flatMap(({ parts }) => parts).find(isToolUIPart);
    const { requestId, fields } = questionRequestSchema.parse(part?.approval?.descriptor);
    page.net.is = 'down';
    page.net.onWait = () => (page.net.is = 'up');
    await page.thread.answer({
      type: 'question-response',
      requestId,
      status: 'answered',
      answers: fields.map(({ key, options }) => ({
        key,
        optionIds: options.slice(0, 1).map((option) => option.id),
      })),
    });
    await shows(page, () => lastText(page.chat.messages) === 'Good.' && isQuiet(page));
    expect(await at.answers()).toMatchObject([{ requestId }]);
  });
});

describe('a run that fails', () => {
  const failing = [{ fail: 'overloaded' }, { text: 'Hello.' }];

  test('is shown as failed, live and after a reload, and trying again resumes it', async () => {
    const at = site(failing, {}, { onError: () => 'The model is not available.' });
    const page = await at.page();
    await page.chat.sendMessage({ text: 'Hi' });
    const problem = { type: 'failed', text: 'The model is not available.' };
    expect(page.thread.state.problem).toEqual(problem);
    const reloaded = await at.page();
    expect(reloaded.thread.state).toMatchObject({ isLoaded: true, problem });
    await reloaded.thread.tryAgain();
    expect(lastText(reloaded.chat.messages)).toBe('Hello.');
    expect(reloaded.thread.state.problem).toBeUndefined();
    expect(comparable(reloaded.chat.messages)).toEqual(await at.stored());
  });

  test('after an approval is resumed without asking or running anything twice', async () => {
    const at = site([one[0] ?? {}, { fail: 'overloaded' }, { text: 'Booked.' }]);
    const page = await at.page();
    await page.chat.sendMessage({ text: 'Book' });
    await page.thread.answer(approval(openApprovals(page.chat.messages)[0] ?? ''));
    await shows(page, () => page.thread.state.problem?.type === 'failed' && isQuiet(page));
    const reloaded = await at.page();
    expect(reloaded.thread.state.problem).toMatchObject({ type: 'failed' });
    await reloaded.thread.tryAgain();
    expect(lastText(reloaded.chat.messages)).toBe('Booked.');
    expect(at.world.ran).toHaveLength(1);
  });

  test('because its process has died is shown as not complete, and trying again completes it', async () => {
    let time = 0;
    const at = site([{ text: 'Hello.' }], { now: () => time, leaseMs: 60_000 });
    const { model, heard } = streamedModel(endless());
    const dying = at.world.agent({ model, now: () => time });
    dying.stream('Hi', await dying.thread('t')).response.catch(() => {});
    await waitUntil(() => heard.requests === 1);
    time = 3_600_000;
    const page = await at.page();
    expect(page.thread.state.problem?.text).toBe('The last reply is not complete.');
    await page.thread.tryAgain();
    expect(lastText(page.chat.messages)).toBe('Hello.');
  });

  test('does not keep a new message from being answered', async () => {
    const at = site(failing);
    const page = await at.page();
    await page.chat.sendMessage({ text: 'Hi' });
    const reloaded = await at.page();
    await reloaded.chat.sendMessage({ text: 'Still there?' });
    expect(lastText(reloaded.chat.messages)).toBe('Hello.');
    expect(reloaded.thread.state.problem).toBeUndefined();
  });
});

const mayAnswer: AgentOptions['mayAnswer'] = ({ principal }) => principal === 'ann';

const readCall = ({ thread, chat }: At) =>
  chat.messages.flatMap(({ parts }) =>
    parts.flatMap((part) => {
      const shown = thread.show(part);
      return shown?.type === 'call' ? shown.says : [];
    }),
  );

/** A page on which Ann has approved a booking and somebody has stopped the agent before it began, and who looks at it. */
async function heldPage(viewer: string) {
  let principal = 'ann';
  const at = site(one, { mayAnswer }, { authorize: () => ({ principal }) });
  const { agent } = at;
  const thread = await agent.thread('t');
  const [request] = (await agent.run('Book', thread)).approvalRequests;
  await agent.respond(request?.approve() ?? [], thread, { principal: 'ann' });
  await agent.stop(thread, { principal: 'eve' });
  principal = viewer;
  const page = await at.page();
  return { ...at, page };
}

describe('an approved call that a stop holds', () => {
  test('is shown so, and goes on for somebody who may reject it', async () => {
    const { page, world, stored } = await heldPage('ann');
    expect(page.thread.isHeld).toBe(true);
    expect(readCall(page)).toEqual(['approved, and held since the assistant was stopped']);
    await page.thread.resume();
    await shows(page, () => lastText(page.chat.messages) === 'Booked.' && isQuiet(page));
    expect(page.thread.isHeld).toBe(false);
    expect(world.ran).toHaveLength(1);
    expect(comparable(page.chat.messages)).toEqual(await stored());
  });

  test('stays held for somebody who may not, who reads why and keeps the page', async () => {
    const { page, world, agent } = await heldPage('eve');
    const { revision } = await agent.thread('t');
    await page.thread.resume();
    await shows(page, () => page.thread.state.problem !== undefined && isQuiet(page));
    expect(page.thread.state.problem).toMatchObject({ type: 'refused', code: 'not-allowed' });
    expect(page.thread.isHeld).toBe(true);
    expect(readCall(page)).toHaveLength(1);
    expect(world.ran).toEqual([]);
    expect(await agent.thread('t')).toMatchObject({ revision });
  });
});

test('a page of somebody who may not see the thread says so', async () => {
  const at = site([], {}, { authorize: () => undefined });
  const { thread } = await at.page();
  expect(thread.state).toMatchObject({
    isLoaded: false,
    problem: { type: 'refused', text: 'You are not allowed to do this.' },
  });
});

test('a page that is closed while it waits for the server stops sending, and can be opened again', async () => {
  const at = site(one);
  const page = await at.page();
  page.net.is = 'down';
  void page.chat.sendMessage({ text: 'Book' });
  await shows(page, () => page.net.waits > 1);
  page.thread.close();
  page.net.is = 'up';
  await shows(page, () => page.chat.status === 'ready');
  expect(page.net.sent.filter((sent) => sent.startsWith('POST'))).toEqual([]);
  await page.thread.open();
  expect(page.chat.messages).toEqual([]);
});
