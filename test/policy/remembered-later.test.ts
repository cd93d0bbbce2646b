import { tool } from 'ai';
import { createAgent, type MayAnswer, memoryStore } from 'holdpoint';
import { agentTool } from 'holdpoint/tools';
import { scriptedModel } from 'holdpoint/testing';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { AgentOffice, ask, pay as payCall } from '../support/agent-office.ts';
import { errorCode } from '../support/error-code.ts';
import { pickCases } from '../support/sampling.ts';

const input = { to: 'ACME', euros: 80 };
const payment = (id: string, more: object = {}) => ({
  calls: [{ id, name: 'pay', input: { ...input, ...more } }],
});
const widest = { scope: 'everyone' as const, match: ['to'] };
const twice = { ...widest, uses: 2 };

/** How Ada approves. */
interface Answer {
  reason?: string;
  input?: { to: string; euros: number };
  remember?: true;
}

interface Settings {
  rule?: object;
  mayAnswer?: MayAnswer;
  description?: string;
  store?: ReturnType<typeof memoryStore>;
}

/** An agent that pays ACME four times, asking each time, and the payments that it made. */
function makeOffice({
  rule = {},
  mayAnswer,
  description = 'Pays.',
  store = memoryStore(),
}: Settings = {}) {
  const paid: unknown[] = [];
  const { model } = scriptedModel([
    payment('c1'),
    { text: 'Paid.' },
    payment('c2', { euros: 90 }),
    { text: 'Paid.' },
    payment('c3', { euros: 95 }),
    { text: 'Paid.' },
    payment('c4', { euros: 99 }),
    { text: 'Paid.' },
  ]);
  const pay = tool({
    description,
    inputSchema: z.object({ to: z.string(), euros: z.number() }),
    execute: async (given) => {
      paid.push(given);
      return 'Paid.';
    },
  });
  const agent = createAgent({
    name: 'office',
    model,
    store,
    tools: { pay },
    toolApproval: {
      pay: { type: 'user-approval', remember: { scope: 'everyone', match: ['to'] }, ...rule },
    },
    ...(mayAnswer === undefined ? {} : { mayAnswer }),
  });
  return { agent, paid, store };
}

/** An office in which Ada has answered the first request, without asking for anything to be remembered. */
async function answered(settings: Settings = {}, options?: Answer | 'reject') {
  const office = makeOffice(settings);
  const thread = await office.agent.thread('t');
  const { approvalRequests } = await office.agent.run('Pay.', thread, { principal: 'eve' });
  const [request] = approvalRequests;
  if (request === undefined) throw new Error('Nothing was asked.');
  const answer = options === 'reject' ? request.reject() : request.approve(options);
  await office.agent.run(answer, thread, { principal: 'ada' });
  const again = async () => office.agent.run('Pay.', thread, { principal: 'eve' });
  return { ...office, thread, requestId: request.requestId, again };
}

const isAgreedByMail: MayAnswer = ({ response }) =>
  response.type === 'approval-response' && response.reason === 'Agreed by mail.';

describe('an approval that is remembered later', () => {
  test('decides the calls after it, as often as it says, and names whose it is', async () => {
    const { agent, thread, requestId, again, paid } = await answered();
    await agent.remember(thread, requestId, twice, { principal: 'ada', channel: 'inbox' });
    expect(await agent.grants()).toMatchObject([
      {
        decision: 'approved',
        scope: 'everyone',
        match: { type: 'fields', fields: { to: 'ACME' } },
        principal: 'ada',
        channel: 'inbox',
        requestId,
        uses: 2,
      },
    ]);
    expect(await again()).toMatchObject({ status: 'completed' });
    expect(await again()).toMatchObject({ status: 'completed' });
    expect(paid).toHaveLength(3);
    expect((await again()).approvalRequests).toHaveLength(1);
  });

  test('keeps the reason of the approval, which mayAnswer is asked about each time', async () => {
    const { agent, thread, requestId, again } = await answered(
      { mayAnswer: isAgreedByMail, rule: { requireReason: true } },
      { reason: 'Agreed by mail.' },
    );
    await agent.remember(thread, requestId, widest, { principal: 'ada' });
    expect(await agent.grants()).toMatchObject([{ reason: 'Agreed by mail.' }]);
    expect(await again()).toMatchObject({ status: 'completed' });
  });

  test('is a row of the store in the same append as its event, and can be revoked', async () => {
    using store = sqliteStore(':memory:');
    const { agent, thread, requestId, again } = await answered({ store });
    await agent.remember(thread, requestId, widest, { principal: 'ada' });
    const [grant] = await agent.grants();
    if (grant === undefined) throw new Error('There is no standing approval.');
    await agent.revoke(grant, { principal: 'ada' });
    expect((await again()).approvalRequests).toHaveLength(1);
  });

  test('is found in the log by another process', async () => {
    const { thread, requestId, store } = await answered();
    const elsewhere = makeOffice({ store }).agent;
    const reopened = await elsewhere.thread(thread.id);
    await elsewhere.remember(reopened, requestId, widest, { principal: 'ada' });
    expect(await elsewhere.grants()).toHaveLength(1);
  });

  test('is remembered once, however many say so at the same time', async () => {
    const { agent, thread, requestId, store } = await answered();
    const other = makeOffice({ store }).agent;
    const remembered = await Promise.allSettled([
      agent.remember(thread, requestId, widest, { principal: 'ada' }),
      other.remember(await other.thread('t'), requestId, widest, { principal: 'ada' }),
    ]);
    expect(remembered.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await agent.grants()).toHaveLength(1);
  });

  test('decides nothing once whoever gave it may no longer answer', async () => {
    const staff = new Set(['ada']);
    const mayAnswer: MayAnswer = ({ principal }) => staff.has(String(principal));
    const { agent, thread, requestId, again } = await answered({ mayAnswer });
    await agent.remember(thread, requestId, widest, { principal: 'ada' });
    staff.delete('ada');
    expect((await again()).approvalRequests).toHaveLength(1);
  });
});

