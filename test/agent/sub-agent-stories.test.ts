import { tool } from 'ai';
import { type AgentThread, memoryStore, type ThreadStore } from 'holdpoint';
import { agentTool, askQuestion } from 'holdpoint/tools';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';
import { rechainedJson } from '../support/chained.ts';
import { errorCode } from '../support/error-code.ts';
import type { AgentCall } from '../../src/tools/agent-work.ts';

function buyerOf(office: AgentOffice) {
  return office.payer('buyer', [{ calls: [pay('p1', 'Ann')] }, { text: 'Paid.' }]);
}

/** The approver of a call. */
function approver({ approvedBy }: AgentCall<unknown>): unknown {
  return approvedBy?.principal;
}

const buys = [{ calls: [ask('b1', 'buy', 'Pay Ann.')] }, { text: 'Done.' }];

/** The JSON form of a thread, whose request was changed by somebody who knows how the log is chained. */
function forgeRequest(thread: AgentThread, forged: object): string {
  const json = JSON.stringify(thread, (_key, value: unknown) =>
    isRequest(value) ? { ...value, ...forged } : value,
  );
  return rechainedJson(json);
}

function isRequest(value: unknown): value is object {
  return value instanceof Object && Reflect.get(value, 'type') === 'approval-request';
}

test.each([
  ['another path', { path: [{ agent: 'buyer', toolCallId: 'b9', toolName: 'buy' }] }],
  ['another call', { toolCall: { toolCallId: 'p1', toolName: 'pay', input: { to: 'Bob' } } }],
  ['another digest', { digest: 'forged' }],
  ['another text', { text: 'Is it raining?' }],
])('an answer to a request that was shown with %s approves nothing', async (_what, forged) => {
  const office = new AgentOffice();
  const buy = office.tool(buyerOf(office));
  const manager = office.agent('manager', buys, { tools: { buy } });
  const thread = await manager.thread('t');
  await manager.run('Go.', thread);
  const other = office.agent('manager', [], { store: memoryStore(), tools: { buy } });
  const shown = await other.restore(forgeRequest(thread, forged));
  const [request] = shown.activeApprovalRequests;
  const answer = other.run(request?.approve() ?? [], shown);
  expect(await errorCode(answer)).toBe('answer-mismatch');
  expect(office.payments).toEqual([]);
});

test('an answer that names another agent’s request, or its digest, approves nothing', async () => {
  const office = new AgentOffice();
  const one = office.payer('one', [{ calls: [pay('p', 'Ann')] }, { text: '1' }]);
  const two = office.payer('two', [{ calls: [pay('p', 'Bob')] }, { text: '2' }]);
  const calls = [ask('c1', 'one', 'Ann'), ask('c2', 'two', 'Bob')];
  const tools = { one: office.tool(one), two: office.tool(two) };
  const manager = office.agent('manager', [{ calls }, { text: 'Done.' }], { tools });
  const thread = await manager.thread('t');
  const { approvalRequests } = await manager.run('Go.', thread);
  const [first, second] = approvalRequests;
  const inner = await one.thread(thread.calls[0]?.agent?.threadId ?? '');
  const [own] = inner.activeApprovalRequests;
  const base = { type: 'approval-response', approved: true } as const;
  const id = first?.requestId ?? '';
  for (const digest of [second?.digest ?? '', own?.digest ?? '']) {
    const answer = { ...base, requestId: id, digest };
    expect(await errorCode(manager.respond(answer, thread))).toBe('answer-mismatch');
  }
  const swapped = { ...base, requestId: id, toolCall: second?.toolCall };
  expect(await errorCode(manager.respond(swapped, thread))).toBe('answer-mismatch');
  for (const odd of ['__proto__', 'constructor', inner.id]) {
    const answer = { ...base, requestId: odd };
    expect(await errorCode(manager.respond(answer, thread))).toBe('not-found');
  }
  expect(office.payments).toEqual([]);
});

