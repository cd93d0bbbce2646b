import { Chat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import { type ApprovalRequest, approve } from 'holdpoint';
import { approvalRequestSchema } from 'holdpoint/schemas';
import { createUiHandler, ThreadChat, toUIMessages, type UiHandlerOptions } from 'holdpoint/ui';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { book, memoryWorld } from '../support/travel-world.ts';
import {
  childOf,
  desk,
  forOwners,
  only,
  requestIn,
  subjectOf,
  votersOf,
} from '../tools/payment-desk.ts';
import {
  chatPage,
  chunksOf,
  comparable,
  lastText,
  origin,
  post,
  toolParts,
  urlOf,
} from './chat-page.ts';
import { waitFor } from '../support/waiting.ts';

beforeEach(() => {
  vi.spyOn(console, 'warn').mockReturnValue();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const minute = 60_000;
const forNobody = () => ({ type: 'user-approval' as const, quorum: 0 });

/** A desk whose thread people have open, each on a page of their own. */
async function site(
  options: Parameters<typeof desk>[0] = {},
  status?: Parameters<typeof desk>[1],
  view: Pick<UiHandlerOptions, 'redactToolErrors'> = {},
) {
  const at = await desk(options, status);
  const handlerOf = (principal: unknown) =>
    createUiHandler({ agent: at.clerk, authorize: () => ({ principal }), ...view });
  const page = async (principal: unknown) => {
    const handler = handlerOf(principal);
    const net: { loseReply?: (() => Promise<void>) | undefined } = {};
    const thread = new ThreadChat((init) => new Chat<UIMessage>(init), {
      id: 't',
      api: '/chat',
      fetch: async (input, init) => {
        const request = new Request(new URL(urlOf(input), origin), init);
        const { loseReply } = net;
        if (loseReply === undefined || request.method !== 'POST') return handler(request);
        net.loseReply = undefined;
        await (await handler(request)).text();
        await loseReply();
        throw new TypeError('Failed to fetch');
      },
      wait: async (milliseconds) =>
        milliseconds === 12_000 ? new Promise(() => {}) : new Promise(setImmediate),
    });
    await thread.open();
    const { chat } = thread;
    /** Answers, and waits until the page is quiet. */
    const answer = async (...[given]: Parameters<typeof thread.answer>): Promise<void> => {
      await thread.answer(given);
      await waitFor(() => {
        const isQuiet = chat.status === 'ready' || chat.status === 'error';
        if (!isQuiet || thread.state.sending.size > 0) throw new Error(chat.status);
      }, 5_000);
    };
    return { thread, chat, net, answer };
  };
  const current = async () => at.clerk.thread('t');
  const stored = async () => comparable(await toUIMessages(await current()));
  return { ...at, handlerOf, page, current, stored };
}

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof site>>['page']>>;

/** What a page shows of requests, with their ends. */
function requestsOf({ chat }: Pick<Page, 'chat'>): unknown[] {
  return chat.messages
    .flatMap(({ parts }) => parts)
    .flatMap((part) => (part.type === 'data-approval-request' && 'data' in part ? part.data : []));
}

/** The request that a page shows as open. */
function shown(page: Page): ApprovalRequest {
  const open = requestsOf(page).filter(
    (data) => !Object.hasOwn(Object(data), 'answer') && !Object.hasOwn(Object(data), 'closed'),
  );
  return approvalRequestSchema.parse(open[0]);
}

describe("a sub-agent's quorum on the page’s route", () => {
  test('Ada votes and leaves, Ben votes: both still see it open, with the votes that count, until Cem votes', async () => {
    const people = new Set(['Ada', 'Ben', 'Cem']);
    const at = await site({ payer: { mayAnswer: only(people) } });
    const [ada, ben] = [await at.page('Ada'), await at.page('Ben')];
    const { requestId } = shown(ada);
    const yes = { id: 't', answers: [approve(shown(ada))] };
    const reply = await chunksOf(await at.handlerOf('Ada')(post(yes)));
    expect(reply).toMatchObject([
      { type: 'start' },
      {
        type: 'data-request-rights',
        data: [{ requestId, mayAnswer: false, refusal: 'already-voted', mayWithdraw: true }],
      },
      {
        type: 'data-approval-request',
        id: requestId,
        data: { requestId, votes: [{ person: 'Ada', channel: 'ui' }], path: [{ agent: 'payer' }] },
      },
      { type: 'finish', messageMetadata: { status: 'waiting' } },
    ]);
    people.delete('Ada');
    await ben.answer(approve(shown(ben)));
    await ada.thread.poll();
    const cem = await at.page('Cem');
    for (const page of [ada, ben, cem]) {
      expect(shown(page)).toMatchObject({ requestId, votes: [{ person: 'Ben' }] });
      expect(comparable(page.chat.messages)).toEqual(await at.stored());
      expect(toolParts(page.chat.messages)).toMatchObject([{ state: 'input-available' }]);
    }
    await ada.answer(approve(shown(ada)));
    expect(ada.thread.state.problem).toMatchObject({ code: 'not-allowed', requestId });
    expect(shown(ada)).toMatchObject({ votes: [{ person: 'Ben' }] });
    await ben.answer(approve(shown(ben)));
    expect(at.paid).toEqual([]);
    await cem.answer(approve(shown(cem)));
    expect(at.paid).toEqual([{ euros: 900 }]);
    await ben.thread.poll();
    for (const page of [ben, cem]) {
      expect(lastText(page.chat.messages)).toBe('Done.');
      expect(requestsOf(page)).toMatchObject([{ requestId, answer: { approved: true } }]);
    }
  });

  test('Ada has one vote from two sessions, as the sub-agent tells people apart, and Ben’s decides', async () => {
    const at = await site({ payer: { principalId: subjectOf } });
    for (const session of ['one', 'two']) {
      const ada = await at.page({ sub: 'Ada', id: session });
      await ada.answer(approve(shown(ada)));
      expect(votersOf(shown(ada))).toEqual(['Ada']);
    }
    const ben = await at.page({ sub: 'Ben', id: 'three' });
    await ben.answer(approve(shown(ben)));
    expect(at.paid).toHaveLength(1);
    const answered = (await at.current()).events.find(({ type }) => type === 'request-answered');
    expect(answered).toMatchObject({ person: 'Ben', principal: { sub: 'Ben' } });
  });

  test('Ben edits: Ada’s yes to what she saw is refused, and her page shows what will run', async () => {
    const rule = { type: 'user-approval', quorum: 2, editable: true } as const;
    const at = await site({}, rule);
    const [ada, ben] = [await at.page('Ada'), await at.page('Ben')];
    const before = shown(ada);
    await ben.answer(approve(shown(ben), { input: { euros: 5_000 } }));
    await ada.answer(approve(before));
    expect(ada.thread.state.problem).toMatchObject({ code: 'answer-mismatch' });
    await ada.thread.poll();
    expect(shown(ada)).toMatchObject({
      toolCall: { input: { euros: 5_000 } },
      edit: { original: { input: { euros: 900 } }, person: 'Ben' },
    });
    expect(at.paid).toEqual([]);
  });

  test('the process dies after the sub-agent has counted Ada’s vote: Ben’s page shows it once anything has run', async () => {
    const at = await site();
    const [ada, ben] = [await at.page('Ada'), await at.page('Ben')];
    at.dying.threadId = 't';
    const lost = await at.handlerOf('Ada')(post({ id: 't', answers: [approve(shown(ada))] }));
    const told = await lost.text();
    expect(told).not.toContain('"finish"');
    expect(at.paid).toEqual([]);
    at.dying.threadId = '';
    expect(votersOf(shown(await at.page('Cem')))).toEqual([]);
    await ada.answer(approve(shown(ada)));
    await ben.thread.poll();
    expect(votersOf(shown(ben))).toEqual(['Ada']);
    await ben.answer(approve(shown(ben)));
    expect(at.paid).toHaveLength(1);
  });

  test.each([false, true])(
    'Ada’s vote whose reply was lost does not come back once she has taken it back; it stood only below: %s',
    async (isBelowOnly) => {
      const at = await site();
      const ada = await at.page('Ada');
      const { requestId } = shown(ada);
      if (isBelowOnly) at.dying.threadId = 't';
      ada.net.loseReply = async () => {
        at.dying.threadId = '';
        await at.clerk.withdraw(await at.current(), requestId, { principal: 'Ada' });
      };
      await ada.answer(approve(shown(ada)));
      expect(votersOf(requestIn(await at.current()))).toEqual([]);
      expect(votersOf(requestIn(await childOf(at)))).toEqual([]);
      await ada.answer(approve(shown(ada)));
      expect(votersOf(shown(ada))).toEqual(['Ada']);
      expect(at.paid).toEqual([]);
    },
  );
});

test('Ada sees the deadline of an agent tool on her page; ten seconds later her yes is refused and pays nothing', async () => {
  const at = await site({ expiresAfterMs: minute }, 'user-approval');
  const [ada, ben] = [await at.page('Ada'), await at.page('Ben')];
  const request = shown(ada);
  expect(request.expiresAt).toBe(at.clock.now + minute);
  at.clock.now += minute + 10_000;
  await ada.answer(approve(request));
  expect(ada.thread.state.problem).toMatchObject({
    code: 'request-closed',
    requestId: request.requestId,
  });
  await at.clerk.run([], await at.current());
  for (const page of [ada, ben]) {
    await page.thread.refresh();
    expect(requestsOf(page)).toMatchObject([{ requestId: request.requestId, closed: 'expired' }]);
    expect(toolParts(page.chat.messages)).toMatchObject([{ state: 'output-error' }]);
    expect(lastText(page.chat.messages)).toBe('Done.');
  }
  expect((await at.current()).decisions).toMatchObject([{ status: 'expired' }]);
  expect(at.paid).toEqual([]);
});

describe('a call about which nobody could answer', () => {
  test.each([
    ['is shown as failed, and its reason is the app’s', true, 'An error occurred.'],
    ['has its reason on a page that shows errors', false, 'no mayAnswer'],
  ])('%s; nothing is asked, live and loaded', async (_how, redactToolErrors, text) => {
    const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Not booked.' }]);
    const agent = world.agent({ toolApproval: { book: forOwners } });
    const failures: unknown[] = [];
    agent.on('setting-failed', (failure) => failures.push(failure));
    const options = { redactToolErrors };
    const page = chatPage(
      createUiHandler({ agent, authorize: () => ({ principal: 'Ada' }), ...options }),
    );
    await page.chat.sendMessage({ text: 'Book' });
    expect(toolParts(page.chat.messages)).toMatchObject([
      { state: 'output-error', errorText: expect.stringContaining(text) },
    ]);
    expect(lastText(page.chat.messages)).toBe('Not booked.');
    expect(comparable(page.chat.messages)).toEqual(
      comparable(await toUIMessages(await agent.thread('t'), options)),
    );
    expect(failures).toMatchObject([{ setting: 'toolApproval.book', kind: 'unanswerable' }]);
    expect(world.ran).toEqual([]);
  });

  test('of a sub-agent fails below, and the page asks nothing', async () => {
    const at = await site({ payer: { toolApproval: { pay: forOwners } } });
    const ada = await at.page('Ada');
    expect(requestsOf(ada)).toEqual([]);
    expect(lastText(ada.chat.messages)).toBe('Done.');
    const [below] = await at.store.list({ agent: 'payer' });
    expect((await at.payer.thread(below?.threadId ?? '')).calls).toMatchObject([
      { status: 'failed', outcome: { error: expect.stringContaining('no mayAnswer') } },
    ]);
    expect(at.paid).toEqual([]);
  });

  test('because its rule is invalid fails, and the report says which field', async () => {
    const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Not booked.' }]);
    const agent = world.agent({ toolApproval: { book: forNobody } });
    const failures: unknown[] = [];
    agent.on('setting-failed', (failure) => failures.push(failure));
    const page = chatPage(createUiHandler({ agent, authorize: () => ({ principal: 'Ada' }) }));
    await page.chat.sendMessage({ text: 'Book' });
    expect(toolParts(page.chat.messages)).toMatchObject([{ state: 'output-error' }]);
    expect(failures).toMatchObject([
      { setting: 'toolApproval.book', kind: 'invalid', problem: expect.stringContaining('quorum') },
    ]);
    expect(world.ran).toEqual([]);
  });
});
