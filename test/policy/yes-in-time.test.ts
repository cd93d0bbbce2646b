import type { AgentThread, ApprovalRequestContent, ToolApprovalStatus } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { makeRequestCard, renderCardLines } from '../../src/view/request-card.ts';
import { errorCode } from '../support/error-code.ts';
import { askedInOffice, office } from './office.ts';
import { pickCases } from '../support/sampling.ts';

type Demand = Extract<ToolApprovalStatus, { onExpiry?: unknown }>;

const hour = 3_600_000;
const day = 24 * hour;
const minute = 60_000;

function onlyOpen({ activeApprovalRequests }: AgentThread): ApprovalRequestContent {
  const [request, ...others] = activeApprovalRequests;
  expect(others).toEqual([]);
  if (request === undefined) throw new Error('Nothing is asked.');
  return request;
}

/** An approval that bob gives a minute after he was asked, when no worker is about. */
async function approvedInTime(rule: Omit<Demand, 'type'>) {
  const at = await askedInOffice({ type: 'user-approval', ...rule });
  at.clock.now += minute;
  await at.agent.respond(at.request.approve(), at.thread, { principal: 'bob' });
  const decidedAt = at.clock.now;
  /** A worker comes this long after the decision. */
  const workAfter = async (milliseconds: number) => {
    at.clock.now = decidedAt + milliseconds;
    return at.agent.run([], at.thread);
  };
  return { ...at, decidedAt, workAfter };
}

const endings: [string, Demand['onExpiry']][] = [
  ['is denied', 'reject'],
  ['is asked again', 'ask-again'],
  ['is escalated', { type: 'escalate', approvers: ['managers'] }],
];

describe.each(pickCases(endings))('where an unanswered request %s', (_name, onExpiry) => {
  const limited = { approvers: ['owners'], expiresAfterMs: 2 * minute, onExpiry };

  test.each([minute, 5 * hour, day - 1])('a yes in time runs %i ms later', async (later) => {
    const { workAfter, thread, ran } = await approvedInTime(limited);
    expect(await workAfter(later)).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(ran).toHaveLength(1);
    expect(thread.decisions).toMatchObject([{ status: 'approved' }]);
  });

  test('a yes that starts nothing for a day is asked again, of the same people, without their votes', async () => {
    const { workAfter, agent, thread, ran, request, clock } = await approvedInTime(limited);
    expect(await workAfter(day)).toMatchObject({ status: 'waiting' });
    expect(thread.decisions).toMatchObject([{ status: 'invalidated' }]);
    const again = onlyOpen(thread);
    expect(again).toMatchObject({ approvers: ['owners'], expiresAt: clock.now + 2 * minute });
    expect(again.requestId).not.toBe(request.requestId);
    expect(await errorCode(agent.run(request.approve(), thread, { principal: 'bob' }))).toBe(
      'request-closed',
    );
    expect(ran).toEqual([]);
    await agent.run(again.approve(), thread, { principal: 'bob' });
    expect(ran).toHaveLength(1);
  });

  test('a yes after the deadline runs nothing', async () => {
    const { agent, thread, clock, ran, request } = await askedInOffice({
      type: 'user-approval',
      ...limited,
    });
    clock.now += 2 * minute;
    const late = agent.respond(request.approve(), thread, { principal: 'bob' });
    expect(await errorCode(late)).toBe('request-closed');
    await agent.run([], thread);
    expect(ran).toEqual([]);
  });
});

test.each([
  ['without a deadline, a day', {}, day],
  ['with a reminder alone, a day', { expiresAfterMs: minute, onExpiry: 'wait' }, day],
  ['with an hour to answer, a day', { expiresAfterMs: hour }, day],
  ['with three days to answer, three days', { expiresAfterMs: 3 * day }, 3 * day],
  ['with a setting of its own, that', { expiresAfterMs: hour, startWithinMs: minute }, minute],
  ['with a longer setting, that', { startWithinMs: 9 * day }, 9 * day],
] satisfies [string, Omit<Demand, 'type'>, number][])(
  'a call may start so long after the decision: %s',
  async (_name, rule, bound) => {
    const early = await approvedInTime(rule);
    await early.workAfter(bound - 1);
    expect(early.ran).toHaveLength(1);
    const late = await approvedInTime(rule);
    await late.workAfter(bound);
    expect(late.ran).toEqual([]);
    expect(onlyOpen(late.thread).votes).toBeUndefined();
  },
);

