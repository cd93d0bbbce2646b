import { type Agent, approve, type MayAnswer, type ToolApprovalStatus } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';
import { errorCode } from '../support/error-code.ts';
import { answeredBy } from './office.ts';

const owners = { approvers: ['owners'], notRequester: true, quorum: 2 } as const;

/** A manager whose buyer asks about a payment on these terms; ann has asked the manager for it. */
async function asked(
  status: ToolApprovalStatus | ((input: { to: string }) => ToolApprovalStatus),
  times = 1,
) {
  const office = new AgentOffice();
  const teams = { owners: ['ann', 'bob', 'cy'] };
  const mayAnswer = answeredBy(teams);
  const payments = Array.from({ length: times }, (_, index) => ({
    calls: [pay(`p${index}`, 'ACME')],
  }));
  const buyer = office.payer('buyer', [...payments, { text: 'Paid.' }], {
    toolApproval: ({ toolCall }) =>
      typeof status === 'function' ? status(Object(toolCall.input)) : status,
    mayAnswer,
  });
  const script = [{ calls: [ask('b1', 'buy', 'Pay ACME.')] }, { text: 'Done.' }];
  const manager = office.agent('manager', script, {
    tools: { buy: office.tool(buyer) },
    mayAnswer,
  });
  const thread = await manager.thread('t');
  const [request] = (await manager.run('Pay.', thread, { principal: 'ann' })).approvalRequests;
  if (request === undefined) throw new Error('Nothing was asked.');
  return { office, teams, manager, thread, request };
}

test('the terms of a sub-agent hold in the outermost thread: two owners, and not the requester', async () => {
  const { office, manager, thread, request } = await asked({ type: 'user-approval', ...owners });
  expect(request).toMatchObject(owners);
  const answer = (principal?: string) =>
    manager.run(request.approve(), thread, principal === undefined ? {} : { principal });
  expect(await errorCode(answer())).toBe('not-allowed');
  expect(await errorCode(answer('ann'))).toBe('not-allowed');
  expect(await errorCode(answer('eve'))).toBe('not-allowed');
  expect((await answer('bob')).status).toBe('waiting');
  expect((await answer('bob')).status).toBe('waiting');
  expect(office.payments).toEqual([]);
  expect((await answer('cy')).status).toBe('completed');
  expect(office.payments).toHaveLength(1);
});

test('a vote by somebody who may not answer any more does not count for a sub-agent', async () => {
  const { office, teams, manager, thread, request } = await asked({
    type: 'user-approval',
    ...owners,
  });
  await manager.run(request.approve(), thread, { principal: 'bob' });
  teams.owners = ['cy', 'dee'];
  expect((await manager.run(request.approve(), thread, { principal: 'cy' })).status).toBe(
    'waiting',
  );
  expect(office.payments).toEqual([]);
  expect((await manager.run(request.approve(), thread, { principal: 'dee' })).status).toBe(
    'completed',
  );
  expect(office.payments).toHaveLength(1);
});

test('an edit runs as it was approved, and not where the rule demands more for it', async () => {
  const editable = { type: 'user-approval', editable: true, approvers: ['owners'] } as const;
  const rule = ({ to }: { to: string }) => (to === 'EVIL' ? { ...editable, quorum: 2 } : editable);
  const plain = await asked(rule);
  const small = plain.request.approve({ input: { to: 'SHOP' } });
  expect((await plain.manager.run(small, plain.thread, { principal: 'bob' })).status).toBe(
    'completed',
  );
  expect(plain.office.payments).toMatchObject([{ to: 'SHOP' }]);

  const worse = await asked(rule);
  const input = { to: 'EVIL' };
  const again = await worse.manager.run(worse.request.approve({ input }), worse.thread, {
    principal: 'bob',
  });
  expect(worse.office.payments).toEqual([]);
  expect(again.approvalRequests).toMatchObject([{ quorum: 2, toolCall: { input } }]);
});

test('an edit of what is not editable is refused in the outermost thread', async () => {
  const { office, manager, thread, request } = await asked({
    type: 'user-approval',
    approvers: ['owners'],
  });
  const answer = { ...request.approve(), input: { to: 'EVIL' } };
  const { revision } = thread;
  expect(await errorCode(manager.run(answer, thread, { principal: 'bob' }))).toBe('invalid-answer');
  expect(thread.revision).toBe(revision);
  expect(office.payments).toEqual([]);
});

