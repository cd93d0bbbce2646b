import { tool } from 'ai';
import {
  type AgentOptions,
  approve,
  createAgent,
  type ThreadStore,
  type ToolApprovalStatus,
} from 'holdpoint';
import { runWorker } from 'holdpoint/worker';
import { agentTool } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { answeredBy } from '../policy/office.ts';
import { errorCode } from '../support/error-code.ts';
import { everyStore, storeOfEach } from '../support/every-store.ts';
import type { ScriptedStep } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { waitUntil } from '../support/waiting.ts';

const teams = { owners: ['ann', 'bob', 'cy'], managers: ['dee'] };
const paying: ScriptedStep[] = [
  { calls: [{ id: 'p1', name: 'pay', input: { to: 'Acme', amount: 900 } }] },
  { text: 'Paid.' },
];
const payingTwice = [...paying.slice(0, 1), ...paying];

/** A clerk whose sub-agent pays as a rule allows, and the first request as the clerk's thread has it. */
async function openDesk(
  kept: ThreadStore,
  status: ToolApprovalStatus,
  script = paying,
  more: Partial<AgentOptions> = {},
) {
  const clock = { now: 1_000_000 };
  const paid: unknown[] = [];
  const failing: { threadId: string | undefined } = { threadId: undefined };
  const store: ThreadStore = {
    ...kept,
    async append(...input) {
      if (input[0] === failing.threadId) throw new Error('The disk is full.');
      return kept.append(...input);
    },
  };
  const now = (): number => clock.now;
  const mayAnswer = answeredBy(teams);
  const pay = tool({
    description: 'Pays somebody.',
    inputSchema: z.object({ to: z.string(), amount: z.number() }),
    execute: async (input) => {
      paid.push(input);
      return 'paid';
    },
  });
  const payerModel = scriptedModel(script);
  const clerkModel = scriptedModel([
    { calls: [{ id: 'c1', name: 'payer', input: { prompt: 'Pay Acme' } }] },
    { text: 'Done.' },
  ]);
  const shared: Partial<AgentOptions> = { store, now, mayAnswer, maxRetries: 0, ...more };
  const make = () => {
    const payer = createAgent({
      ...shared,
      name: 'payer',
      model: payerModel.model,
      tools: { pay },
      toolApproval: { pay: status },
    });
    const clerk = createAgent({
      ...shared,
      name: 'clerk',
      model: clerkModel.model,
      tools: { payer: agentTool(payer, { description: 'Pays.' }) },
    });
    return { payer, clerk };
  };
  const { payer, clerk } = make();
  const thread = await clerk.thread('t');
  const { approvalRequests } = await clerk.run('Pay', thread, { principal: 'ann' });
  const [request] = approvalRequests;
  if (request === undefined) throw new Error('Nothing was asked.');
  const child = async () => {
    const opened = await store.list({ agent: 'payer' });
    const [summary] = opened;
    return payer.thread(summary?.threadId ?? '');
  };
  const current = async () => {
    const [open] = (await clerk.thread('t')).activeApprovalRequests;
    if (open === undefined) throw new Error('No approval is open.');
    return open;
  };
  return {
    clock,
    paid,
    store,
    payer,
    clerk,
    thread,
    request,
    child,
    current,
    make,
    payerModel,
    failing,
    shared,
  };
}

const stores = everyStore();

/** Opens desks, each in the store of its test. */
function desksOf(start: Parameters<typeof storeOfEach>[0]) {
  const open = storeOfEach(start);
  return async (status: ToolApprovalStatus, script = paying, more: Partial<AgentOptions> = {}) =>
    openDesk(open(), status, script, more);
}

