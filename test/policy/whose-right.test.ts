import { createUiHandler } from 'holdpoint/ui';
import { agentTool } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book, memoryWorld } from '../support/travel-world.ts';
import { askedInOffice, answeredBy, office } from './office.ts';
import { pickCases } from '../support/sampling.ts';

const twoOwners = {
  type: 'user-approval',
  approvers: ['owners'],
  notRequester: true,
  quorum: 2,
} as const;

const editable = { type: 'user-approval', quorum: 2, editable: ['city', 'price'] } as const;

/** A parent's agent that lets the office's agent book; both resolve the same teams. */
async function askedBelow(status: typeof twoOwners | typeof editable) {
  const at = office({ book: status });
  const world = memoryWorld([
    { calls: [{ id: 'p1', name: 'clerk', input: '{"prompt":"Paris"}' }] },
    { text: 'Done.' },
  ]);
  const desk = world.agent({
    name: 'desk',
    store: at.store,
    tools: { clerk: agentTool(at.agent, { description: 'Books.' }) },
    toolApproval: {},
    mayAnswer: answeredBy(at.teams),
    now: () => at.clock.now,
  });
  const thread = await desk.thread('desk');
  const { approvalRequests } = await desk.run('Book', thread, { principal: 'ann' });
  const [request] = approvalRequests;
  if (request === undefined) throw new Error('Nothing was asked.');
  return { ...at, agent: desk, thread, request };
}

const minimal = (requestId: string) =>
  ({ type: 'approval-response', requestId, approved: true }) as const;

const places = [
  ['in its own thread', askedInOffice],
  ['in the thread of the agent above', askedBelow],
] as const;

describe.each(pickCases(places))(
  'a vote counts only in the right in which it was given, %s:',
  (_where, ask) => {
    test('reassigning to somebody who has left does not bring their vote back', async () => {
      const { agent, thread, request, teams, ran } = await ask(twoOwners);
      await agent.respond(request.approve(), thread, { principal: 'bob' });
      teams['owners'] = ['cy'];
      await agent.reassign(thread, request.requestId, 'bob', { principal: 'cy' });
      const response = await agent.run(request.approve(), thread, { principal: 'cy' });
      expect(response.status).toBe('waiting');
      expect(thread.activeApprovalRequests[0]?.votes).toMatchObject([{ person: 'cy' }]);
      expect(ran).toEqual([]);
    });

    test('nor does one reassigned before they voted as themselves', async () => {
      const { agent, thread, request, teams, ran } = await ask(twoOwners);
      await agent.reassign(thread, request.requestId, 'bob', { principal: 'cy' });
      await agent.respond(request.approve(), thread, { principal: 'bob' });
      teams['owners'] = ['cy'];
      const response = await agent.run(request.approve(), thread, { principal: 'cy' });
      expect(response.status).toBe('waiting');
      expect(ran).toEqual([]);
    });

    test('nor does the right of somebody else than the one who lent it', async () => {
      const { agent, thread, request, teams, ran } = await ask(twoOwners);
      await agent.reassign(thread, request.requestId, 'zed', { principal: 'bob' });
      await agent.respond(request.approve(), thread, { principal: 'zed' });
      teams['owners'] = ['cy'];
      await agent.reassign(thread, request.requestId, 'zed', { principal: 'cy' });
      const response = await agent.run(request.approve(), thread, { principal: 'cy' });
      expect(response.status).toBe('waiting');
      expect(ran).toEqual([]);
    });

    test('nor does a right of their own that somebody gets who voted for another', async () => {
      const { agent, thread, request, teams, ran } = await ask(twoOwners);
      await agent.reassign(thread, request.requestId, 'zed', { principal: 'bob' });
      await agent.respond(request.approve(), thread, { principal: 'zed' });
      teams['owners'] = ['cy', 'zed'];
      expect((await agent.run(request.approve(), thread, { principal: 'cy' })).status).toBe(
        'waiting',
      );
      /* Given again, in their own right, it counts. */
      expect((await agent.run(request.approve(), thread, { principal: 'zed' })).status).toBe(
        'completed',
      );
      expect(ran).toHaveLength(1);
    });

    test('two people count as two, one of them in a right that was lent', async () => {
      const { agent, thread, request, ran } = await ask(twoOwners);
      await agent.reassign(thread, request.requestId, 'zed', { principal: 'bob' });
      await agent.respond(request.approve(), thread, { principal: 'zed' });
      const response = await agent.run(request.approve(), thread, { principal: 'cy' });
      expect(response.status).toBe('completed');
      expect(ran).toHaveLength(1);
    });
  },
);

