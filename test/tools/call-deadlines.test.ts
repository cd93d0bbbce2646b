import { tool } from 'ai';
import { createAgent, laterWithin, type ToolRunOptions } from 'holdpoint';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { childOf, desk, requestIn } from './payment-desk.ts';

const minute = 60_000;

test('Ada approves ten seconds after the deadline of an agent tool: nothing is recorded, and nothing runs', async () => {
  const at = await desk({ expiresAfterMs: minute }, 'user-approval');
  const { clerk, thread, clock } = at;
  const request = requestIn(thread);
  expect(request.expiresAt).toBe(clock.now + minute);
  const below = requestIn(await childOf(at));
  clock.now += minute + 10_000;
  const { revision } = thread;
  const late = clerk.run(request.approve(), thread, { principal: 'Ada' });
  expect(await errorCode(late)).toBe('request-closed');
  expect(await errorCode(clerk.respond(request.approve(), thread, { principal: 'Ada' }))).toBe(
    'request-closed',
  );
  const vote = clerk.withdraw(thread, request.requestId, { principal: 'Ada' });
  expect(await errorCode(vote)).toBe('request-closed');
  expect(thread.revision).toBe(revision);
  await clerk.run([], thread);
  expect(thread.decisions).toMatchObject([{ status: 'expired' }]);
  expect(thread.calls).toMatchObject([{ status: 'failed' }]);
  const child = await childOf(at);
  expect(child.decisions).toMatchObject([
    { status: 'cancelled', request: { requestId: below.requestId } },
  ]);
  await at.payer.run([], child);
  expect(child.status).toBe('idle');
  expect(at.paid).toEqual([]);
});

test('the earlier of two deadlines counts: that of the rule, or that of the agent tool', async () => {
  const rule = { type: 'user-approval', expiresAfterMs: minute } as const;
  const early = await desk({ expiresAfterMs: 2 * minute }, rule);
  expect(requestIn(early.thread).expiresAt).toBe(early.clock.now + minute);
  const late = await desk({ expiresAfterMs: minute / 2 }, rule);
  expect(requestIn(late.thread).expiresAt).toBe(late.clock.now + minute / 2);
  const yes = requestIn(late.thread).approve();
  await late.clerk.run(yes, late.thread, { principal: 'Ada' });
  expect(late.paid).toHaveLength(1);
});

test.each(['ask-again', { type: 'escalate', approvers: ['managers'] }] as const)(
  'where the call ends before the rule would %j, nobody is told that this happens, and it does not',
  async (onExpiry) => {
    const people = { mayAnswer: () => true };
    const rule = { type: 'user-approval', expiresAfterMs: 2 * minute, onExpiry } as const;
    const early = await desk({ expiresAfterMs: minute, clerk: people, payer: people }, rule);
    const { clerk, thread, clock } = early;
    expect(requestIn(thread)).toMatchObject({ expiresAt: clock.now + minute });
    expect(requestIn(thread).onExpiry).toBeUndefined();
    clock.now += minute;
    await clerk.run([], thread);
    expect(thread.activeRequests).toEqual([]);
    expect(thread.calls).toMatchObject([{ status: 'failed' }]);
    const late = await desk({ expiresAfterMs: 3 * minute, clerk: people, payer: people }, rule);
    expect(requestIn(late.thread).onExpiry).toMatchObject(
      Object(requestIn(await childOf(late)).onExpiry),
    );
    late.clock.now += 2 * minute;
    await late.clerk.run([], late.thread);
    await late.clerk.run(requestIn(late.thread).approve(), late.thread, { principal: 'Ada' });
    expect(late.paid).toHaveLength(1);
  },
);

const hour = 60 * minute;
const day = 24 * hour;

test('a yes in time is a yes for the sub-agent too, however late the worker, for as long as above and below say', async () => {
  const rule = { type: 'user-approval', expiresAfterMs: minute } as const;
  for (const [later, count] of [
    [day - 1, 1],
    [day, 0],
  ] as const) {
    const at = await desk({}, rule);
    const { clerk, thread, clock, paid } = at;
    clock.now += minute - 1;
    await clerk.respond(requestIn(thread).approve(), thread, { principal: 'Ada' });
    clock.now += later;
    await clerk.run([], thread);
    expect(paid).toHaveLength(count);
    if (count === 1) continue;
    const below = requestIn(await childOf(at));
    expect(requestIn(thread)).toMatchObject({ requestId: below.requestId });
    await clerk.run(requestIn(thread).approve(), thread, { principal: 'Ada' });
    expect(paid).toHaveLength(1);
  }
});

