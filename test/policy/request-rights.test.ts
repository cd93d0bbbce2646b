import * as fc from 'fast-check';
import {
  type Agent,
  type AgentThread,
  type ApprovalRequestContent,
  createAgent,
  type MayAnswer,
} from 'holdpoint';
import { questionTools } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { askedInOffice } from './office.ts';
import { cases, findLies } from './rights-world.ts';
import { countTrials, pickCases } from '../support/sampling.ts';
import type { AnswerRefusal } from '../../src/content/refusal-words.ts';

const rule = { type: 'user-approval' } as const;

describe('a person may not answer a request:', () => {
  const refusals: [AnswerRefusal, object, unknown][] = [
    ['requester', { notRequester: true }, 'ann'],
    ['requester', { notRequester: true }, { id: 'Ann' }],
    ['not-approver', { approvers: ['managers'] }, 'bob'],
    ['unidentified', { quorum: 2 }, undefined],
    ['unidentified', { quorum: 2 }, ''],
    ['unidentified', { notRequester: true }, null],
  ];

  test.each(pickCases(refusals, 3))('%s (%j, %j)', async (refusal, terms, principal) => {
    const { agent, thread, request } = await askedInOffice({ ...rule, ...terms });
    const { revision } = thread;
    expect(await agent.rights([request], { principal })).toEqual([
      {
        requestId: request.requestId,
        threadId: 't',
        mayAnswer: false,
        refusal,
        mayApprove: false,
        mayReject: false,
        mayEdit: false,
        mayWithdraw: false,
        mayReassign: false,
      },
    ]);
    expect(await errorCode(agent.respond(request.approve(), thread, { principal }))).toBe(
      'not-allowed',
    );
    expect(thread.revision).toBe(revision);
  });

  test('already-voted, but may still reject it or take the approval back', async () => {
    const { agent, thread, request } = await askedInOffice({ ...rule, quorum: 2 });
    await agent.respond(request.approve(), thread, { principal: 'bob' });
    expect(await agent.rights(thread, { principal: 'bob' })).toMatchObject([
      { mayAnswer: false, refusal: 'already-voted', mayReject: true, mayWithdraw: true },
    ]);
    expect(await agent.rights(thread, { principal: 'BOB' })).toMatchObject([
      { mayAnswer: false, refusal: 'already-voted', mayReject: true, mayWithdraw: false },
    ]);
    expect(await agent.rights(thread, { principal: 'cy' })).toMatchObject([
      { mayAnswer: true, mayApprove: true, mayWithdraw: false, mayReassign: true },
    ]);
  });

  test('closed, once it has expired, is decided, or is not there', async () => {
    const { agent, thread, request, clock } = await askedInOffice({ ...rule, expiresAfterMs: 10 });
    const unknown = { requestId: 'r', threadId: 't' };
    const by = { principal: 'bob' };
    expect(await agent.rights([request, unknown], by)).toMatchObject([
      { mayAnswer: true },
      { requestId: 'r', mayAnswer: false, refusal: 'closed' },
    ]);
    clock.now += 10;
    expect(await agent.rights([request], by)).toMatchObject([{ refusal: 'closed' }]);
    clock.now -= 10;
    await agent.respond(request.reject(), thread, by);
    expect(await agent.rights([request], by)).toMatchObject([{ refusal: 'closed' }]);
  });

  test('child-thread, where a sub-agent asks: it is answered above', async () => {
    const office = new AgentOffice();
    const buyer = office.payer('buyer', [{ calls: [pay('b1', 'Ann')] }]);
    const manager = office.agent('manager', [{ calls: [ask('m1', 'buy', 'Pay Ann.')] }], {
      tools: { buy: office.tool(buyer) },
    });
    const thread = await manager.thread('t');
    await manager.run('Pay Ann.', thread, { principal: 'ann' });
    const [call] = thread.calls;
    const child = await buyer.thread(call?.agent?.threadId ?? '');
    expect(await buyer.rights(child, { principal: 'bob' })).toMatchObject([
      { mayAnswer: false, refusal: 'child-thread' },
    ]);
    expect(await manager.rights(thread, { principal: 'bob' })).toMatchObject([{ mayAnswer: true }]);
  });

  test('missing-tool, where this agent lacks the one whose question it is', async () => {
    const office = new AgentOffice();
    const buyer = office.payer('buyer', [{ calls: [pay('b1', 'Ann')] }]);
    const script = [{ calls: [ask('m1', 'buy', 'Pay Ann.')] }];
    const manager = office.agent('manager', script, { tools: { buy: office.tool(buyer) } });
    await manager.run('Pay Ann.', await manager.thread('t'), { principal: 'ann' });
    const other = office.agent('manager', []);
    expect(await other.rights(await other.thread('t'), { principal: 'bob' })).toMatchObject([
      { mayAnswer: false, refusal: 'missing-tool' },
    ]);
  });
});