test('an agent above that lets a person answer for themselves does not widen a right that was lent below', async () => {
  const at = office({ book: twoOwners });
  const world = memoryWorld([
    { calls: [{ id: 'p1', name: 'clerk', input: '{"prompt":"Paris"}' }] },
    { text: 'Done.' },
  ]);
  const desk = world.agent({
    name: 'desk',
    store: at.store,
    tools: { clerk: agentTool(at.agent, { description: 'Books.' }) },
    toolApproval: {},
    mayAnswer: () => true,
  });
  const thread = await desk.thread('desk');
  const { approvalRequests } = await desk.run('Book', thread, { principal: 'ann' });
  const [request] = approvalRequests;
  if (request === undefined) throw new Error('Nothing was asked.');
  await desk.reassign(thread, request.requestId, 'zed', { principal: 'bob' });
  await desk.respond(request.approve(), thread, { principal: 'zed' });
  expect(thread.activeApprovalRequests[0]?.votes).toMatchObject([
    { person: 'zed', onBehalfOf: 'bob' },
  ]);
  at.teams['owners'] = ['cy'];
  expect((await desk.run(request.approve(), thread, { principal: 'cy' })).status).toBe('waiting');
  expect(at.ran).toEqual([]);
});

describe('a right that was lent for one request makes no standing approval:', () => {
  const rememberable = {
    type: 'user-approval',
    approvers: ['owners'],
    remember: { scope: 'everyone', match: ['city'] },
  } as const;

  test('with the answer it is refused, and rights say so', async () => {
    const { agent, thread, request } = await askedInOffice(rememberable);
    await agent.reassign(thread, request.requestId, 'zed', { principal: 'bob' });
    const [rights] = await agent.rights(thread, { principal: 'zed' });
    expect(rights).toMatchObject({ mayApprove: true });
    expect(rights?.mayRemember).toBeUndefined();
    const { revision } = thread;
    const remembered = agent.run(request.approve({ remember: true }), thread, { principal: 'zed' });
    expect(await errorCode(remembered)).toBe('invalid-answer');
    const rejected = agent.run(request.reject({ remember: true }), thread, { principal: 'zed' });
    expect(await errorCode(rejected)).toBe('invalid-answer');
    expect(thread.revision).toBe(revision);
    expect((await agent.rights(thread, { principal: 'bob' }))[0]?.mayRemember).toBeDefined();
  });

  test('nor later, also once the person has the right themselves', async () => {
    const { agent, thread, request, teams } = await askedInOffice(rememberable);
    await agent.reassign(thread, request.requestId, 'zed', { principal: 'bob' });
    await agent.run(request.approve(), thread, { principal: 'zed' });
    teams['owners'] = ['zed'];
    const { requestId } = request;
    const later = agent.remember(
      thread,
      requestId,
      { scope: 'thread', match: 'exact' },
      {
        principal: 'zed',
      },
    );
    expect(await errorCode(later)).toBe('not-allowed');
    expect(await agent.grants(thread)).toEqual([]);
  });

  test('nor as one of several people', async () => {
    const { agent, thread, request } = await askedInOffice({ ...rememberable, quorum: 2 });
    await agent.reassign(thread, request.requestId, 'zed', { principal: 'bob' });
    const vote = agent.respond(request.approve({ remember: true }), thread, { principal: 'zed' });
    expect(await errorCode(vote)).toBe('invalid-answer');
  });
});

