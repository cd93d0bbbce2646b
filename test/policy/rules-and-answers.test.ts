import type { MayAnswer, UserApproval } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book, memoryWorld } from '../support/travel-world.ts';

const script = [{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }];
const teams: Record<string, string[]> = { owners: ['ann', 'bob', 'cy'], managers: ['dee'] };
const mayAnswer: MayAnswer = ({ principal, request }) =>
  request.type !== 'approval-request' ||
  (request.approvers ?? []).some(
    (name) => name === principal || teams[name]?.includes(String(principal)) === true,
  );

/** A thread of ann's that waits for an approval on these terms. */
async function asked(status: UserApproval, options: { now?: () => number } = {}) {
  const world = memoryWorld(script);
  const agent = world.agent({ toolApproval: { book: status }, mayAnswer, ...options });
  const thread = await agent.thread('t');
  const { approvalRequests } = await agent.run('Book', thread, { principal: 'ann' });
  const [request] = approvalRequests;
  if (request === undefined) throw new Error('Nothing was asked.');
  return { world, agent, thread, request };
}

describe('a quorum of two owners, without the requester,', () => {
  const terms = {
    type: 'user-approval',
    approvers: ['owners'],
    notRequester: true,
    quorum: 2,
  } as const;

  test('runs the call when two of them have approved it, and shows the first vote meanwhile', async () => {
    const { world, agent, thread, request } = await asked(terms);
    expect(await errorCode(agent.run(request.approve(), thread, { principal: 'ann' }))).toBe(
      'not-allowed',
    );
    expect(await errorCode(agent.run(request.approve(), thread, { principal: 'dee' }))).toBe(
      'not-allowed',
    );
    expect(await errorCode(agent.run(request.approve(), thread))).toBe('not-allowed');
    const first = await agent.run(request.approve(), thread, { principal: 'bob', channel: 'web' });
    expect(first.status).toBe('waiting');
    expect(first.approvalRequests[0]?.votes).toMatchObject([{ person: 'bob', channel: 'web' }]);
    const again = await agent.run(request.approve(), thread, { principal: 'bob' });
    expect(again.status).toBe('waiting');
    expect(world.ran).toEqual([]);
    const second = await agent.run(request.approve(), thread, { principal: 'cy' });
    expect(second.status).toBe('completed');
    expect(world.ran.length).toBe(1);
  });

  test('is ended by one rejection', async () => {
    const { world, agent, thread, request } = await asked(terms);
    await agent.run(request.approve(), thread, { principal: 'bob' });
    const ended = await agent.run(request.reject('no'), thread, { principal: 'cy' });
    expect(ended.status).toBe('completed');
    expect(world.ran).toEqual([]);
  });

  test('counts a vote no more that was withdrawn, and one vote for two people of whom one was asked by the other', async () => {
    const { world, agent, thread, request } = await asked(terms);
    await agent.respond(request.approve(), thread, { principal: 'bob' });
    await agent.withdraw(thread, request.requestId, { principal: 'bob' });
    await agent.respond(request.approve(), thread, { principal: 'cy' });
    expect(thread.activeApprovalRequests[0]?.votes?.map(({ person }) => person)).toEqual(['cy']);
    await agent.reassign(thread, request.requestId, 'eve', { principal: 'cy' });
    await agent.respond(request.approve(), thread, { principal: 'eve' });
    expect(thread.activeApprovalRequests[0]?.votes).toMatchObject([
      { person: 'eve', onBehalfOf: 'cy' },
    ]);
    await agent.run(request.approve(), thread, { principal: 'bob' });
    expect(world.ran.length).toBe(1);
    expect(thread.calls[0]?.status).toBe('succeeded');
  });

  test('asks for a new approval of an edited input, from both', async () => {
    const { world, agent, thread, request } = await asked({ ...terms, editable: ['price'] });
    await agent.respond(request.approve(), thread, { principal: 'bob' });
    await agent.respond(request.approve({ input: { city: 'Paris', price: 9 } }), thread, {
      principal: 'cy',
    });
    const edited = thread.activeApprovalRequests[0];
    expect(edited?.votes?.map(({ person }) => person)).toEqual(['cy']);
    expect(edited?.edit?.patches).toEqual([{ op: 'add', path: ['price'], value: 9 }]);
    expect(await errorCode(agent.respond(request.approve(), thread, { principal: 'bob' }))).toBe(
      'answer-mismatch',
    );
    if (edited === undefined) throw new Error('It was closed.');
    await agent.run(edited.approve(), thread, { principal: 'bob' });
    expect(world.ran).toMatchObject([{ input: { city: 'Paris', price: 9 } }]);
  });
});

