import { createAgent, memoryStore, type ToolApprovalStatus } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, travelTools } from '../support/travel-world.ts';
import { askedInOffice, office } from './office.ts';
import { pickCases } from '../support/sampling.ts';

type Ending = NonNullable<Extract<ToolApprovalStatus, { onExpiry?: unknown }>['onExpiry']>;

const endings: [string, Ending, string][] = [
  ['reject', 'reject', 'denied'],
  ['reject with a reason', { type: 'reject', reason: 'Too late.' }, 'denied'],
  ['ask-again', 'ask-again', 'waiting'],
  ['escalate', { type: 'escalate', approvers: ['managers'] }, 'waiting'],
  ['wait', 'wait', 'waiting'],
];

/** Row 60: time decides against a call, or about whom is asked, and never for it. */
describe.each(pickCases(endings))('a deadline with %s', (_name, onExpiry, status) => {
  const limited = {
    type: 'user-approval',
    approvers: ['owners'],
    expiresAfterMs: 1_000,
    onExpiry,
  } as const;

  test.each([1_000, 1_001, 10 ** 9])('approves nothing, %i ms later', async (later) => {
    const { agent, thread, clock, ran } = await askedInOffice(limited);
    clock.now += later;
    await agent.run([], thread);
    expect(thread.calls).toMatchObject([{ status }]);
    for (let times = 0; times < 3; times += 1) {
      clock.now += later;
      await agent.run([], thread);
    }
    expect(ran).toEqual([]);
  });

  test('leaves one request at most, however many workers carry it out at once', async () => {
    const { agent, clock, store, ran, request } = await askedInOffice(limited);
    clock.now += 1_000;
    const threads = await Promise.all(Array.from({ length: 5 }, async () => agent.thread('t')));
    await Promise.allSettled(threads.map(async (thread) => agent.run([], thread)));
    const { events, activeApprovalRequests } = await agent.thread('t');
    const closed = events.filter(({ type }) => type === 'request-closed');
    const opened = events.filter(({ type }) => type === 'request-opened');
    const follows = activeApprovalRequests.map((each) => each.follows ?? each.requestId);
    expect(closed).toHaveLength(onExpiry === 'wait' ? 0 : 1);
    expect(opened).toHaveLength(status === 'denied' || onExpiry === 'wait' ? 1 : 2);
    expect(follows).toEqual(status === 'denied' ? [] : [request.requestId]);
    expect(ran).toEqual([]);
    expect(store).toBeDefined();
  });

  test('is not moved by votes, reminders, reassignments or a clock that jumps back', async () => {
    const { agent, thread, clock, ran, request } = await askedInOffice({
      ...limited,
      quorum: 2,
      remindBeforeMs: 500,
    });
    clock.now += 600;
    await agent.respond(request.approve(), thread, { principal: 'bob' });
    await agent.reassign(thread, request.requestId, 'eve', { principal: 'bob' });
    clock.now -= 5_000;
    await agent.run([], thread);
    clock.now += 5_400;
    const late = await errorCode(agent.run(request.approve(), thread, { principal: 'cy' }));
    expect(late).toBe(onExpiry === 'wait' ? 'no error' : 'request-closed');
    expect(ran).toHaveLength(onExpiry === 'wait' ? 1 : 0);
  });
});

test('an escalated request is for the other approvers alone, and has no approvals yet', async () => {
  const { agent, thread, clock, ran, request } = await askedInOffice({
    type: 'user-approval',
    approvers: ['owners'],
    quorum: 2,
    notRequester: true,
    expiresAfterMs: 1_000,
    onExpiry: { type: 'escalate', approvers: ['managers'] },
  });
  await agent.respond(request.approve(), thread, { principal: 'bob' });
  clock.now += 1_000;
  const [next] = (await agent.run([], thread)).approvalRequests;
  if (next === undefined) throw new Error('Nobody was asked.');
  expect(next).toMatchObject({ approvers: ['managers'], quorum: 2, notRequester: true });
  expect(await errorCode(agent.run(next.approve(), thread, { principal: 'cy' }))).toBe(
    'not-allowed',
  );
  expect((await agent.run(next.approve(), thread, { principal: 'dee' })).status).toBe('waiting');
  expect(ran).toEqual([]);
});

const firstTwoOwners = {
  type: 'user-approval',
  approvers: ['owners'],
  quorum: 2,
  expiresAfterMs: 1_000,
} as const;

