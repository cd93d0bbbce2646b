import { Chat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import { type ApprovalRequest, approve, type MayAnswer, type UserApproval } from 'holdpoint';
import { approvalRequestSchema } from 'holdpoint/schemas';
import { createUiHandler, ThreadChat, toUIMessages } from 'holdpoint/ui';
import { describe, expect, test } from 'vitest';
import { book, memoryWorld } from '../support/travel-world.ts';
import { comparable, lastText, openApprovals, origin, toolParts, urlOf } from './chat-page.ts';
import { waitFor } from '../support/waiting.ts';

const people = ['ann', 'bob', 'cy'];
const mayAnswer: MayAnswer = ({ principal, request }) =>
  request.type !== 'approval-request' ||
  (request.approvers ?? people).some((name) => name === principal);

/** A thread of ann's, and a page for each person, each in a browser of their own. */
function site(
  status: UserApproval,
  calls = [book('c1', 'Paris')],
  isBobs: (input: { price?: number }) => boolean = () => false,
) {
  const world = memoryWorld([{ calls }, { text: 'Booked.' }]);
  const rule = (input: { price?: number }): UserApproval =>
    isBobs(input) ? { ...status, approvers: ['bob'] } : status;
  const agent = world.agent({ toolApproval: { book: rule }, mayAnswer });
  const handler = createUiHandler({
    agent,
    authorize: ({ request }) => ({ principal: request.headers.get('x-person') ?? '' }),
  });
  const page = async (person: string) => {
    const sent: string[] = [];
    const net: { isDown: boolean; loseReply?: (() => Promise<void>) | undefined } = {
      isDown: false,
    };
    const thread = new ThreadChat((init) => new Chat<UIMessage>(init), {
      id: 't',
      api: '/chat',
      headers: { 'x-person': person },
      fetch: async (input, init) => {
        if (net.isDown) throw new TypeError('Failed to fetch');
        const request = new Request(new URL(urlOf(input), origin), init);
        sent.push(request.method);
        const response = await handler(request);
        const { loseReply } = net;
        if (loseReply === undefined || request.method !== 'POST') return response;
        net.loseReply = undefined;
        await response.text();
        await loseReply();
        throw new TypeError('Failed to fetch');
      },
      wait: async (milliseconds) =>
        milliseconds === 12_000 ? new Promise(() => {}) : new Promise(setImmediate),
    });
    await thread.open();
    return { thread, chat: thread.chat, sent, net };
  };
  return { agent, world, page };
}

type At = Awaited<ReturnType<ReturnType<typeof site>['page']>>;

/** The request that the page shows as open. */
function shown({ chat }: At): ApprovalRequest {
  const part = toolParts(chat.messages).find(({ state }) => state === 'approval-requested');
  return approvalRequestSchema.parse(part?.approval?.descriptor);
}

async function quiet({ thread, chat }: At): Promise<void> {
  await waitFor(() => {
    const isQuiet = chat.status === 'ready' || chat.status === 'error';
    if (!isQuiet || thread.state.sending.size > 0) throw new Error(chat.status);
  }, 5_000);
}

const editSchema = approvalRequestSchema.shape.edit;

describe('a request that needs two people', () => {
  const terms: UserApproval = {
    type: 'user-approval',
    approvers: people,
    quorum: 2,
    risk: 'high',
    requireReason: true,
    editable: ['price'],
    remember: true,
    metadata: { account: 7 },
  };

  test('reaches the page with its terms and digest, and one approval leaves it open, also for the other page', async () => {
    const at = site(terms);
    const [ann, bob] = [await at.page('ann'), await at.page('bob')];
    await ann.chat.sendMessage({ text: 'Book' });
    await bob.thread.refresh();
    expect(shown(ann)).toMatchObject({
      quorum: 2,
      risk: 'high',
      requireReason: true,
      editable: ['price'],
      remember: { scope: 'thread', match: 'exact' },
      metadata: { account: 7 },
      digest: (await at.agent.thread('t')).activeApprovalRequests[0]?.digest,
    });
    await ann.thread.answer(approve(shown(ann), { reason: 'Cheap.' }));
    await quiet(ann);
    expect(shown(ann).votes).toMatchObject([{ person: 'ann', reason: 'Cheap.', channel: 'ui' }]);
    expect(shown(bob).votes).toBeUndefined();
    await bob.thread.poll();
    expect(shown(bob).votes).toEqual(shown(ann).votes);
    expect(comparable(ann.chat.messages)).toEqual(
      comparable(await toUIMessages(await at.agent.thread('t'))),
    );
    expect(at.world.ran).toEqual([]);
    await bob.thread.answer(approve(shown(bob), { reason: 'Yes.' }));
    await quiet(bob);
    expect(lastText(bob.chat.messages)).toBe('Booked.');
    await ann.thread.poll();
    expect(lastText(ann.chat.messages)).toBe('Booked.');
    expect(at.world.ran).toHaveLength(1);
  });

  test('is not sent for ever when the same person approves twice', async () => {
    const at = site({ type: 'user-approval', quorum: 2 });
    const ann = await at.page('ann');
    await ann.chat.sendMessage({ text: 'Book' });
    for (let times = 0; times < 2; times += 1) {
      await ann.thread.answer(approve(shown(ann)));
      await quiet(ann);
    }
    expect(shown(ann).votes).toHaveLength(1);
    expect(ann.sent.filter((method) => method === 'POST')).toHaveLength(3);
  });

  test('a vote whose reply is lost does not come back after its voter has taken it back elsewhere', async () => {
    const at = site({ type: 'user-approval', quorum: 2 });
    const ann = await at.page('ann');
    await ann.chat.sendMessage({ text: 'Book' });
    const { requestId } = shown(ann);
    ann.net.loseReply = async () => {
      const thread = await at.agent.thread('t');
      await at.agent.withdraw(thread, requestId, { principal: 'ann' });
    };
    await ann.thread.answer(approve(shown(ann)));
    await quiet(ann);
    expect(shown(ann)).toMatchObject({ requestId, votes: [] });
    expect((await at.agent.thread('t')).activeApprovalRequests[0]?.votes).toEqual([]);
    await ann.thread.answer(approve(shown(ann)));
    await quiet(ann);
    expect(shown(ann).votes).toMatchObject([{ person: 'ann' }]);
  });

  test('shows a vote that is withdrawn, a person who is asked instead, and why that is refused', async () => {
    const at = site({ type: 'user-approval', approvers: ['ann', 'bob'], quorum: 2 });
    const [ann, cy] = [await at.page('ann'), await at.page('cy')];
    await ann.chat.sendMessage({ text: 'Book' });
    const { requestId } = shown(ann);
    await ann.thread.answer(approve(shown(ann)));
    await quiet(ann);
    await ann.thread.withdraw(requestId);
    expect(shown(ann).votes).toEqual([]);
    await cy.thread.refresh();
    const { revision } = await at.agent.thread('t');
    await cy.thread.reassign(requestId, 'bob');
    expect(cy.thread.state.problem).toMatchObject({ code: 'not-allowed', requestId });
    await cy.thread.withdraw(requestId);
    expect(cy.thread.state.problem).toMatchObject({ code: 'not-allowed', requestId });
    expect((await at.agent.thread('t')).revision).toBe(revision);
    await ann.thread.reassign(requestId, 'cy');
    expect(ann.thread.state).toMatchObject({ problem: undefined });
    expect(shown(ann).reassignments).toMatchObject([{ from: 'ann', to: 'cy' }]);
    await cy.thread.poll();
    await cy.thread.answer(approve(shown(cy)));
    await quiet(cy);
    expect(shown(cy).votes).toMatchObject([{ person: 'cy', onBehalfOf: 'ann' }]);
  });

  test.each([true, false])(
    'is answered by its own id, also with a reason, after a vote has changed its approval id: %o',
    async (approved) => {
      const at = site({ type: 'user-approval', quorum: 2 });
      const ann = await at.page('ann');
      await ann.chat.sendMessage({ text: 'Book' });
      await ann.thread.answer(approve(shown(ann)));
      await quiet(ann);
      const bob = await at.page('bob');
      const { requestId } = shown(bob);
      expect(openApprovals(bob.chat.messages)).toEqual([`${requestId}#1`]);
      const answer = {
        type: 'approval-response',
        requestId,
        approved,
        reason: 'I looked.',
      } as const;
      await bob.thread.answer(answer);
      await quiet(bob);
      await ann.thread.poll();
      const parts = [ann, bob].flatMap(({ chat }) => toolParts(chat.messages));
      expect(parts).toMatchObject([{ approval: { approved } }, { approval: { approved } }]);
      expect((await at.agent.thread('t')).decisions).toMatchObject([{ principal: 'bob' }]);
    },
  );

  test('that somebody else has edited is not approved by an answer to what was shown before', async () => {
    const at = site({ type: 'user-approval', quorum: 2, editable: true });
    const [ann, bob] = [await at.page('ann'), await at.page('bob')];
    await ann.chat.sendMessage({ text: 'Book' });
    await bob.thread.refresh();
    const before = shown(bob);
    await ann.thread.answer(approve(shown(ann), { input: { city: 'Rome' } }));
    await quiet(ann);
    expect(shown(ann)).toMatchObject({
      toolCall: { input: { city: 'Rome' } },
      edit: { original: { input: { city: 'Paris' } }, person: 'ann' },
    });
    await bob.thread.answer(approve(before));
    await quiet(bob);
    const { requestId } = before;
    await waitFor(() => expect(shown(bob)).toEqual(shown(ann)));
    expect(bob.thread.state.problem).toMatchObject({ code: 'answer-mismatch', requestId });
    await bob.thread.answer(approve(before));
    await quiet(bob);
    expect(bob.thread.state.problem).toMatchObject({ code: 'answer-mismatch', requestId });
    expect(at.world.ran).toEqual([]);
  });

  test('that was edited while an answer waited for the server is shown again instead of answered', async () => {
    const at = site({ type: 'user-approval', quorum: 2, editable: true });
    const [ann, bob] = [await at.page('ann'), await at.page('bob')];
    await ann.chat.sendMessage({ text: 'Book' });
    await bob.thread.refresh();
    bob.net.isDown = true;
    await bob.thread.answer(approve(shown(bob)));
    await waitFor(() => expect(bob.thread.state.problem?.type).toBe('away'));
    await ann.thread.answer(approve(shown(ann), { input: { city: 'Rome' } }));
    await quiet(ann);
    bob.net.isDown = false;
    await quiet(bob);
    await waitFor(() => expect(shown(bob)).toEqual(shown(ann)));
    expect(bob.thread.state.problem).toMatchObject({ code: 'answer-mismatch' });
    expect(at.world.ran).toEqual([]);
    expect(shown(ann).votes).toHaveLength(1);
  });
});

describe('an edit on the page', () => {
  test('is shown to others as it will run, under the question about it, until its editor withdraws', async () => {
    const at = site({
      type: 'user-approval',
      quorum: 2,
      editable: true,
      text: ({ city, price = 0 }: { city: string; price?: number }) => `${city} for ${price}?`,
    });
    const [ann, bob] = [await at.page('ann'), await at.page('bob')];
    await ann.chat.sendMessage({ text: 'Book' });
    await bob.thread.refresh();
    const before = shown(bob);
    const input = { city: 'Rome', price: 50 };
    await ann.thread.answer(approve(shown(ann), { input }));
    await quiet(ann);
    for (const page of [ann, bob]) {
      await page.thread.poll();
      expect(shown(page)).toMatchObject({
        text: 'Rome for 50?',
        toolCall: { input },
        edit: { original: { input: { city: 'Paris' }, text: 'Paris for 0?' }, person: 'ann' },
      });
    }
    await ann.thread.withdraw(before.requestId);
    await bob.thread.poll();
    expect(shown(bob)).toEqual({ ...before, votes: [], wasEdited: true });
    expect(at.world.ran).toEqual([]);
  });

  test.each([undefined, true])('of null is refused where editable is %s', async (editable) => {
    const at = site({ type: 'user-approval', editable });
    const ann = await at.page('ann');
    await ann.chat.sendMessage({ text: 'Book' });
    await ann.thread.answer(approve(shown(ann), { input: null }));
    await quiet(ann);
    expect(ann.thread.state.problem).toMatchObject({ code: 'invalid-answer' });
    expect(at.world.ran).toEqual([]);
  });

  test('for which others are asked instead is in their request as it would run', async () => {
    const at = site(
      { type: 'user-approval', editable: true, approvers: ['ann', 'bob'] },
      undefined,
      (input) => (input.price ?? 0) > 10,
    );
    const ann = await at.page('ann');
    await ann.chat.sendMessage({ text: 'Book' });
    const input = { city: 'Paris', price: 50 };
    await ann.thread.answer(approve(shown(ann), { input }));
    await quiet(ann);
    expect(shown(ann)).toMatchObject({ approvers: ['bob'], toolCall: { input } });
    const bob = await at.page('bob');
    expect(shown(bob)).toEqual(shown(ann));
    await bob.thread.answer(approve(shown(bob)));
    await quiet(bob);
    expect(at.world.ran).toMatchObject([{ input }]);
  });

  test('runs, and the page shows what the model asked for and what was changed, also reloaded', async () => {
    const at = site({ type: 'user-approval', editable: ['price'] });
    const ann = await at.page('ann');
    await ann.chat.sendMessage({ text: 'Book' });
    const answer = approve(shown(ann), { input: { city: 'Paris', price: 50 } });
    await ann.thread.answer(answer);
    await quiet(ann);
    expect(at.world.ran).toMatchObject([{ input: { city: 'Paris', price: 50 } }]);
    const reloaded = await toUIMessages(await at.agent.thread('t'));
    for (const messages of [ann.chat.messages, reloaded]) {
      const [part] = toolParts(messages);
      expect(part).toMatchObject({ state: 'output-available', input: { city: 'Paris' } });
      const asked = approvalRequestSchema.parse(part?.approval?.descriptor);
      expect(asked.toolCall?.input).toEqual({ city: 'Paris', price: 50 });
      expect(asked.edit?.original.input).toEqual({ city: 'Paris' });
      expect(editSchema.parse(asked.edit)?.patches).toEqual([
        { op: 'add', path: ['price'], value: 50 },
      ]);
    }
    expect(comparable(ann.chat.messages)).toEqual(comparable(reloaded));
  });

  test.each([
    ['of a field that is not editable', { city: 'Rome' }, ['city'], 'is not editable'],
    ['that the schema refuses', { city: 'Paris', price: 'much' }, ['price'], 'expected number'],
  ])('%s is refused at its field and changes nothing', async (_what, input, field, why) => {
    const at = site({ type: 'user-approval', editable: ['price'] });
    const ann = await at.page('ann');
    await ann.chat.sendMessage({ text: 'Book' });
    const before = shown(ann);
    const { revision } = await at.agent.thread('t');
    await ann.thread.answer(approve(before, { input }));
    await quiet(ann);
    const { requestId } = before;
    expect(ann.thread.state.problem).toMatchObject({
      code: 'invalid-answer',
      requestId,
      field,
      reason: expect.stringContaining(why),
    });
    expect(shown(ann)).toEqual(before);
    expect((await at.agent.thread('t')).revision).toBe(revision);
    expect(at.world.ran).toEqual([]);
  });
});