describe('a question', () => {
  const script = [
    {
      calls: [
        { id: 'q1', name: 'user_choice', input: { question: 'Which?', options: '["A", "B"]' } },
      ],
    },
    { text: 'It is A.' },
  ];

  test('is answered or dismissed, and nothing else', async () => {
    const agent = new AgentOffice().agent('asker', script, {
      tools: questionTools(),
      mayAnswer: ({ principal, request }) =>
        principal === 'bob' && request.type === 'question-request',
    });
    const thread = await agent.thread('t');
    await agent.run('Ask.', thread, { principal: 'ann' });
    const [question] = thread.activeRequests;
    if (question?.type !== 'question-request') throw new Error('Nothing is asked.');
    const { requestId, allowDismiss } = question;
    const no = { mayApprove: false, mayEdit: false, mayWithdraw: false, mayReassign: false };
    const rights = { requestId, threadId: 't', mayAnswer: true, mayReject: allowDismiss, ...no };
    expect(await agent.rights(thread, { principal: 'bob' })).toEqual([rights]);
    const { requests } = await agent.requests({ principal: 'bob' });
    expect(requests).toMatchObject([{ request: { requestId }, rights }]);
    expect(await agent.rights(thread, { principal: 'cy' })).toMatchObject([
      { mayAnswer: false, refusal: 'not-approver', mayReject: false },
    ]);
    expect((await agent.requests({ principal: 'cy' })).requests).toEqual([]);
  });

  test('waits for a process that has its tool', async () => {
    const office = new AgentOffice();
    const asker = office.agent('asker', script, { tools: questionTools() });
    await asker.run('Ask.', await asker.thread('t'), { principal: 'ann' });
    const inbox = office.agent('asker', []);
    const thread = await inbox.thread('t');
    const by = { principal: 'bob' };
    expect(await inbox.rights(thread, by)).toMatchObject([{ refusal: 'missing-tool' }]);
    expect((await inbox.requests({ ...by, include: 'all' })).requests).toMatchObject([
      { rights: { mayAnswer: false, refusal: 'missing-tool' } },
    ]);
    const [question] = thread.activeRequests;
    if (question?.type !== 'question-request') throw new Error('Nothing is asked.');
    const { requestId, fields } = question;
    const answers = fields.map(({ key, options }) => ({
      key,
      optionIds: options.slice(0, 1).map(({ id }) => id),
    }));
    const given = { type: 'question-response', requestId, status: 'answered', answers } as const;
    expect(await errorCode(inbox.respond(given, thread, by))).toBe('missing-tool');
    expect((await asker.requests(by)).requests).toHaveLength(1);
  });
});

test('rights of a thread of another agent are refused', async () => {
  const { agent, request, store } = await askedInOffice(rule);
  const { model } = scriptedModel([]);
  const other = createAgent({ model, store, name: 'other' });
  expect(await errorCode(other.rights([request], { principal: 'bob' }))).toBe('wrong-agent');
  expect(await agent.rights([], { principal: 'bob' })).toEqual([]);
});

test('a mayAnswer that throws refuses one request, is reported, and hides no other', async () => {
  const { agent, thread } = await askedInOffice(rule);
  const { model } = scriptedModel([]);
  const failures: string[] = [];
  const shaky = createAgent({
    model,
    name: 'shaky',
    mayAnswer: ({ request }) => {
      if (request.text === 'One?') throw new Error('The directory is down.');
      return true;
    },
  });
  shaky.on('setting-failed', ({ setting, kind }) => failures.push(`${setting} ${kind}`));
  const asked = await shaky.thread('s');
  await shaky.requestApproval(asked, { text: 'One?' });
  await shaky.requestApproval(asked, { text: 'Two?' });
  expect(await shaky.rights(asked, { principal: 'bob' })).toMatchObject([
    { mayAnswer: false, refusal: 'not-approver' },
    { mayAnswer: true },
  ]);
  expect(new Set(failures)).toEqual(new Set(['mayAnswer error']));
  expect(await agent.rights(thread, { principal: 'bob' })).toMatchObject([{ mayAnswer: true }]);
});

test('the widest standing approval that a person may ask for is that which the agent keeps', async () => {
  const remember = { scope: 'everyone', match: 'any' } as const;
  const { agent, thread } = await askedInOffice({ ...rule, remember });
  expect(await agent.rights(thread, { principal: 'bob' })).toMatchObject([
    { mayRemember: { scope: 'everyone', match: 'any' } },
  ]);
  const { model } = scriptedModel([{ calls: [pay('p1', 'Ann')] }]);
  const office = new AgentOffice();
  const forThread = createAgent({
    model,
    name: 'nobody-known',
    tools: { pay: office.pay },
    toolApproval: { pay: { ...rule, remember: { scope: 'principal', match: 'any' } } },
  });
  const nameless = await forThread.thread('t');
  await forThread.run('Pay', nameless);
  expect(await forThread.rights(nameless, { principal: 'bob' })).toMatchObject([
    { mayRemember: { scope: 'thread', match: 'any' } },
  ]);
});

