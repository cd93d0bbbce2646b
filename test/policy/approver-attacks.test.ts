import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book, memoryWorld } from '../support/travel-world.ts';
import { askedInOffice, office } from './office.ts';

const twoOwners = { type: 'user-approval', approvers: ['owners'], quorum: 2 } as const;

/** Row 114: where nobody says who answers, nobody answers. */
describe('a request that depends on who answers is not answered by', () => {
  const nobodies = [
    ['no principal', undefined],
    ['null', null],
    ['an empty name', ''],
    ['a blank name', '  '],
  ] as const;
  const terms = [
    ['notRequester', { type: 'user-approval', notRequester: true }],
    ['quorum', { type: 'user-approval', quorum: 2 }],
  ] as const;

  test.each(
    terms.flatMap(([term, status]) =>
      nobodies.map(([who, principal]) => ({ term, status, who, principal })),
    ),
  )('$who ($term)', async ({ status, principal }) => {
    const { agent, thread, request, ran } = await askedInOffice(status);
    const { revision } = thread;
    expect(await errorCode(agent.respond(request.approve(), thread, { principal }))).toBe(
      'not-allowed',
    );
    expect(thread.revision).toBe(revision);
    expect(ran).toEqual([]);
  });

  test('anybody, if nobody knows who asked (row 113)', async () => {
    const { agent, ran } = office({ book: { type: 'user-approval', notRequester: true } });
    const thread = await agent.thread('t');
    expect(await agent.run('Book', thread)).toMatchObject({ approvalRequests: [] });
    expect(thread.calls).toMatchObject([{ status: 'failed' }]);
    expect(ran).toEqual([]);
  });

  test('anybody, if a rule names approvers and the agent can not say who they are', async () => {
    const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Not booked.' }]);
    const agent = world.agent({
      toolApproval: { book: () => ({ type: 'user-approval', approvers: ['owners'] }) },
    });
    const thread = await agent.thread('t');
    expect(await agent.run('Book', thread, { principal: 'ann' })).toMatchObject({
      approvalRequests: [],
    });
    expect(thread.calls).toMatchObject([{ status: 'failed' }]);
    expect(world.ran).toEqual([]);
  });
});

/** Row 116: a yes that takes a sentence is not given by habit. */
test.each([undefined, '', ' \n\t'])(
  'a request that demands a reason is not approved with %j; rejecting needs none',
  async (reason) => {
    const demanding = { type: 'user-approval', requireReason: true } as const;
    const { agent, thread, request, ran } = await askedInOffice(demanding);
    const { revision } = thread;
    const answer = { ...request.approve(), ...(reason === undefined ? {} : { reason }) };
    expect(await errorCode(agent.run(answer, thread, { principal: 'bob' }))).toBe('invalid-answer');
    expect(thread.revision).toBe(revision);
    await agent.run(request.reject(), thread, { principal: 'bob' });
    expect(thread.calls).toMatchObject([{ status: 'denied' }]);
    expect(ran).toEqual([]);
  },
);

/** Row 113. */
describe('the person who asked may not approve', () => {
  const excluded = { type: 'user-approval', approvers: ['owners'], notRequester: true } as const;

  test.each([
    ['as they are', 'ann'],
    ['in another form', { id: 'ann', session: 'other' }],
    ['by another field of theirs', { sub: 'ann' }],
  ])('%s', async (_form, principal) => {
    const { agent, thread, request, ran } = await askedInOffice({
      ...excluded,
      approvers: undefined,
    });
    expect(await errorCode(agent.run(request.approve(), thread, { principal }))).toBe(
      'not-allowed',
    );
    expect(ran).toEqual([]);
  });

  test('when another approver hands the request to them, by name or by team', async () => {
    const { agent, thread, request, teams, ran } = await askedInOffice(excluded);
    teams['friends'] = ['ann'];
    teams['owners'] = ['bob'];
    await agent.reassign(thread, request.requestId, 'ann', { principal: 'bob' });
    await agent.reassign(thread, request.requestId, 'friends', { principal: 'bob' });
    expect(await errorCode(agent.run(request.approve(), thread, { principal: 'ann' }))).toBe(
      'not-allowed',
    );
    expect(ran).toEqual([]);
  });

  test('and may not hand it to somebody either', async () => {
    const { agent, thread, request } = await askedInOffice(excluded);
    const given = agent.reassign(thread, request.requestId, 'zed', { principal: 'ann' });
    expect(await errorCode(given)).toBe('not-allowed');
    expect(await errorCode(agent.run(request.approve(), thread, { principal: 'zed' }))).toBe(
      'not-allowed',
    );
  });
});