test('two siblings wait at the same time, with approvals and questions', async () => {
  const office = new AgentOffice();
  const question = { question: 'Which?' };
  const asker = office.agent(
    'asker',
    [{ calls: [{ id: 'q1', name: 'ask_question', input: question }] }, { text: 'Answered.' }],
    { tools: { ask_question: askQuestion() } },
  );
  const calls = [ask('c1', 'asker', 'Ask.'), ask('c2', 'buy', 'Pay.')];
  const tools = { asker: office.tool(asker), buy: office.tool(buyerOf(office)) };
  const manager = office.agent('manager', [{ calls }, { text: 'Done.' }], { tools });
  const thread = await manager.thread('t');
  const asked = await manager.run('Go.', thread);
  expect(asked.userInputRequests.map(({ type }) => type).toSorted()).toEqual([
    'approval-request',
    'question-request',
  ]);
  const form = asked.userInputRequests.find(({ type }) => type === 'question-request');
  const dismissed = {
    type: 'question-response',
    requestId: form?.requestId ?? '',
    status: 'dismissed',
  } as const;
  await manager.run(asked.approvalRequests[0]?.approve() ?? [], thread);
  expect(office.payments).toHaveLength(1);
  expect((await manager.run(dismissed, thread)).status).toBe('completed');
});

test('approving the outer call never approves an inner one', async () => {
  const office = new AgentOffice();
  const manager = office.agent('manager', buys, {
    tools: { buy: office.tool(buyerOf(office)) },
    toolApproval: { buy: 'user-approval' },
  });
  const thread = await manager.thread('t');
  const outer = await manager.run('Go.', thread);
  const inner = await manager.run(outer.approvalRequests[0]?.approve() ?? [], thread);
  expect(inner.approvalRequests).toMatchObject([{ toolCall: { toolName: 'pay' } }]);
  expect(office.payments).toEqual([]);
});

test.each([true, false])(
  'unless a rule says so, which learns that a person approved the outer call: %s',
  async (needsApproval) => {
    const office = new AgentOffice();
    const buyer = office.agent('buyer', [{ calls: [pay('p1', 'Ann')] }, { text: 'Paid.' }], {
      tools: { pay: office.pay },
      toolApproval: ({ runtimeContext }) =>
        Object.is(runtimeContext, 'ann') ? 'approved' : 'user-approval',
    });
    const buy = agentTool(buyer, { description: 'Buys.', runtimeContext: approver });
    const manager = office.agent('manager', buys, {
      tools: { buy },
      ...(needsApproval ? { toolApproval: { buy: 'user-approval' } } : {}),
    });
    const thread = await manager.thread('t');
    const { approvalRequests } = await manager.run('Go.', thread);
    const asked = needsApproval ? 'buy' : 'pay';
    expect(approvalRequests).toMatchObject([{ toolCall: { toolName: asked } }]);
    const approved = needsApproval ? (approvalRequests[0]?.approve() ?? []) : [];
    await manager.run(approved, thread, { principal: 'ann' });
    expect(office.payments).toHaveLength(needsApproval ? 1 : 0);
  },
);

test('depth is limited: eight agents above, and no more', async () => {
  const office = new AgentOffice();
  let below = office.agent('a9', [{ text: 'deepest' }]);
  for (let depth = 8; depth >= 0; depth -= 1) {
    const script = [{ calls: [ask(`c${depth}`, 'next', 'Deeper.')] }, { text: `at ${depth}` }];
    below = office.agent(`a${depth}`, script, { tools: { next: office.tool(below) } });
  }
  const thread = await below.thread('t');
  expect((await below.run('Go.', thread)).status).toBe('completed');
  expect(thread.calls).toMatchObject([{ outcome: { output: 'at 1' } }]);
});

test('an inner call whose outcome is unknown is settled in its own thread, and nothing starts twice', async () => {
  const office = new AgentOffice();
  let starts = 0;
  const broken = tool({
    inputSchema: z.object({}),
    execute: async () => {
      starts += 1;
      return new Promise(() => {});
    },
  });
  const calls = [{ id: 'x1', name: 'broken', input: {} }];
  const buyer = office.agent('buyer', [{ calls }, { text: 'Over.' }], {
    tools: { broken },
    timeout: { toolMs: 10 },
    abortGraceMs: 5,
  });
  const manager = office.agent('manager', buys, { tools: { buy: office.tool(buyer) } });
  const thread = await manager.thread('t');
  const response = await manager.run('Go.', thread);
  expect(response.status).toBe('waiting');
  expect(response.nextDeadline).toBeGreaterThan(0);
  const inner = await buyer.thread(thread.calls[0]?.agent?.threadId ?? '');
  expect(inner.status).toBe('indeterminate');
  await buyer.settle(inner, 'x1', { status: 'failed', error: 'It did not happen.' });
  expect((await manager.run([], thread)).status).toBe('completed');
  expect(starts).toBe(1);
});