const refusals: [
  why: string,
  settings: Settings,
  options: Answer | 'reject' | undefined,
  by: string,
  code: string,
][] = [
  ['somebody else approved it', {}, undefined, 'bob', 'not-allowed'],
  ['it was rejected', {}, 'reject', 'ada', 'not-allowed'],
  [
    'its input was edited',
    { rule: { editable: true } },
    { input: { to: 'ACME', euros: 8 } },
    'ada',
    'not-allowed',
  ],
  ['it is of the highest risk', { rule: { risk: 'critical' } }, undefined, 'ada', 'not-allowed'],
  ['it is remembered already', {}, { remember: true }, 'ada', 'already-answered'],
  [
    'its rule lets nothing be remembered',
    { rule: { remember: undefined } },
    undefined,
    'ada',
    'invalid-answer',
  ],
  [
    'its rule allows less',
    { rule: { remember: { scope: 'thread', match: ['to'] } } },
    undefined,
    'ada',
    'invalid-answer',
  ],
];

describe('an approval is not remembered later, and nothing changes', () => {
  test.each(pickCases(refusals, 3))('where %s', async (_why, settings, options, by, code) => {
    const { agent, thread, requestId } = await answered(settings, options);
    const before = thread.revision;
    const remembering = agent.remember(thread, requestId, widest, { principal: by });
    expect(await errorCode(remembering)).toBe(code);
    expect(thread.revision).toBe(before);
  });

  test('while it is open, and of a request that does not exist', async () => {
    const { agent } = makeOffice();
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Pay.', thread, { principal: 'eve' });
    const [{ requestId } = { requestId: '' }] = approvalRequests;
    const by = { principal: 'ada' };
    expect(await errorCode(agent.remember(thread, requestId, widest, by))).toBe('not-allowed');
    expect(await errorCode(agent.remember(thread, 'unknown', widest, by))).toBe('not-found');
  });

  test('where it needed two people', async () => {
    const { agent } = makeOffice({ rule: { quorum: 2 } });
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Pay.', thread, { principal: 'eve' });
    const [request] = approvalRequests;
    if (request === undefined) throw new Error('Nothing was asked.');
    await agent.run(request.approve(), thread, { principal: 'bob' });
    await agent.run(request.approve(), thread, { principal: 'ada' });
    const remembering = agent.remember(thread, request.requestId, widest, { principal: 'ada' });
    expect(await errorCode(remembering)).toBe('not-allowed');
    expect(await agent.grants()).toEqual([]);
  });

  test('by a person of another tenant who has the same id', async () => {
    const { agent } = makeOffice();
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Pay.', thread, { principal: 'eve' });
    const [request] = approvalRequests;
    if (request === undefined) throw new Error('Nothing was asked.');
    const { requestId } = request;
    await agent.run(request.approve(), thread, { principal: { id: '7', tenant: 'north' } });
    const other = { principal: { id: '7', tenant: 'south' } };
    expect(await errorCode(agent.remember(thread, requestId, widest, other))).toBe('not-allowed');
    expect(await agent.grants()).toEqual([]);
    await agent.remember(thread, requestId, widest, { principal: { tenant: 'north', id: '7' } });
    expect(await agent.grants()).toHaveLength(1);
  });

  test('by a person who may not answer any more', async () => {
    const staff = new Set(['ada']);
    const mayAnswer: MayAnswer = ({ principal }) => staff.has(String(principal));
    const { agent, thread, requestId } = await answered({ mayAnswer });
    staff.clear();
    const remembering = agent.remember(thread, requestId, widest, { principal: 'ada' });
    expect(await errorCode(remembering)).toBe('not-allowed');
    expect(await agent.grants()).toEqual([]);
  });

  test('for calls of a tool that is not the one that was shown', async () => {
    const { thread, requestId, store } = await answered();
    const changed = makeOffice({ store, description: 'Pays twice.' }).agent;
    const reopened = await changed.thread(thread.id);
    const remembering = changed.remember(reopened, requestId, widest, { principal: 'ada' });
    expect(await errorCode(remembering)).toBe('invalid-answer');
    expect(await changed.grants()).toEqual([]);
  });

  test('by a process that lacks the tool', async () => {
    const { thread, requestId, store } = await answered();
    const { model } = scriptedModel([]);
    const bare = createAgent({ name: 'office', model, store });
    const reopened = await bare.thread(thread.id);
    const remembering = bare.remember(reopened, requestId, widest, { principal: 'ada' });
    expect(await errorCode(remembering)).toBe('missing-tool');
  });

  test("of a sub-agent's request, which its own agent decides about", async () => {
    const office = new AgentOffice();
    const payer = office.payer('payer', [{ calls: [payCall('p1', 'ACME')] }, { text: 'Paid.' }]);
    const boss = office.agent(
      'boss',
      [ask('a1', 'payer', 'Pay.'), { text: 'Done.' }].map((each) =>
        'id' in each ? { calls: [each] } : each,
      ),
      {
        tools: { payer: agentTool(payer, { description: 'Pays.' }) },
      },
    );
    const thread = await boss.thread('t');
    const { approvalRequests } = await boss.run('Pay.', thread, { principal: 'eve' });
    const [request] = approvalRequests;
    if (request === undefined) throw new Error('Nothing was asked.');
    await boss.run(request.approve(), thread, { principal: 'ada' });
    const remembering = boss.remember(thread, request.requestId, widest, { principal: 'ada' });
    expect(await errorCode(remembering)).toBe('not-allowed');
  });
});