describe.each(stores)("$name: a sub-agent's request, answered in its parent", ({ start }) => {
  const deskOf = desksOf(start);

  test('carries what the rule says, and the digest covers it', async () => {
    const rule = {
      type: 'user-approval',
      approvers: ['owners'],
      quorum: 2,
      requireReason: true,
      editable: ['amount'],
      remember: true,
      risk: 'critical',
      metadata: { cost: 'centre' },
      expiresAfterMs: 60_000,
      onExpiry: { type: 'escalate', approvers: ['managers'] },
      remindBeforeMs: 10_000,
    } as const;
    const { request, child } = await deskOf(rule);
    const { type: _type, expiresAfterMs: _ms, remindBeforeMs: _before, ...kept } = rule;
    const remember = { scope: 'thread', match: 'exact' };
    const carried = { ...kept, remember, expiresAt: 1_060_000, remindAt: 1_050_000 };
    expect(request).toMatchObject(carried);
    const [own] = (await child()).activeRequests;
    expect(own).toMatchObject(carried);
    expect(own?.requestId).toBe(request.requestId);
  });

  test('votes are counted by the sub-agent, and shown in the parent thread', async () => {
    const at = await deskOf({ type: 'user-approval', approvers: ['owners'], quorum: 2 });
    const { clerk, thread, request } = at;
    await clerk.respond(request.approve(), thread, { principal: 'ann', channel: 'web' });
    expect(await at.current()).toMatchObject({ votes: [{ person: 'ann', channel: 'web' }] });
    expect((await at.child()).activeRequests).toMatchObject([
      { requestId: request.requestId, votes: [{ person: 'ann', channel: 'web' }] },
    ]);
    const again = await clerk.run(request.approve(), thread, { principal: 'ann' });
    expect(again.status).toBe('waiting');
    expect(await errorCode(clerk.run(request.approve(), thread, { principal: 'dee' }))).toBe(
      'not-allowed',
    );
    expect(at.paid).toEqual([]);
    const done = await clerk.run(request.approve(), thread, {
      principal: 'bob',
      channel: 'mail',
    });
    expect(done.status).toBe('completed');
    expect(at.paid).toHaveLength(1);
    const events = (await at.child()).events.filter(({ type }) => type.startsWith('request-'));
    expect(events).toMatchObject([
      { type: 'request-opened' },
      { type: 'request-voted', person: 'ann', principal: 'ann', channel: 'web' },
      { type: 'request-answered', person: 'bob', principal: 'bob', channel: 'mail' },
    ]);
  });

  test('a vote that is withdrawn does not count', async () => {
    const at = await deskOf({ type: 'user-approval', approvers: ['owners'], quorum: 2 });
    const { clerk, thread, request } = at;
    await clerk.respond(request.approve(), thread, { principal: 'ann' });
    await clerk.withdraw(thread, request.requestId, { principal: 'ann' });
    const voted = await clerk.run(request.approve(), thread, { principal: 'bob' });
    expect(voted.status).toBe('waiting');
    expect(at.paid).toEqual([]);
    await clerk.run(request.approve(), thread, { principal: 'cy' });
    expect(at.paid).toHaveLength(1);
  });

  test('one rejection ends it, whatever the votes', async () => {
    const at = await deskOf({ type: 'user-approval', approvers: ['owners'], quorum: 2 });
    const { clerk, thread, request } = at;
    await clerk.respond(request.approve(), thread, { principal: 'ann' });
    const done = await clerk.run(request.reject('No.'), thread, { principal: 'bob' });
    expect(done.status).toBe('completed');
    expect(at.paid).toEqual([]);
    expect((await at.child()).calls).toMatchObject([
      { status: 'denied', outcome: { reason: 'No.' } },
    ]);
  });

  test('an edit runs in the sub-agent, with its own digest, and its model learns of it', async () => {
    const at = await deskOf({ type: 'user-approval', editable: ['amount'] });
    const { clerk, thread, request } = at;
    const input = { to: 'Acme', amount: 50 };
    const done = await clerk.run(request.approve({ input }), thread, { principal: 'bob' });
    expect(done.status).toBe('completed');
    expect(at.paid).toEqual([input]);
    expect((await at.child()).calls).toMatchObject([
      { input, edit: { original: { to: 'Acme', amount: 900 }, person: 'bob' } },
    ]);
    expect(JSON.stringify(at.payerModel.prompts.at(-1))).toContain('50');
  });

  test.each([
    ['of a field that is not editable', { to: 'Eve', amount: 900 }],
    ["that the sub-agent's tool refuses", { to: 'Acme', amount: 'x' }],
  ])('an edit %s is refused before anything is recorded', async (_name, input) => {
    const at = await deskOf({ type: 'user-approval', editable: ['amount'] });
    const { clerk, thread, request } = at;
    const { revision } = thread;
    const { revision: below } = await at.child();
    const answer = { ...approve(request), input };
    expect(await errorCode(clerk.run(answer, thread, { principal: 'bob' }))).toBe('invalid-answer');
    expect((await clerk.thread('t')).revision).toBe(revision);
    expect((await at.child()).revision).toBe(below);
    await clerk.run(request.approve(), thread, { principal: 'bob' });
    expect(at.paid).toEqual([{ to: 'Acme', amount: 900 }]);
  });

  test('an edited request needs the votes of several for the edited input', async () => {
    const rule = { approvers: ['owners'], quorum: 2, editable: ['amount'] } as const;
    const at = await deskOf({ type: 'user-approval', ...rule });
    const { clerk, thread, request } = at;
    await clerk.respond(request.approve(), thread, { principal: 'ann' });
    const input = { to: 'Acme', amount: 50 };
    await clerk.respond(request.approve({ input }), thread, { principal: 'bob' });
    expect(await at.current()).toMatchObject({
      votes: [{ person: 'bob' }],
      toolCall: { input },
      edit: { original: { input: { to: 'Acme', amount: 900 } } },
    });
    expect(at.paid).toEqual([]);
    expect(await errorCode(clerk.run(request.approve(), thread, { principal: 'cy' }))).toBe(
      'answer-mismatch',
    );
    const shown = await at.current();
    const done = await clerk.run(shown.approve(), thread, { principal: 'cy' });
    expect(done.status).toBe('completed');
    expect(at.paid).toEqual([input]);
  });

  test('an edited request shows what will run in the parent too, and its editor may answer both, as the sub-agent says', async () => {
    const limits: Record<string, number> = { bob: 1_000, cy: 9_000, ann: 9_000 };
    const at = await deskOf(
      {
        type: 'user-approval',
        quorum: 2,
        editable: ['amount'],
        text: ({ amount }: { amount: number }) => `Pay ${amount}?`,
      },
      paying,
      {
        mayAnswer: ({ principal, request }) =>
          Object(request.toolCall?.input).amount <= (limits[String(principal)] ?? 0),
      },
    );
    const { clerk, thread, request } = at;
    const input = { to: 'Acme', amount: 5_000 };
    const answer = request.approve({ input });
    expect(await errorCode(clerk.respond(answer, thread, { principal: 'bob' }))).toBe(
      'not-allowed',
    );
    await clerk.respond(answer, thread, { principal: 'cy' });
    const shown = await at.current();
    expect(shown).toMatchObject({
      text: 'Pay 5000?',
      toolCall: { input },
      edit: { original: { text: 'Pay 900?', input: { to: 'Acme', amount: 900 } } },
    });
    expect(await errorCode(clerk.respond(shown.approve(), thread, { principal: 'bob' }))).toBe(
      'not-allowed',
    );
    await clerk.withdraw(thread, request.requestId, { principal: 'cy' });
    expect(await at.current()).toMatchObject({ text: 'Pay 900?', digest: request.digest });
    await clerk.respond(answer, thread, { principal: 'cy' });
    await clerk.run((await at.current()).approve(), thread, { principal: 'ann' });
    expect(at.paid).toEqual([input]);
  });

  test.each([undefined, true] as const)(
    'an input of null is refused before anything is recorded, with editable: %s',
    async (editable) => {
      const at = await deskOf({ type: 'user-approval', editable });
      const { revision } = at.thread;
      const answer = { ...at.request.approve(), input: null };
      expect(await errorCode(at.clerk.run(answer, at.thread, { principal: 'bob' }))).toBe(
        'invalid-answer',
      );
      expect((await at.clerk.thread('t')).revision).toBe(revision);
    },
  );

  test('an answer to remember makes a standing approval of the sub-agent, which decides its next call', async () => {
    const twice = ['p1', 'p2'].map((id) => ({
      calls: [{ id, name: 'pay', input: { to: 'Acme', amount: 900 } }],
    }));
    const at = await deskOf({ type: 'user-approval', remember: true }, [
      ...twice,
      { text: 'Paid.' },
    ]);
    const { clerk, thread, request } = at;
    const done = await clerk.run(request.approve({ remember: true }), thread, {
      principal: 'bob',
    });
    expect(done.status).toBe('completed');
    expect(at.paid).toHaveLength(2);
    const child = await at.child();
    expect(await at.payer.grants(child)).toMatchObject([
      { scope: 'thread', toolName: 'pay', principal: 'bob', requestId: request.requestId },
    ]);
  });

  test('more than the rule allows to remember is refused before anything is recorded', async () => {
    const at = await deskOf({ type: 'user-approval', remember: true });
    const { clerk, thread, request } = at;
    const wider = request.approve({ remember: { match: 'any' } });
    const { revision } = thread;
    expect(await errorCode(clerk.run(wider, thread, { principal: 'bob' }))).toBe('invalid-answer');
    expect((await clerk.thread('t')).revision).toBe(revision);
  });

  test('a reason is demanded, and reaches the sub-agent', async () => {
    const at = await deskOf({ type: 'user-approval', requireReason: true });
    const { clerk, thread, request } = at;
    expect(await errorCode(clerk.run(request.approve(), thread))).toBe('invalid-answer');
    await clerk.run(request.approve({ reason: 'Invoice 7.' }), thread, { principal: 'bob' });
    expect(at.paid).toHaveLength(1);
    const answered = (await at.child()).events.find(({ type }) => type === 'request-answered');
    expect(answered).toMatchObject({ response: { reason: 'Invoice 7.' } });
  });

  test('the requester may not answer', async () => {
    const at = await deskOf({ type: 'user-approval', notRequester: true });
    const { clerk, thread, request } = at;
    expect(await errorCode(clerk.run(request.approve(), thread, { principal: 'ann' }))).toBe(
      'not-allowed',
    );
    await clerk.run(request.approve(), thread, { principal: 'bob' });
    expect(at.paid).toHaveLength(1);
  });

  test('it is reassigned there, and both agents let somebody else answer', async () => {
    const at = await deskOf({ type: 'user-approval', approvers: ['owners'] });
    const { clerk, thread, request } = at;
    const dee = { principal: 'dee' };
    expect(await errorCode(clerk.reassign(thread, request.requestId, 'dee', dee))).toBe(
      'not-allowed',
    );
    expect(await errorCode(clerk.run(request.approve(), thread, dee))).toBe('not-allowed');
    await clerk.reassign(thread, request.requestId, 'dee', { principal: 'bob' });
    const reassignments = [{ from: 'bob', to: 'dee', principal: 'bob' }];
    expect(await at.current()).toMatchObject({ reassignments });
    expect((await at.child()).activeRequests).toMatchObject([{ reassignments }]);
    expect((await clerk.run(request.approve(), thread, dee)).status).toBe('completed');
    expect(at.paid).toHaveLength(1);
  });

  test('in a quorum, the vote of the one who was asked instead is that of the one who asked', async () => {
    const at = await deskOf({ type: 'user-approval', approvers: ['owners'], quorum: 2 });
    const { clerk, thread, request } = at;
    await clerk.reassign(thread, request.requestId, 'dee', { principal: 'ann' });
    await clerk.respond(request.approve(), thread, { principal: 'dee' });
    await clerk.respond(request.approve(), thread, { principal: 'ann' });
    await clerk.respond(request.approve(), thread, { principal: 'dee' });
    expect(at.paid).toEqual([]);
    expect((await clerk.run(request.approve(), thread, { principal: 'bob' })).status).toBe(
      'completed',
    );
    expect(at.paid).toHaveLength(1);
  });

  test('a reassignment that only the sub-agent has recorded lets nobody answer, and is repeated', async () => {
    const at = await deskOf({ type: 'user-approval', approvers: ['owners'] });
    const { clerk, thread, request } = at;
    at.failing.threadId = 't';
    const reassign = async () =>
      clerk.reassign(thread, request.requestId, 'dee', { principal: 'bob' });
    await expect(reassign()).rejects.toThrow('The disk is full.');
    at.failing.threadId = undefined;
    const dee = { principal: 'dee' };
    expect(await errorCode(clerk.run(request.approve(), thread, dee))).toBe('not-allowed');
    await reassign();
    await clerk.run(request.approve(), thread, dee);
    expect(at.paid).toHaveLength(1);
  });

  test('it is not reassigned by an agent that does not know who people are', async () => {
    const at = await deskOf('user-approval', paying, { mayAnswer: undefined });
    const { clerk, thread, request } = at;
    const reassigning = clerk.reassign(thread, request.requestId, 'dee', { principal: 'bob' });
    expect(await errorCode(reassigning)).toBe('not-allowed');
    expect(await at.current()).not.toHaveProperty('reassignments');
  });

  test('it is reassigned through three levels', async () => {
    const at = await deskOf({ type: 'user-approval', approvers: ['owners'] }, payingTwice);
    const [first, second] = ['clerk', 'payer'].map((name) =>
      scriptedModel([{ calls: [{ id: name, name, input: { prompt: 'Pay' } }] }, { text: 'Done.' }]),
    );
    if (first === undefined || second === undefined) throw new Error('Two models are needed.');
    const { payer } = at.make();
    const middle = createAgent({
      ...at.shared,
      name: 'middle',
      model: second.model,
      tools: { payer: agentTool(payer, { description: 'Pays.' }) },
    });
    const boss = createAgent({
      ...at.shared,
      name: 'boss',
      model: first.model,
      tools: { clerk: agentTool(middle, { description: 'Has it paid.' }) },
    });
    const thread = await boss.thread('boss');
    const { approvalRequests } = await boss.run('Pay', thread, { principal: 'ann' });
    const [request] = approvalRequests;
    if (request === undefined) throw new Error('Nothing was asked.');
    expect(request.path).toHaveLength(2);
    await boss.reassign(thread, request.requestId, 'dee', { principal: 'bob' });
    await boss.run(request.approve(), thread, { principal: 'dee' });
    expect(at.paid).toHaveLength(1);
  });

  test('nobody votes, withdraws, reassigns or answers in the child thread', async () => {
    const at = await deskOf({ type: 'user-approval', approvers: ['owners'], quorum: 2 });
    const child = await at.child();
    const [own] = child.activeRequests;
    if (own?.type !== 'approval-request') throw new Error('Nothing was asked.');
    const by = { principal: 'ann' };
    expect(await errorCode(at.payer.respond(own.approve(), child, by))).toBe('not-allowed');
    expect(await errorCode(at.payer.withdraw(child, own.requestId, by))).toBe('not-allowed');
    expect(await errorCode(at.payer.reassign(child, own.requestId, 'dee', by))).toBe('not-allowed');
    expect(child.activeRequests).toEqual([own]);
  });
});