test('an inner call that is settled with retry starts again once both agents let somebody approve it', async () => {
  const office = new AgentOffice();
  let starts = 0;
  const flaky = tool({
    inputSchema: z.object({}),
    execute: async () => {
      starts += 1;
      return starts > 1 ? 'done' : new Promise(() => {});
    },
  });
  const calls = [{ id: 'x1', name: 'flaky', input: {} }];
  const buyer = office.agent('buyer', [{ calls }, { text: 'Over.' }], {
    tools: { flaky },
    toolApproval: { flaky: 'user-approval' },
    timeout: { toolMs: 10 },
    abortGraceMs: 5,
  });
  const manager = office.agent('manager', buys, {
    tools: { buy: office.tool(buyer) },
    mayAnswer: ({ principal }) => principal === 'ann',
  });
  const thread = await manager.thread('t');
  const approve = async (principal: string) =>
    manager.run(
      thread.activeApprovalRequests.map((request) => request.approve()),
      thread,
      { principal },
    );
  await manager.run('Go.', thread);
  await approve('ann');
  const inner = await buyer.thread(thread.calls[0]?.agent?.threadId ?? '');
  await buyer.settle(inner, 'x1', { status: 'retry' }, { principal: 'eve' });
  const asked = await manager.run([], thread);
  expect(asked.approvalRequests).toMatchObject([{ path: [{ agent: 'buyer' }] }]);
  expect(await errorCode(approve('eve'))).toBe('not-allowed');
  expect(starts).toBe(1);
  expect(await approve('ann')).toMatchObject({ status: 'completed', userInputRequests: [] });
  expect(starts).toBe(2);
});

test('a parent that is aborted resumes where its agent was', async () => {
  const office = new AgentOffice();
  const stop = new AbortController();
  const note = tool({
    inputSchema: z.object({}),
    execute: () => {
      stop.abort(new Error('deployed'));
      return 'noted';
    },
  });
  const script = [{ calls: [{ id: 'n', name: 'note', input: {} }] }, { text: 'Noted.' }];
  const noter = office.agent('noter', script, { tools: { note } });
  const manager = office.agent('manager', buys, { tools: { buy: office.tool(noter) } });
  const thread = await manager.thread('t');
  await expect(manager.run('Go.', thread, { abortSignal: stop.signal })).rejects.toThrow(
    'deployed',
  );
  const again = await manager.thread('t');
  expect(await manager.run([], again)).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(again.calls).toMatchObject([{ outcome: { output: 'Noted.' } }]);
});

test('two copies of a thread share the work: one payment', async () => {
  const office = new AgentOffice();
  const buyer = buyerOf(office);
  const copyOf = (store: ThreadStore) =>
    office.agent('manager', [{ text: 'Done.' }], { store, tools: { buy: office.tool(buyer) } });
  const own = { store: memoryStore(), tools: { buy: office.tool(buyer) } };
  const manager = office.agent('manager', buys, own);
  const thread = await manager.thread('t');
  await manager.run('Go.', thread);
  const json: unknown = JSON.parse(JSON.stringify(thread));
  const agents = [copyOf(memoryStore()), copyOf(memoryStore())];
  const copies = await Promise.all(agents.map(async (agent) => agent.restore(json)));
  await Promise.all(
    agents.map(async (agent, index) => {
      const copy = copies[index] ?? thread;
      await agent.run(
        copy.activeApprovalRequests.map((request) => request.approve()),
        copy,
      );
    }),
  );
  for (const [index, agent] of agents.entries()) {
    const copy = copies[index] ?? thread;
    for (let turn = 0; turn < 3 && copy.status !== 'idle'; turn += 1) await agent.run([], copy);
    expect(copy.calls).toMatchObject([{ outcome: { output: 'Paid.' } }]);
  }
  expect(office.payments).toHaveLength(1);
});