test('a standing approval in the outermost thread is not wider than the sub-agent allows', async () => {
  const status = { type: 'user-approval', remember: { uses: 1 } } as const;
  const { office, manager, thread, request } = await asked(status, 3);
  const wide = request.approve();
  const wider = { ...wide, remember: { scope: 'thread', match: 'any' } } as const;
  expect(await errorCode(manager.run(wider, thread, { principal: 'bob' }))).toBe('invalid-answer');
  const next = await manager.run(request.approve({ remember: true }), thread, { principal: 'bob' });
  expect(next.status).toBe('waiting');
  expect(office.payments).toHaveLength(2);
});

interface Chain {
  mayAnswer: MayAnswer;
  /** The names of the agents between the outermost one and the buyer. */
  between?: readonly string[];
}

/** A buyer whose payment two people must approve; only the outermost agent says who they are. */
async function askedFromAbove({ mayAnswer, between = [] }: Chain) {
  const office = new AgentOffice();
  const status = { type: 'user-approval', quorum: 2, editable: true } as const;
  const buyer = office.payer('buyer', [{ calls: [pay('p', 'ACME')] }, { text: 'Paid.' }], {
    toolApproval: { pay: status },
  });
  const manager = [...between, 'manager'].reduce((below: Agent, name, level) => {
    const script = [{ calls: [ask(`b${level}`, 'buy', 'Pay ACME.')] }, { text: 'Done.' }];
    const tools = { buy: office.tool(below) };
    return office.agent(name, script, { tools, ...(name === 'manager' ? { mayAnswer } : {}) });
  }, buyer);
  const thread = await manager.thread('t');
  await manager.run('Pay.', thread, { principal: 'ann' });
  const request = () => {
    const [open] = thread.activeRequests;
    if (open?.type !== 'approval-request') throw new Error('Nothing is asked.');
    return open;
  };
  const answer = async (principal: string, options?: NonNullable<Parameters<typeof approve>[1]>) =>
    (await manager.run(approve(request(), options), thread, { principal })).status;
  return { office, manager, thread, request, answer };
}

type AskedAnswer = Parameters<MayAnswer>[0];

const isAsked = ({ request, principal }: AskedAnswer): boolean =>
  request.type === 'approval-request' && request.approvers?.includes(String(principal)) === true;

test('a vote does not count for a sub-agent once the mayAnswer of the agent above would refuse it', async () => {
  const people = new Set(['ada', 'ben', 'cy']);
  const mayAnswer: MayAnswer = ({ principal }) => people.has(String(principal));
  for (const between of [[], ['lead']]) {
    people.add('ada');
    const { office, request, answer } = await askedFromAbove({ mayAnswer, between });
    expect(await answer('ada')).toBe('waiting');
    people.delete('ada');
    expect(await answer('ben')).toBe('waiting');
    expect(request().votes).toMatchObject([{ person: 'ben' }]);
    expect(office.payments).toEqual([]);
    expect(await answer('cy')).toBe('completed');
    expect(office.payments).toHaveLength(1);
  }
});

describe.each([
  { way: 'with an edit', input: { to: 'SHOP' }, between: [] },
  { way: 'with an edit that Ben may not make by himself', input: { to: 'EVIL' }, between: [] },
  { way: 'with an edit, two levels below', input: { to: 'SHOP' }, between: ['lead'] },
  { way: 'as it is, two levels below', input: undefined, between: ['lead'] },
])('Ben, whom Ada asked to answer for her, approves $way', ({ input, between }) => {
  test("so that a sub-agent takes it for Ada's vote, and Ada does not vote twice", async () => {
    const mayAnswer: MayAnswer = (about) =>
      ['ada', 'cy'].includes(String(about.principal)) ||
      isAsked(about) ||
      (input?.to === 'EVIL' && about.principal === 'ben' && !isEvil(about));
    const { office, manager, thread, request, answer } = await askedFromAbove({
      mayAnswer,
      between,
    });
    await manager.reassign(thread, request().requestId, 'ben', { principal: 'ada' });
    expect(await answer('ben', input === undefined ? {} : { input })).toBe('waiting');
    expect(request().votes).toMatchObject([{ person: 'ben', onBehalfOf: 'ada' }]);
    expect(await answer('ada')).toBe('waiting');
    expect(office.payments).toEqual([]);
    expect(await answer('cy')).toBe('completed');
    expect(office.payments).toMatchObject([input ?? { to: 'ACME' }]);
  });
});

function isEvil({ request }: AskedAnswer): boolean {
  const { toolCall } = request.type === 'approval-request' ? request : {};
  return JSON.stringify(toolCall?.input).includes('EVIL');
}