describe('an edit', () => {
  test('runs exactly, is recorded with its patches, and the model learns of it', async () => {
    const { world, agent, thread, request } = await asked({
      type: 'user-approval',
      editable: true,
      approvers: ['owners'],
    });
    const answer = request.approve({
      edit: (draft: { city: string }) => void (draft.city = 'Rome'),
    });
    const { status } = await agent.run(answer, thread, { principal: 'bob' });
    expect(status).toBe('completed');
    expect(world.ran).toMatchObject([{ input: { city: 'Rome' } }]);
    expect(thread.calls[0]).toMatchObject({
      input: { city: 'Rome' },
      edit: {
        original: { city: 'Paris' },
        patches: [{ op: 'replace', path: ['city'], value: 'Rome' }],
        person: 'bob',
      },
    });
    expect(JSON.stringify(thread.messages.at(-2))).toContain('edited the input');
    const opened = await world.agent({ store: undefined }).restore(JSON.stringify(thread));
    expect(opened.calls).toEqual(thread.calls);
    /* The same answer again changes nothing. */
    expect((await agent.run(answer, thread, { principal: 'bob' })).status).toBe('completed');
    expect(world.ran.length).toBe(1);
  });

  test.each<[string, UserApproval, unknown]>([
    ['what is not editable', { type: 'user-approval' }, { city: 'Rome' }],
    ['another field', { type: 'user-approval', editable: ['price'] }, { city: 'Rome' }],
    ['against the schema', { type: 'user-approval', editable: true }, { city: 7 }],
    [
      'with a field the schema drops',
      { type: 'user-approval', editable: true },
      { city: 'Rome', x: 1 },
    ],
    ['the whole input', { type: 'user-approval', editable: ['city'] }, 'Rome'],
  ])('of %s is refused and changes nothing', async (_what, status, input) => {
    const { world, agent, thread, request } = await asked({ ...status, approvers: ['owners'] });
    const { revision } = thread;
    const answer = { ...request.approve(), input };
    expect(await errorCode(agent.run(answer, thread, { principal: 'bob' }))).toBe('invalid-answer');
    expect(thread.revision).toBe(revision);
    expect(world.ran).toEqual([]);
  });
});

describe('a standing approval of the thread', () => {
  const twice = [
    { calls: [book('c1', 'Paris')] },
    { calls: [book('c2', 'Paris'), book('c3', 'Rome')] },
    { text: 'Done.' },
  ];

  test('decides the same input, with a pointer to its request, and asks about another', async () => {
    const world = memoryWorld(twice);
    const agent = world.agent({
      toolApproval: { book: { type: 'user-approval', remember: { uses: 3 } } },
    });
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Book', thread);
    const answers = approvalRequests.map((request) => request.approve({ remember: true }));
    const next = await agent.run(answers, thread, { principal: 'ann' });
    expect(next.approvalRequests.map(({ toolCall }) => toolCall?.toolCallId)).toEqual(['c3']);
    expect(world.ran.map(({ input }) => input)).toEqual([{ city: 'Paris' }, { city: 'Paris' }]);
    const used = thread.events.find(({ type }) => type === 'grant-used');
    expect(used).toMatchObject({ requestId: approvalRequests[0]?.requestId, step: 1, index: 0 });
    const [grant] = thread.grants;
    if (grant === undefined) throw new Error('No grant.');
    await agent.revoke(grant, { principal: 'ann' });
    expect(await agent.grants(thread)).toEqual([]);
    expect(await errorCode(agent.revoke(grant))).toBe('not-found');
  });

  test.each([
    ['everyone', { remember: { scope: 'everyone' } }],
    ['any input', { remember: { match: 'any' } }],
    ['more uses', { remember: { uses: 9 } }],
  ] as const)('wider than the rule allows (%s) is refused', async (_what, options) => {
    const { agent, thread, request } = await asked({
      type: 'user-approval',
      remember: { uses: 3 },
      approvers: ['owners'],
    });
    expect(await errorCode(agent.run(request.approve(options), thread, { principal: 'bob' }))).toBe(
      'invalid-answer',
    );
  });
});

describe('a deadline', () => {
  test('escalates to other approvers, once, and reminds before', async () => {
    let now = 1_000_000;
    const { world, agent, thread, request } = await asked(
      {
        type: 'user-approval',
        approvers: ['owners'],
        expiresAfterMs: 1_000,
        remindBeforeMs: 200,
        onExpiry: { type: 'escalate', approvers: ['managers'] },
      },
      { now: () => now },
    );
    expect(thread.nextDeadline).toBe(now + 800);
    now += 800;
    await agent.run([], thread, { onlyWhenDue: true });
    expect(thread.events.at(-1)).toMatchObject({ type: 'request-reminded' });
    now += 200;
    const escalated = await agent.run([], thread, { onlyWhenDue: true });
    const [next] = escalated.approvalRequests;
    expect(next).toMatchObject({ approvers: ['managers'], follows: request.requestId });
    expect(await errorCode(agent.run(request.approve(), thread, { principal: 'bob' }))).toBe(
      'request-closed',
    );
    if (next === undefined) throw new Error('Nobody was asked.');
    await agent.run(next.approve(), thread, { principal: 'dee' });
    expect(world.ran.length).toBe(1);
  });
});

/** Options that the types don't allow. */
function withRule(rule: object): object {
  return { toolApproval: { book: rule } };
}

test('a rule that names approvers needs a mayAnswer, and an invalid one is refused when the agent is made', () => {
  const world = memoryWorld(script);
  const status = { type: 'user-approval', approvers: ['owners'] } as const;
  expect(() => world.agent({ toolApproval: { book: status } })).toThrow(/mayAnswer/);
  /* A list that was meant to be read from somewhere. */
  const unset: object = { type: 'user-approval', approvers: undefined };
  expect(() => world.agent({ ...withRule(unset) })).toThrow(/mayAnswer/);
  const misspelt: object = { type: 'user-approval', approver: ['owners'] };
  expect(() => world.agent({ ...withRule(misspelt) })).toThrow(/approver/);
});