test('an answer is recorded once in each thread, and the call above resumes from it', async () => {
  const base = memoryStore();
  const appends: string[] = [];
  const office = new AgentOffice({
    ...base,
    append: async (...input) => {
      await base.append(...input);
      appends.push(input[0] === 't' ? 'above' : 'below');
    },
  });
  const manager = office.agent('manager', buys, { tools: { buy: office.tool(buyerOf(office)) } });
  const thread = await manager.thread('t');
  const asked = await manager.run('Go.', thread);
  appends.length = 0;
  await manager.respond(asked.approvalRequests[0]?.approve() ?? [], thread);
  expect(appends).toEqual(['below', 'above']);
  expect(thread.status).toBe('due');
  appends.length = 0;
  await manager.run([], thread);
  /* Above: the call resumes, its result, and the reply. */
  expect(appends.filter((place) => place === 'above')).toHaveLength(3);
  expect(office.payments).toHaveLength(1);
  expect(thread.events.map(({ type }) => type)).not.toContain('answer-delivered');
});

test.each([
  ['', false],
  [', from a process that died then,', true],
])(
  'an answer that reaches an agent right after it stopped to wait%s is not forgotten',
  async (_from, dies) => {
    const base = memoryStore();
    let isDying = false;
    let meanwhile: (() => Promise<unknown>) | undefined;
    const office = new AgentOffice({
      ...base,
      append: async (...input) => {
        if (isDying && input[0] === 't') throw new Error('The process died.');
        await base.append(...input);
        const isStopping = input[0] !== 't' && JSON.stringify(input[2]).includes('run-ended');
        const work = isStopping ? meanwhile : undefined;
        if (work !== undefined) meanwhile = undefined;
        await work?.();
      },
    });
    const buyer = office.payer('buyer', [
      { calls: [pay('p1', 'Ann'), pay('p2', 'Bob')] },
      { text: 'Both.' },
    ]);
    const manager = office.agent('manager', buys, { tools: { buy: office.tool(buyer) } });
    const thread = await manager.thread('t');
    const asked = await manager.run('Go.', thread);
    const [first, second] = asked.approvalRequests;
    const other = await manager.thread('t');
    meanwhile = async () => {
      isDying = dies;
      const answering = manager.respond(second?.approve() ?? [], other);
      expect(await answering.then(() => 'recorded', String)).toMatch(dies ? 'died' : 'recorded');
      isDying = false;
    };
    const response = await manager.run(first?.approve() ?? [], thread);
    expect(response.status).toBe('completed');
    expect(office.payments.map(({ to }) => to).toSorted()).toEqual(['Ann', 'Bob']);
  },
);

test('a call that waits only when the cancellation is recorded is cancelled with its agent', async () => {
  const base = memoryStore();
  const office = new AgentOffice(base);
  const buyer = buyerOf(office);
  const tools = { buy: office.tool(buyer) };
  const manager = office.agent('manager', [{ calls: [], text: 'Hello.' }, ...buys], { tools });
  const thread = await manager.thread('t');
  await manager.run('Hello.', thread);
  const asked = await manager.requestApproval(thread, { text: 'Anything else?' });
  let meanwhile: (() => Promise<unknown>) | undefined = async () =>
    manager.run('Go.', await manager.thread('t'), { whilePending: 'cancel' });
  const slow = office.agent('manager', [], {
    tools,
    store: {
      ...base,
      append: async (...input) => {
        const work = meanwhile;
        meanwhile = undefined;
        await work?.();
        return base.append(...input);
      },
    },
  });
  await slow.cancel(await slow.thread('t'), 'Not now.');
  const after = await manager.thread('t');
  expect(after.calls).toMatchObject([{ status: 'failed' }]);
  const inner = await buyer.thread(after.calls[0]?.agent?.threadId ?? '');
  expect([inner.status, inner.activeRequests]).toEqual(['idle', []]);
  expect(asked.requestId).toBeDefined();
});