describe.each(pickCases(places))(
  'once a request was edited, an approval says what it is for, %s:',
  (_where, ask) => {
    const cheaper = { city: 'Paris', price: 50 };

    test('also after the edit was withdrawn', async () => {
      const { agent, thread, request, ran } = await ask(editable);
      await agent.respond(request.approve({ input: cheaper }), thread, { principal: 'bob' });
      await agent.withdraw(thread, request.requestId, { principal: 'bob' });
      const yes = agent.respond(minimal(request.requestId), thread, { principal: 'cy' });
      expect(await errorCode(yes)).toBe('answer-mismatch');
      const shown = thread.activeApprovalRequests[0];
      if (shown === undefined) throw new Error('It is not open.');
      await agent.respond(shown.approve(), thread, { principal: 'cy' });
      const response = await agent.run(shown.approve({ input: shown.toolCall?.input }), thread, {
        principal: 'dee',
      });
      expect(response.status).toBe('completed');
      expect(ran).toHaveLength(1);
    });

    test('also after it was edited back', async () => {
      const { agent, thread, request } = await ask(editable);
      await agent.respond(request.approve({ input: cheaper }), thread, { principal: 'bob' });
      const original = request.toolCall?.input;
      const back = thread.activeApprovalRequests[0]?.approve({ input: original });
      if (back === undefined) throw new Error('It is not open.');
      await agent.respond(back, thread, { principal: 'cy' });
      expect(thread.activeApprovalRequests[0]?.edit).toBeUndefined();
      const yes = agent.respond(minimal(request.requestId), thread, { principal: 'dee' });
      expect(await errorCode(yes)).toBe('answer-mismatch');
    });

    test('and a plain rejection always counts', async () => {
      const { agent, thread, request } = await ask(editable);
      await agent.respond(request.approve({ input: cheaper }), thread, { principal: 'bob' });
      const no = {
        type: 'approval-response',
        requestId: request.requestId,
        approved: false,
      } as const;
      await agent.respond(no, thread, { principal: 'cy' });
      expect(thread.activeRequests).toEqual([]);
    });
  },
);

test('a page that answers without what it showed is refused once the request was edited', async () => {
  const { agent, thread, request } = await askedInOffice(editable);
  await agent.respond(request.approve({ input: { city: 'Paris', price: 50 } }), thread, {
    principal: 'bob',
  });
  await agent.withdraw(thread, request.requestId, { principal: 'bob' });
  const handler = createUiHandler({ agent, authorize: () => ({ principal: 'cy' }) });
  const answer = { type: 'approval-response', requestId: request.requestId, approved: true };
  const response = await handler(
    new Request('http://localhost/chat', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 't', answers: [answer] }),
    }),
  );
  expect(response.status).toBe(409);
  await agent.run([], thread);
  expect(thread.activeApprovalRequests[0]?.votes).toEqual([]);
});

describe('people of two tenants who have the same id', () => {
  const one = { id: 1, tenant: 'a' };
  const other = { id: 1, tenant: 'b' };

  async function votedByOne() {
    const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
    const agent = world.agent({
      toolApproval: { book: editable },
      mayAnswer: ({ principal }) => Reflect.get(Object(principal), 'tenant') === 'a',
    });
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Book', thread, {
      principal: { id: 7, tenant: 'a' },
    });
    const [request] = approvalRequests;
    if (request === undefined) throw new Error('Nothing was asked.');
    await agent.respond(request.approve({ input: { city: 'Paris', price: 50 } }), thread, {
      principal: one,
    });
    return { agent, thread, requestId: request.requestId };
  }

  test('do not take back each other’s votes and edits, and learn nothing of them', async () => {
    const { agent, thread, requestId } = await votedByOne();
    const [rights] = await agent.rights(thread, { principal: other });
    expect(rights).toMatchObject({ mayWithdraw: false, mayAnswer: false });
    const taken = agent.withdraw(thread, requestId, { principal: other });
    expect(await errorCode(taken)).toBe('not-allowed');
    expect(thread.activeApprovalRequests[0]?.votes).toHaveLength(1);
  });

  test('take back their own, also after they lost the right to answer', async () => {
    const { agent, thread, requestId } = await votedByOne();
    await agent.withdraw(thread, requestId, { principal: one });
    expect(thread.activeApprovalRequests[0]?.votes).toEqual([]);
  });
});