test('where the call ends before the answer is due, people above read how long the sub-agent may take to start', async () => {
  const at = await desk(
    { expiresAfterMs: hour },
    { type: 'user-approval', expiresAfterMs: 3 * day },
  );
  expect(requestIn(at.thread)).toMatchObject({
    expiresAt: at.clock.now + hour,
    startWithinMs: 3 * day,
  });
  await at.clerk.run(requestIn(at.thread).approve(), at.thread, { principal: 'Ada' });
  expect(at.paid).toHaveLength(1);
});

test('a yes that the sub-agent recorded in time runs, also if the process died before the thread above showed it', async () => {
  const rule = { type: 'user-approval', expiresAfterMs: minute } as const;
  const at = await desk({}, rule);
  const { clerk, thread, clock, paid, dying } = at;
  dying.threadId = thread.id;
  const yes = requestIn(thread).approve();
  await expect(clerk.respond(yes, thread, { principal: 'Ada' })).rejects.toThrow('died');
  dying.threadId = '';
  clock.now += hour;
  await clerk.run([], thread);
  await clerk.run([], thread);
  expect(paid).toHaveLength(1);
  expect(thread.decisions).toMatchObject([{ status: 'approved' }]);
});

test('through three levels, people see the earliest deadline', async () => {
  const at = await desk({ expiresAfterMs: minute }, 'user-approval');
  const clerk = at.delegating('clerk', at.newPayer());
  const boss = at.delegating('boss', clerk);
  const thread = await boss.thread('boss');
  await boss.run('Pay.', thread);
  at.clock.now += minute / 2;
  expect(requestIn(thread).expiresAt).toBe(at.clock.now + minute / 2);
  at.clock.now += minute / 2;
  const late = boss.run(requestIn(thread).approve(), thread, { principal: 'Ada' });
  expect(await errorCode(late)).toBe('request-closed');
  await boss.run([], thread);
  expect(at.paid).toEqual([]);
});

test('the deadline is in the log when the call starts, counted by a clock that was set back later', async () => {
  const at = await desk({ expiresAfterMs: minute }, 'user-approval');
  const { clerk, thread, clock } = at;
  const started = thread.events.find(({ type }) => type === 'call-started');
  expect(started).toMatchObject({ expiresAt: clock.now + minute });
  clock.now -= minute;
  await clerk.run([], thread);
  expect(thread.calls).toMatchObject([{ expiresAt: clock.now + 2 * minute }]);
  expect(requestIn(thread).expiresAt).toBe(clock.now + 2 * minute);
});

test('a question that was asked before its call was deferred ends with the call', async () => {
  const clock = { now: 1_800_000_000_000 };
  const book = tool({
    inputSchema: z.object({}),
    execute: async (_input, { toolCallId, threadId }: ToolRunOptions) => {
      const options = ['Window', 'Aisle'].map((label) => ({ id: label, label }));
      const field = { key: 'seat', label: 'Seat', options, min: 1, max: 1 };
      const fields = [{ ...field, freeText: 'never' as const }];
      const question = { kind: 'choice' as const, text: 'Seat?', fields, allowDismiss: false };
      await agent.requestAnswer(await agent.thread(threadId ?? ''), toolCallId, question);
      return laterWithin(minute);
    },
  });
  const { model } = scriptedModel([
    { calls: [{ id: 'c1', name: 'book', input: {} }] },
    { text: 'Too late.' },
  ]);
  const agent = createAgent({ model, tools: { book }, now: () => clock.now });
  const thread = await agent.thread('t');
  await agent.run('Book', thread);
  const [question] = thread.activeRequests;
  if (question?.type !== 'question-request') throw new Error('Nothing was asked.');
  clock.now += minute;
  const answer = {
    type: 'question-response' as const,
    requestId: question.requestId,
    status: 'answered' as const,
    answers: [{ key: 'seat', optionIds: ['Aisle'] }],
  };
  expect(await errorCode(agent.respond(answer, thread))).toBe('request-closed');
  await agent.run([], thread);
  expect(thread.calls).toMatchObject([{ status: 'failed' }]);
});