test('an escalation to one person needs that person alone, whoever has approved before', async () => {
  const { agent, thread, clock, ran, request } = await askedInOffice({
    ...firstTwoOwners,
    onExpiry: { type: 'escalate', approvers: ['managers'], quorum: 1 },
  });
  await agent.respond(request.approve(), thread, { principal: 'bob' });
  clock.now += 1_000;
  const [next] = (await agent.run([], thread)).approvalRequests;
  if (next === undefined) throw new Error('Nobody was asked.');
  expect(next).toMatchObject({ approvers: ['managers'], follows: request.requestId });
  expect(next).not.toHaveProperty('quorum');
  expect(next).not.toHaveProperty('votes');
  for (const principal of ['bob', 'cy', undefined])
    expect(await errorCode(agent.run(next.approve(), thread, { principal }))).toBe('not-allowed');
  const done = await agent.run(next.approve(), thread, { principal: 'dee' });
  expect(done.status).toBe('completed');
  expect(ran).toHaveLength(1);
});

test('an escalation to more people needs them all, each once, and none of the approvals before', async () => {
  const { agent, thread, clock, ran, request } = await askedInOffice({
    ...firstTwoOwners,
    onExpiry: { type: 'escalate', approvers: ['managers', 'owners'], quorum: 3 },
  });
  await agent.respond(request.approve(), thread, { principal: 'bob' });
  clock.now += 1_000;
  const [next] = (await agent.run([], thread)).approvalRequests;
  if (next === undefined) throw new Error('Nobody was asked.');
  expect(next).toMatchObject({ quorum: 3 });
  expect(next).not.toHaveProperty('votes');
  for (let times = 0; times < 3; times += 1)
    await agent.run(next.approve(), thread, { principal: 'dee' });
  expect(thread.activeApprovalRequests).toMatchObject([{ votes: [{ person: 'dee' }] }]);
  await agent.run(next.approve(), thread, { principal: 'cy' });
  expect(ran).toEqual([]);
  await agent.run(next.approve(), thread, { principal: 'bob' });
  expect(ran).toHaveLength(1);
});

test('an escalated request that too few approve is denied, as any that was escalated', async () => {
  const { agent, thread, clock, ran } = await askedInOffice({
    ...firstTwoOwners,
    onExpiry: { type: 'escalate', approvers: ['owners'], quorum: 3, expiresAfterMs: 1_000 },
  });
  clock.now += 1_000;
  const [next] = (await agent.run([], thread)).approvalRequests;
  if (next === undefined) throw new Error('Nobody was asked.');
  for (const principal of ['bob', 'cy']) await agent.run(next.approve(), thread, { principal });
  clock.now += 1_000;
  await agent.run([], thread);
  expect(thread.calls).toMatchObject([{ status: 'denied' }]);
  expect(ran).toEqual([]);
});

test('what the escalation demands is in the log from the first request on, and restores', async () => {
  const onExpiry = { type: 'escalate', approvers: ['managers'], quorum: 1 } as const;
  const { thread, clock, request } = await askedInOffice({ ...firstTwoOwners, onExpiry });
  expect(request.onExpiry).toEqual(onExpiry);
  clock.now += 1_000;
  const elsewhere = createAgent({
    model: scriptedModel([]).model,
    tools: { book: travelTools([]).book },
    mayAnswer: () => true,
    name: 'office',
    now: () => clock.now,
    store: memoryStore(),
  });
  const restored = await elsewhere.restore(JSON.stringify(thread));
  const [next] = (await elsewhere.run([], restored)).approvalRequests;
  expect(next).toMatchObject({ approvers: ['managers'], follows: request.requestId });
  expect(next).not.toHaveProperty('quorum');
});

test.each([0, -1, 1.5, '2', null])('a rule that escalates to %j people is refused', (quorum) => {
  const onExpiry = { type: 'escalate', approvers: ['managers'], quorum };
  // @ts-expect-error -- what JavaScript may pass
  expect(() => office({ book: { ...firstTwoOwners, onExpiry } })).toThrow(/onExpiry/);
});

test('an approval of the first request is no approval of the one that follows it', async () => {
  const { agent, thread, clock, ran, request } = await askedInOffice({
    type: 'user-approval',
    expiresAfterMs: 1_000,
    onExpiry: 'ask-again',
  });
  clock.now += 1_000;
  const [next] = (await agent.run([], thread)).approvalRequests;
  if (next === undefined) throw new Error('Nobody was asked.');
  const old = { ...request.approve(), requestId: next.requestId };
  expect(await errorCode(agent.run(old, thread))).toBe('answer-mismatch');
  expect(ran).toEqual([]);
});

/** Row 61: a thread that waits for a person is not a thread that is stuck. */
test('a request without a deadline waits as long as it takes', async () => {
  const { agent, thread, clock, ran, request } = await askedInOffice('user-approval', [
    [book('c1', 'Paris')],
  ]);
  clock.now += 10 ** 12;
  expect((await agent.run([], thread)).status).toBe('waiting');
  expect((await agent.run(request.approve(), thread)).status).toBe('completed');
  expect(ran).toHaveLength(1);
});