test('of a quorum, the vote that completes it has to be in time, and the start is counted from it', async () => {
  const rule = { type: 'user-approval', quorum: 2, expiresAfterMs: hour } as const;
  const late = await askedInOffice(rule);
  await late.agent.respond(late.request.approve(), late.thread, { principal: 'bob' });
  late.clock.now += hour;
  const second = late.agent.respond(late.request.approve(), late.thread, { principal: 'cy' });
  expect(await errorCode(second)).toBe('request-closed');
  await late.agent.run([], late.thread);
  expect(late.thread.calls).toMatchObject([{ status: 'denied' }]);
  const { agent, thread, clock, request, ran } = await askedInOffice(rule);
  await agent.respond(request.approve(), thread, { principal: 'bob' });
  clock.now += hour - 1;
  await agent.respond(request.approve(), thread, { principal: 'cy' });
  clock.now += day - 1;
  await agent.run([], thread);
  expect(ran).toHaveLength(1);
});

test('the setting is shown with the request, and kept by the requests that follow', async () => {
  const { agent, thread, clock, request } = await askedInOffice({
    type: 'user-approval',
    expiresAfterMs: hour,
    startWithinMs: 2 * hour,
    onExpiry: 'ask-again',
  });
  expect(request.startWithinMs).toBe(2 * hour);
  expect(renderCardLines(makeRequestCard(request))).toContain(
    'Starts: within 2 h of the approval, or it is asked again',
  );
  clock.now += hour;
  await agent.run([], thread);
  const next = onlyOpen(thread);
  expect(next).toMatchObject({ follows: request.requestId, startWithinMs: 2 * hour });
  await agent.respond(next.approve(), thread, { principal: 'bob' });
  clock.now += 2 * hour;
  await agent.run([], thread);
  expect(onlyOpen(thread)).toMatchObject({ startWithinMs: 2 * hour });
});

test.each([0, -1, Infinity, Number.NaN])('%s is no time to start within', async (startWithinMs) => {
  const asking = askedInOffice({ type: 'user-approval', startWithinMs });
  await expect(asking).rejects.toThrow('startWithinMs');
});

test('an edited call is asked about again as it was edited', async () => {
  const at = await askedInOffice({ type: 'user-approval', editable: true, expiresAfterMs: hour });
  const { agent, thread, clock, request, ran } = at;
  const input = { city: 'Rome' };
  await agent.respond(request.approve({ input }), thread, { principal: 'bob' });
  clock.now += day;
  await agent.run([], thread);
  const again = onlyOpen(thread);
  expect(again.toolCall).toMatchObject({ input });
  await agent.run(again.approve(), thread, { principal: 'cy' });
  expect(ran).toMatchObject([{ input }]);
});

test('an edit to an input for which the rule leaves less time to start is asked about on those terms', async () => {
  const rule = ({ city }: { city: string }) => ({
    type: 'user-approval' as const,
    editable: true,
    startWithinMs: city === 'Rome' ? minute : hour,
  });
  const { agent, clock } = office({ book: rule });
  const thread = await agent.thread('t');
  await agent.run('Book', thread, { principal: 'ann' });
  const input = { city: 'Rome' };
  await agent.run(onlyOpen(thread).approve({ input }), thread, { principal: 'bob' });
  const again = onlyOpen(thread);
  expect(again).toMatchObject({ startWithinMs: minute, toolCall: { input } });
  await agent.respond(again.approve(), thread, { principal: 'bob' });
  clock.now += minute;
  await agent.run([], thread);
  expect(onlyOpen(thread)).toMatchObject({ startWithinMs: minute });
});

test('a clock that is set back gives nobody more time than the log has', async () => {
  const at = await askedInOffice({ type: 'user-approval', expiresAfterMs: hour });
  const { agent, thread, clock, request, ran } = at;
  clock.now += hour;
  await agent.requestApproval(thread, { text: 'Something else?' });
  clock.now -= hour / 2;
  const late = agent.run(request.approve(), thread, { principal: 'bob' });
  expect(await errorCode(late)).toBe('request-closed');
  expect(ran).toEqual([]);
});
