import { type AgentOptions, HoldpointError, memoryStore, type SettingFailure } from 'holdpoint';
import { createCustomAgent } from 'holdpoint/custom-agent';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { lostCalls } from '../support/lost-call.ts';
import { book, memoryWorld, travelTools } from '../support/travel-world.ts';
import { answeredBy, office } from './office.ts';
import { pickCases } from '../support/sampling.ts';

const owners = { type: 'user-approval', approvers: ['owners'] } as const;
const notMe = { type: 'user-approval', notRequester: true } as const;
const escalated = {
  type: 'user-approval',
  expiresAfterMs: 1_000,
  onExpiry: { type: 'escalate', approvers: ['managers'] },
} as const;

beforeEach(() => {
  vi.spyOn(console, 'warn').mockReturnValue();
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** An office without a `mayAnswer`. */
function openOffice(options: Partial<AgentOptions>) {
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Not booked.' }]);
  const agent = world.agent(options);
  const failures: SettingFailure[] = [];
  agent.on('setting-failed', (failure) => failures.push(failure));
  return { world, agent, failures };
}

describe('a call about which nobody could answer fails when it is decided on, and the rule is reported', () => {
  const requesters = [undefined, null, '', ' '];

  test.each([
    ['for the tool', owners, { book: () => owners }, 'toolApproval.book'],
    ['for all tools', owners, () => owners, 'toolApproval'],
    ['by escalating', escalated, { book: () => escalated }, 'toolApproval.book'],
  ])('a rule %s names approvers', async (_how, _status, toolApproval, setting) => {
    const { world, agent, failures } = openOffice({ toolApproval });
    const thread = await agent.thread('t');
    const response = await agent.run('Book', thread, { principal: 'ann' });
    expect(response).toMatchObject({ status: 'completed', approvalRequests: [] });
    expect(world.ran).toEqual([]);
    const error = expect.stringContaining('no mayAnswer');
    expect(thread.calls).toMatchObject([{ outcome: { status: 'failed', error } }]);
    expect(JSON.stringify(world.played.prompts[1])).toContain('no mayAnswer');
    expect(failures).toMatchObject([
      { threadId: 't', setting, kind: 'unanswerable', toolCall: { toolCallId: 'c1' } },
    ]);
    expect(String(vi.mocked(console.warn).mock.calls)).toContain('no mayAnswer');
  });

  test.each(pickCases(requesters, 3))('the requester is excluded, and is %j', async (principal) => {
    const { world, agent, failures } = openOffice({ toolApproval: { book: notMe } });
    const thread = await agent.thread('t');
    const response = await agent.run('Book', thread, principal === undefined ? {} : { principal });
    expect(response).toMatchObject({ status: 'completed', approvalRequests: [] });
    expect(thread.calls).toMatchObject([{ status: 'failed' }]);
    expect(failures).toMatchObject([{ setting: 'toolApproval.book', kind: 'unanswerable' }]);
    expect(world.ran).toEqual([]);
  });
});

test('a rule that escalates to approvers needs a mayAnswer when the agent is made', () => {
  expect(() => openOffice({ toolApproval: { book: escalated } })).toThrow(/mayAnswer/);
});

test('where somebody is known, and somebody says who approvers are, people are asked', async () => {
  const { agent } = office({ book: { ...owners, ...notMe } });
  const { approvalRequests } = await agent.run('Book', await agent.thread('t'), {
    principal: 'ann',
  });
  expect(approvalRequests).toMatchObject([{ approvers: ['owners'], notRequester: true }]);
});

test("the app's own request is refused if nobody could answer it", async () => {
  const { agent } = openOffice({});
  const thread = await agent.thread('t');
  const { type: _type, ...asked } = escalated;
  for (const more of [{ approvers: ['owners'] }, { notRequester: true }, asked]) {
    const request = { text: 'Publish?', ...more };
    expect(await errorCode(agent.requestApproval(thread, request))).toBe('invalid-input');
  }
  expect(thread.revision).toBe(0);
});

test('so is the request of a custom agent: its run fails and says why', async () => {
  const agent = createCustomAgent({
    step: () => ({
      requests: { publish: { type: 'approval-request', text: 'Publish?', approvers: ['owners'] } },
    }),
    store: memoryStore(),
  });
  const run = agent.run('Publish', await agent.thread('t'));
  await expect(run).rejects.toThrow(/no mayAnswer/);
  expect(HoldpointError.isInstance(await run.catch((error: unknown) => error))).toBe(true);
});

/** Another version of the office's app, without a `mayAnswer`. */
function forgetfulAgent(at: ReturnType<typeof office>, options: Partial<AgentOptions> = {}) {
  const world = memoryWorld([{ text: 'Not booked.' }]);
  const now = () => at.clock.now;
  const agent = world.agent({ name: 'office', toolApproval: {}, store: at.store, now, ...options });
  const failures: SettingFailure[] = [];
  agent.on('setting-failed', (failure) => failures.push(failure));
  return { ran: world.ran, agent, failures };
}

describe('a request that nobody could answer if it were asked again', () => {
  test.each([
    ['is escalated', { ...escalated, approvers: ['owners'] }],
    ['is repeated', { ...owners, expiresAfterMs: 1_000, onExpiry: 'ask-again' }],
    ['is repeated', { ...notMe, expiresAfterMs: 1_000, onExpiry: 'ask-again' }],
  ] as const)('denies its call when it %s, and only then', async (_how, status) => {
    const at = office({ book: status });
    const asked = await at.agent.run('Book', await at.agent.thread('t'), { principal: 'ann' });
    expect(asked.approvalRequests).toHaveLength(1);
    at.clock.now += 1_000;
    const { agent, failures, ran } = forgetfulAgent(at);
    const thread = await agent.thread('t');
    const isKnown = !('approvers' in status);
    await agent.run([], thread);
    expect(thread.activeRequests).toHaveLength(isKnown ? 1 : 0);
    expect(thread.calls).toMatchObject([{ status: isKnown ? 'waiting' : 'denied' }]);
    const reported = { setting: 'toolApproval.book', kind: 'unanswerable' };
    expect(failures).toMatchObject(isKnown ? [] : [reported]);
    expect(ran).toEqual([]);
  });

  test('fails its call when the tool has changed since', async () => {
    const at = office({ book: owners });
    const thread = await at.agent.thread('t');
    const { approvalRequests } = await at.agent.run('Book', thread, { principal: 'ann' });
    const answers = approvalRequests.map((request) => request.approve());
    await at.agent.respond(answers, thread, { principal: 'bob' });
    const tools = travelTools([]);
    Object.assign(tools.book, { description: 'Books two flights.' });
    const { agent, failures } = forgetfulAgent(at, { tools });
    const same = await agent.thread('t');
    await agent.run([], same);
    expect(same.calls).toMatchObject([{ status: 'failed' }]);
    expect(same.activeRequests).toEqual([]);
    expect(failures).toMatchObject([{ setting: 'toolApproval.book', kind: 'unanswerable' }]);
  });

  test('fails its call when an edit needs the approval of nobody', async () => {
    const { world, agent, failures } = openOffice({
      toolApproval: {
        book: ({ city }: { city: string }) =>
          city === 'Rome' ? owners : { type: 'user-approval', editable: true },
      },
    });
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Book', thread, { principal: 'ann' });
    const answers = approvalRequests.map((request) => request.approve({ input: { city: 'Rome' } }));
    await agent.run(answers, thread, { principal: 'bob' });
    expect(thread.calls).toMatchObject([{ status: 'failed' }]);
    expect(thread.activeRequests).toEqual([]);
    expect(failures).toMatchObject([{ setting: 'toolApproval.book', kind: 'unanswerable' }]);
    expect(world.ran).toEqual([]);
  });

  test('is refused when a lost call would be retried, which stays as it is', async () => {
    const toolApproval = { book: owners };
    const mayAnswer = answeredBy({ owners: ['bob'] });
    const lost = await lostCalls(['t'], { toolApproval, mayAnswer }, memoryStore(), ['bob']);
    const { agent } = lost.agent({ toolApproval: {}, mayAnswer: undefined });
    const thread = await agent.thread('t');
    const settled = agent.settle(thread, 'c1', { status: 'retry' }, { principal: 'bob' });
    expect(await errorCode(settled)).toBe('invalid-input');
    expect(thread.calls).toMatchObject([{ status: 'indeterminate' }]);
  });
});