describe.each(stores)('$name: a request of a sub-agent that expires', ({ start }) => {
  const deskOf = desksOf(start);
  const rule = {
    type: 'user-approval',
    approvers: ['owners'],
    expiresAfterMs: 60_000,
    onExpiry: { type: 'escalate', approvers: ['managers'] },
  } as const;

  test.each([
    ['the next run', false],
    ['a worker', true],
  ])(
    'is escalated by %s: the parent thread shows the new one, for others',
    async (_name, byWorker) => {
      const at = await deskOf(rule);
      const { clerk, thread, request, clock } = at;
      clock.now += 60_000;
      if (byWorker) {
        const stopping = new AbortController();
        const { signal } = stopping;
        const working = runWorker({ agent: at.make().clerk, store: at.store, signal, pollMs: 5 });
        /* The thread may be read between the end of the one and the opening of the other. */
        const isEscalated = async (): Promise<boolean> => {
          const open = (await clerk.thread('t')).activeApprovalRequests;
          return open.some(({ requestId }) => requestId !== request.requestId);
        };
        await waitUntil(isEscalated);
        stopping.abort();
        await working;
      } else {
        await clerk.run([], thread);
      }
      const next = await at.current();
      expect(next).toMatchObject({ approvers: ['managers'], follows: request.requestId });
      expect(next.requestId).not.toBe(request.requestId);
      expect(await errorCode(clerk.run(request.approve(), thread, { principal: 'bob' }))).toBe(
        'request-closed',
      );
      expect(await errorCode(clerk.run(next.approve(), thread, { principal: 'bob' }))).toBe(
        'not-allowed',
      );
      const done = await clerk.run(next.approve(), thread, { principal: 'dee' });
      expect(done.status).toBe('completed');
      expect(at.paid).toHaveLength(1);
    },
  );

  test('is escalated to one person: above as below, that person alone decides', async () => {
    const escalating = { type: 'escalate', approvers: ['managers'], quorum: 1 } as const;
    const at = await deskOf({ ...rule, quorum: 2, onExpiry: escalating });
    const { clerk, thread, request, clock } = at;
    await clerk.respond(request.approve(), thread, { principal: 'ann' });
    clock.now += 60_000;
    await clerk.run([], thread);
    const next = await at.current();
    expect(next).toMatchObject({ approvers: ['managers'], follows: request.requestId });
    expect(next).not.toHaveProperty('quorum');
    expect((await at.child()).activeApprovalRequests).toMatchObject([{ approvers: ['managers'] }]);
    expect(await errorCode(clerk.run(next.approve(), thread, { principal: 'ann' }))).toBe(
      'not-allowed',
    );
    const done = await clerk.run(next.approve(), thread, { principal: 'dee' });
    expect(done.status).toBe('completed');
    expect(at.paid).toHaveLength(1);
  });

  test('is asked again with its votes gone', async () => {
    const at = await deskOf({ ...rule, quorum: 2, onExpiry: 'ask-again' });
    const { clerk, thread, request, clock } = at;
    await clerk.respond(request.approve(), thread, { principal: 'ann' });
    clock.now += 60_000;
    await clerk.run([], thread);
    const next = await at.current();
    expect(next.votes ?? []).toEqual([]);
    expect(next.follows).toBe(request.requestId);
    await clerk.run(next.approve(), thread, { principal: 'bob' });
    expect(at.paid).toEqual([]);
    await clerk.run(next.approve(), thread, { principal: 'ann' });
    expect(at.paid).toHaveLength(1);
  });

  test('is rejected with the reason of the rule, which the sub-agent receives', async () => {
    const onExpiry = { type: 'reject', reason: 'Nobody was there.' } as const;
    const at = await deskOf({ ...rule, onExpiry });
    at.clock.now += 60_000;
    const done = await at.clerk.run([], at.thread);
    expect(done.status).toBe('completed');
    expect(at.paid).toEqual([]);
    expect(JSON.stringify(at.payerModel.prompts.at(-1))).toContain('Nobody was there.');
  });
});