test('who has voted under another name has the same rights above as in the sub-agent, and may reassign', async () => {
  const office = new AgentOffice();
  const people = { mayAnswer: () => true };
  const payer = office.payer('payer', [{ calls: [pay('p1', 'Ann')] }], {
    toolApproval: { pay: { type: 'user-approval', quorum: 2 } },
    ...people,
  });
  const tools = { payer: office.tool(payer) };
  const calls = [ask('m1', 'payer', 'Pay Ann.')];
  const manager = office.agent('manager', [{ calls }], { tools, ...people });
  const thread = await manager.thread('t');
  const { approvalRequests } = await manager.run('Pay Ann.', thread, { principal: 'ann' });
  const votes = approvalRequests.map((request) => request.approve());
  await manager.respond(votes, thread, { principal: 'bob' });
  const rights = { mayAnswer: false, refusal: 'already-voted', mayReassign: true };
  expect(await manager.rights(thread, { principal: 'BOB' })).toMatchObject([rights]);
});

test('the question never says yes where an answer is refused, nor no where it is accepted', async () => {
  await fc.assert(
    fc.asyncProperty(cases, async (played) => {
      expect(await findLies(played)).toEqual([]);
    }),
    { seed: 29, numRuns: countTrials(60), interruptAfterTimeLimit: 50_000 },
  );
});

/** A request before it is asked who may answer it. */
interface Asked {
  agent: Agent;
  thread: AgentThread;
  request: ApprovalRequestContent;
}

function describeAnswer(response: Parameters<MayAnswer>[0]['response']): string {
  if (response.type === 'question-response') return response.status;
  if (!response.approved) return 'reject';
  if (response.remember !== undefined) return 'remember';
  return response.input === undefined ? 'approve' : 'edit';
}

/** A `mayAnswer` that lets everybody answer, and notes what it is asked. */
function noteAsked() {
  const asked: string[] = [];
  const mayAnswer: MayAnswer = ({ principal, request, response }) => {
    const { approvers } = request.type === 'approval-request' ? request : {};
    asked.push(`${String(principal)} for ${String(approvers)}: ${describeAnswer(response)}`);
    return true;
  };
  return { asked, mayAnswer };
}

async function findAsked(terms: object, before: (at: Asked) => Promise<unknown> = async () => {}) {
  const { asked, mayAnswer } = noteAsked();
  const office = new AgentOffice();
  const agent = office.payer('payer', [{ calls: [pay('p1', 'Ann')] }], {
    toolApproval: { pay: { ...rule, ...terms } },
    mayAnswer,
  });
  const thread = await agent.thread('t');
  const [request] = (await agent.run('Pay Ann.', thread, { principal: 'ann' })).approvalRequests;
  if (request === undefined) throw new Error('Nothing was asked.');
  await before({ agent, thread, request });
  asked.length = 0;
  const [rights] = await agent.rights(thread, { principal: 'bob' });
  return { asked, rights };
}

describe('the rights of a person are found out by asking mayAnswer once about each answer in each right:', () => {
  test('a request that may be edited, remembered and reassigned', async () => {
    const remember = { scope: 'everyone', match: 'any' };
    const { asked, rights } = await findAsked({ editable: true, remember });
    expect(rights).toMatchObject({ mayEdit: true, mayRemember: remember, mayReassign: true });
    expect(asked.toSorted()).toEqual(
      ['approve', 'edit', 'reject', 'remember'].map((kind) => `bob for undefined: ${kind}`),
    );
  });

  test('one that others have approved', async () => {
    const { asked } = await findAsked({ quorum: 3, editable: true }, async (at) => {
      for (const principal of ['cy', 'dee'])
        await at.agent.respond(at.request.approve(), at.thread, { principal });
    });
    const own = ['approve', 'edit', 'reject'].map((kind) => `bob for undefined: ${kind}`);
    const votes = ['cy', 'dee'].map((name) => `${name} for undefined: approve`);
    expect(asked.toSorted()).toEqual([...own, ...votes]);
  });

  test("a sub-agent's, for the sub-agent's mayAnswer too", async () => {
    const [above, below] = [noteAsked(), noteAsked()];
    const office = new AgentOffice();
    const buyer = office.payer('buyer', [{ calls: [pay('b1', 'Ann')] }], {
      toolApproval: { pay: { ...rule, editable: true } },
      mayAnswer: below.mayAnswer,
    });
    const manager = office.agent('manager', [{ calls: [ask('m1', 'buy', 'Pay Ann.')] }], {
      tools: { buy: office.tool(buyer) },
      mayAnswer: above.mayAnswer,
    });
    const thread = await manager.thread('t');
    await manager.run('Pay Ann.', thread, { principal: 'ann' });
    expect(await manager.rights(thread, { principal: 'bob' })).toMatchObject([
      { mayEdit: true, mayReassign: true },
    ]);
    for (const { asked } of [above, below]) expect(asked).toHaveLength(new Set(asked).size);
  });
});