/** Row 115. */
describe('a quorum of two counts people', () => {
  test('and not answers, channels or forms of a principal', async () => {
    const { agent, thread, request, ran } = await askedInOffice({
      type: 'user-approval',
      quorum: 2,
    });
    const bobs = [
      'bob',
      { id: 'bob' },
      { subject: 'bob', email: 'b@x' },
      { id: 'bob', role: 'owner' },
    ];
    for (const [index, principal] of bobs.entries()) {
      const { status } = await agent.run(request.approve(), thread, {
        principal,
        channel: `c${index}`,
      });
      expect(status).toBe('waiting');
    }
    expect(thread.activeApprovalRequests[0]?.votes).toHaveLength(1);
    expect(ran).toEqual([]);
  });

  test('not two answers of one input', async () => {
    const { agent, thread, request, ran } = await askedInOffice({
      type: 'user-approval',
      quorum: 2,
    });
    const twice = [request.approve(), { ...request.approve(), reason: 'again' }];
    await agent.respond(twice, thread, { principal: 'bob' }).catch(() => undefined);
    await agent.run([], thread);
    expect(ran).toEqual([]);
  });

  test('not a person and the same person for somebody else, who has become an approver since', async () => {
    const { agent, thread, request, teams, ran } = await askedInOffice(twoOwners);
    await agent.reassign(thread, request.requestId, 'eve', { principal: 'cy' });
    await agent.respond(request.approve(), thread, { principal: 'eve' });
    teams['owners'] = ['bob', 'cy', 'eve'];
    const { status } = await agent.run(request.approve(), thread, { principal: 'eve' });
    expect(status).toBe('waiting');
    expect(ran).toEqual([]);
    expect(thread.activeApprovalRequests[0]?.votes).toHaveLength(1);
  });

  test('not a person who was an approver, and answers for one now', async () => {
    const { agent, thread, request, teams, ran } = await askedInOffice(twoOwners);
    await agent.respond(request.approve(), thread, { principal: 'bob' });
    teams['owners'] = ['cy'];
    await agent.reassign(thread, request.requestId, 'bob', { principal: 'cy' });
    const { status } = await agent.run(request.approve(), thread, { principal: 'bob' });
    expect(status).toBe('waiting');
    expect(ran).toEqual([]);
  });

  test('not two people who answer for one', async () => {
    const { agent, thread, request, teams, ran } = await askedInOffice(twoOwners);
    teams['helpers'] = ['fay', 'gil'];
    await agent.reassign(thread, request.requestId, 'helpers', { principal: 'cy' });
    await agent.respond(request.approve(), thread, { principal: 'fay' });
    expect((await agent.run(request.approve(), thread, { principal: 'gil' })).status).toBe(
      'waiting',
    );
    expect(ran).toEqual([]);
  });

  test('not an approver whose right was taken away before the others answered (row 19)', async () => {
    const { agent, thread, request, teams, ran } = await askedInOffice(twoOwners);
    await agent.respond(request.approve(), thread, { principal: 'bob' });
    teams['owners'] = ['cy', 'dee'];
    expect((await agent.run(request.approve(), thread, { principal: 'cy' })).status).toBe(
      'waiting',
    );
    expect(ran).toEqual([]);
    expect((await agent.run(request.approve(), thread, { principal: 'dee' })).status).toBe(
      'completed',
    );
    expect(ran).toHaveLength(1);
  });

  test('not somebody who was asked to answer by an approver whose right was taken away (row 19)', async () => {
    const { agent, thread, request, teams, ran } = await askedInOffice(twoOwners);
    const { requestId } = request;
    await agent.reassign(thread, requestId, 'eve', { principal: 'cy' });
    await agent.reassign(thread, requestId, 'zed', { principal: 'eve' });
    await agent.respond(request.approve(), thread, { principal: 'eve' });
    teams['owners'] = ['bob', 'dee'];
    expect((await agent.run(request.approve(), thread, { principal: 'bob' })).status).toBe(
      'waiting',
    );
    for (const principal of ['eve', 'zed', 'cy']) {
      const late = agent.run(request.approve(), thread, { principal });
      expect(await errorCode(late)).toBe('not-allowed');
      const given = agent.reassign(thread, requestId, 'fay', { principal });
      expect(await errorCode(given)).toBe('not-allowed');
    }
    expect(ran).toEqual([]);
    expect((await agent.run(request.approve(), thread, { principal: 'dee' })).status).toBe(
      'completed',
    );
  });

  test('not an approval that was taken back, nor one by somebody else', async () => {
    const { agent, thread, request, ran } = await askedInOffice(twoOwners);
    const { requestId } = request;
    await agent.respond(request.approve(), thread, { principal: 'bob' });
    expect(await errorCode(agent.withdraw(thread, requestId, { principal: 'cy' }))).toBe(
      'not-allowed',
    );
    await agent.withdraw(thread, requestId, { principal: 'bob' });
    expect((await agent.run(request.approve(), thread, { principal: 'cy' })).status).toBe(
      'waiting',
    );
    expect(ran).toEqual([]);
    await agent.run(request.approve(), thread, { principal: 'bob' });
    expect(ran).toHaveLength(1);
    expect(await errorCode(agent.withdraw(thread, requestId, { principal: 'bob' }))).toBe(
      'request-closed',
    );
  });

  test('not the votes of a request that has expired', async () => {
    const { agent, thread, request, clock, ran } = await askedInOffice({
      ...twoOwners,
      expiresAfterMs: 1_000,
      onExpiry: 'ask-again',
    });
    await agent.respond(request.approve(), thread, { principal: 'bob' });
    clock.now += 1_000;
    const [next] = (await agent.run([], thread)).approvalRequests;
    expect(next?.follows).toBe(request.requestId);
    expect(next?.votes).toBeUndefined();
    if (next === undefined) throw new Error('Nothing was asked.');
    expect((await agent.run(next.approve(), thread, { principal: 'cy' })).status).toBe('waiting');
    expect(ran).toEqual([]);
  });
});
