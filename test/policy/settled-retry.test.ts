import { memoryStore } from 'holdpoint';
import { auditTrail } from 'holdpoint/audit';
import { expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { lostCalls } from '../support/lost-call.ts';

test.each([
  ['a quorum', { quorum: 2 }, 'waiting'],
  ['approvers', { approvers: ['ann'] }, 'waiting'],
  ['a reason', { requireReason: true }, 'waiting'],
  ['nothing', { editable: true }, 'approved'],
] as const)(
  'a lost call whose rule demands %s is approved again by the person who settles it only where that is enough',
  async (_what, terms, status) => {
    const toolApproval = { book: { type: 'user-approval', ...terms } } as const;
    const options = { toolApproval, mayAnswer: () => true };
    const { agent: make } = await lostCalls(['t'], options, memoryStore(), ['ann', 'bob']);
    const { agent, ran } = make();
    const thread = await agent.thread('t');
    expect(thread.calls[0]?.status).toBe('indeterminate');
    await agent.settle(thread, 'c1', { status: 'retry' }, { principal: 'eve' });
    expect(thread.calls[0]?.status).toBe(status);
    await agent.run([], thread);
    expect(ran.length).toBe(status === 'approved' ? 1 : 0);
    const [request] = thread.activeApprovalRequests;
    if (request === undefined) return;
    expect(request).toMatchObject(terms);
    expect(await errorCode(agent.run(request.approve(), thread))).not.toBe('no error');
  },
);

test('a lost call is approved again by nobody whose approval mayAnswer refuses: others are asked', async () => {
  const options = { mayAnswer: ({ principal }: { principal?: unknown }) => principal === 'ann' };
  const { agent: make } = await lostCalls(['t'], options, memoryStore(), ['ann']);
  const { agent, ran } = make();
  const thread = await agent.thread('t');
  await agent.settle(thread, 'c1', { status: 'retry' }, { principal: 'eve' });
  await agent.run([], thread);
  expect(ran).toHaveLength(0);
  const [request] = thread.activeApprovalRequests;
  if (request === undefined) throw new Error('Nobody was asked.');
  expect(await errorCode(agent.run(request.approve(), thread, { principal: 'eve' }))).toBe(
    'not-allowed',
  );
  await agent.run(request.approve(), thread, { principal: 'ann' });
  expect(ran).toHaveLength(1);
});

test('who settles a lost call with retry is named in its approval, and in the audit trail', async () => {
  const { agent: make } = await lostCalls(['t'], { mayAnswer: () => true });
  const { agent } = make();
  const thread = await agent.thread('t');
  await agent.settle(thread, 'c1', { status: 'retry' }, { principal: 'eve', channel: 'inbox' });
  const answered = thread.events.findLast(({ type }) => type === 'request-answered');
  expect(answered).toMatchObject({ principal: 'eve', channel: 'inbox', person: 'eve' });
  const { rows } = await auditTrail(thread);
  const givenUp = rows.find(({ what }) => what === 'attempt given up');
  expect(givenUp).toMatchObject({ who: 'eve', channel: 'inbox' });
});
