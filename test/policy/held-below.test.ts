import { tool } from 'ai';
import {
  type Agent,
  type AgentThread,
  type MayAnswer,
  memoryStore,
  type RunOptions,
} from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';
import { askUserQuestion } from 'holdpoint/tools';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import type { ScriptedStep } from '../support/script.ts';
import { waitFor } from '../support/waiting.ts';
import { dyingStore } from '../tools/dying-store.ts';
import { database } from '../tools/seed-questions.ts';

/* A manager's sub-agent pays once the boss has approved it. Eve may only chat. */
const boss = { principal: 'boss' };
const eve = { principal: 'eve' };
const resumed = (by: object): RunOptions => ({ ...by, resumeStopped: true });
const instead = (by: object): RunOptions => ({ ...by, whilePending: 'cancel' });
const bossOnly: MayAnswer = ({ principal }) => principal === 'boss';

interface World {
  office: AgentOffice;
  buyer: Agent;
  manager: Agent;
  thread: AgentThread;
  child: () => Promise<AgentThread>;
}

/** A thread whose sub-agent's payment the boss has approved, and which has not begun. */
async function approved(
  above?: MayAnswer,
  below?: MayAnswer,
  now: () => number = Date.now,
): Promise<World> {
  const office = new AgentOffice();
  const calls = [{ calls: [pay('p1', 'ACME')] }, { text: 'Paid.' }, { text: 'Well.' }];
  const buyer = office.payer('buyer', calls, { mayAnswer: below, now });
  const delegates = [{ calls: [ask('b1', 'buy', 'Pay.')] }, { text: 'Done.' }, { text: 'Well.' }];
  const tools = { buy: office.tool(buyer) };
  const manager = office.agent('manager', delegates, { tools, mayAnswer: above, now });
  const thread = await manager.thread('t');
  await manager.run('Pay.', thread, eve);
  const child = async (): Promise<AgentThread> =>
    buyer.thread(thread.calls[0]?.agent?.threadId ?? '');
  const answers = thread.activeApprovalRequests.map((request) => request.approve());
  expect(answers).toHaveLength(1);
  await manager.respond(answers, thread, boss);
  return { office, buyer, manager, thread, child };
}

const held = ({ calls }: AgentThread) =>
  calls.filter((call) => call.held === true).map(({ toolCallId }) => toolCallId);

describe.each([
  ['above', bossOnly, undefined],
  ['below', undefined, bossOnly],
])('where the agent %s lets the boss answer alone', (_where, above, below) => {
  test('a stop of Eve’s holds the sub-agent’s approved call, and none but the boss releases it', async () => {
    const { office, buyer, manager, thread, child } = await approved(above, below);
    await manager.stop(thread, eve);
    expect(held(await child())).toEqual(['p1']);
    expect((await child()).decisions).toMatchObject([{ status: 'approved', principal: 'boss' }]);
    await manager.run([], thread, eve);
    await buyer.run([], await child());
    await buyer.run([], await child(), { onlyWhenDue: true });
    expect(await errorCode(manager.run([], thread, resumed(eve)))).toBe('not-allowed');
    expect(await errorCode(manager.run([], thread, resumed({})))).toBe('not-allowed');
    expect(await errorCode(manager.cancel(thread, 'No.', eve))).toBe('not-allowed');
    expect(await errorCode(manager.run('Hello', thread, { ...eve, whilePending: 'cancel' }))).toBe(
      'not-allowed',
    );
    const away = { status: 'failed', error: 'Gone.' } as const;
    expect(await errorCode(manager.deliver(thread, 'b1', away, eve))).toBe('not-allowed');
    await manager.run([], thread, eve);
    expect(office.payments).toEqual([]);
    expect(held(await child())).toEqual(['p1']);
    expect(thread).toMatchObject({ status: 'waiting', nextDeadline: undefined });
    await manager.run([], thread, resumed(boss));
    expect(office.payments).toMatchObject([{ to: 'ACME' }]);
    expect(thread.events.at(-1)).toMatchObject({ type: 'run-ended' });
    const named = { type: 'approvals-released', principal: 'boss', person: 'boss' };
    for (const { events } of [thread, await child()])
      expect(events.find(({ type }) => type === 'approvals-released')).toMatchObject(named);
    expect(thread.calls).toMatchObject([{ status: 'succeeded', outcome: { output: 'Paid.' } }]);
  });

  test('Eve does not cancel the sub-agent’s approved call before it begins, and the boss does', async () => {
    const { office, manager, thread, child } = await approved(above, below);
    const before = JSON.stringify([thread, await child()]);
    for (const by of [eve, {}])
      expect(await errorCode(manager.cancel(thread, 'No.', by))).toBe('not-allowed');
    expect(JSON.stringify([thread, await child()])).toBe(before);
    await manager.cancel(thread, 'No.', boss);
    expect((await child()).decisions).toMatchObject([
      { status: 'cancelled', closedBy: { principal: 'boss' } },
    ]);
    await manager.run([], thread);
    expect(office.payments).toEqual([]);
  });

  test('Eve’s message does not cancel the sub-agent’s approved call before it begins, and the boss’s does', async () => {
    const { office, manager, thread, child } = await approved(above, below);
    const before = JSON.stringify([thread, await child()]);
    for (const by of [eve, {}])
      expect(await errorCode(manager.run('Other', thread, instead(by)))).toBe('not-allowed');
    expect(JSON.stringify([thread, await child()])).toBe(before);
    await manager.run('Other', thread, instead(boss));
    expect((await child()).decisions).toMatchObject([{ status: 'cancelled' }]);
    expect(office.payments).toEqual([]);
  });

  test('nobody releases or cancels it in the sub-agent’s own thread, where the agents above can’t be asked', async () => {
    const { office, buyer, manager, thread, child } = await approved(above, below);
    expect(await errorCode(buyer.cancel(await child(), 'No.', boss))).toBe('not-allowed');
    await manager.stop(thread, eve);
    const before = JSON.stringify([thread, await child()]);
    for (const by of [eve, boss]) {
      expect(await errorCode(buyer.run([], await child(), resumed(by)))).toBe('not-allowed');
      expect(await errorCode(buyer.cancel(await child(), 'No.', by))).toBe('not-allowed');
    }
    expect(JSON.stringify([thread, await child()])).toBe(before);
    expect(office.payments).toEqual([]);
  });

  test('another process holds it, too, and releases it for the boss', async () => {
    const { office, manager, thread, child } = await approved(above, below);
    await manager.stop(thread, eve);
    const again = office.payer('buyer', [{ text: 'Paid.' }], { mayAnswer: below });
    const tools = { buy: office.tool(again) };
    const other = office.agent('manager', [{ text: 'Done.' }], { tools, mayAnswer: above });
    const elsewhere = await other.thread('t');
    await again.run([], await again.thread((await child()).id), { onlyWhenDue: true });
    await other.run([], elsewhere, { onlyWhenDue: true });
    await other.run([], elsewhere, eve);
    expect(await errorCode(other.run([], elsewhere, resumed(eve)))).toBe('not-allowed');
    expect(office.payments).toEqual([]);
    await other.run([], elsewhere, resumed(boss));
    expect(office.payments).toHaveLength(1);
  });

  test('the app deletes the thread all the same', async () => {
    const { office, manager, thread, child } = await approved(above, below);
    await manager.stop(thread, eve);
    await manager.delete(thread);
    expect((await child()).calls).toMatchObject([{ status: 'denied' }]);
    expect(office.payments).toEqual([]);
  });
});

const asking = { id: 'q', name: 'ask', input: { questions: [database] } };
const questionsForAll: MayAnswer = ({ principal, request }) =>
  principal === 'boss' || request.type === 'question-request';

/** The thread of a manager who delegates a payment, which the boss has approved; one of the two agents also asks a question. */
async function asked(
  who: 'manager' | 'buyer',
  above: MayAnswer | undefined,
  below?: MayAnswer,
): Promise<Omit<World, 'child'> & { dismiss: (by: object) => Promise<unknown> }> {
  const office = new AgentOffice();
  const beside = (agent: 'manager' | 'buyer') => (agent === who ? [asking] : []);
  const buyer = office.payer('buyer', [{ calls: [pay('p1', 'ACME'), ...beside('buyer')] }], {
    tools: { pay: office.pay, ask: askUserQuestion() },
    mayAnswer: below,
  });
  const calls = [ask('b1', 'buy', 'Pay.'), ...beside('manager')];
  const tools = { buy: office.tool(buyer), ask: askUserQuestion() };
  const options = { tools, mayAnswer: above };
  const manager = office.agent('manager', [{ calls }, { text: 'Done.' }], options);
  const thread = await manager.thread('t');
  await manager.run('Pay.', thread, eve);
  const answers = thread.activeApprovalRequests.map((request) => request.approve());
  await manager.respond(answers, thread, boss);
  const [question] = thread.activeRequests;
  const { requestId = '' } = question ?? {};
  const dismissal = { type: 'question-response', requestId, status: 'dismissed' } as const;
  const dismiss = async (by: object) => manager.run(dismissal, thread, by);
  return { office, buyer, manager, thread, dismiss };
}

describe.each([
  ['above', questionsForAll, undefined],
  ['below', undefined, questionsForAll],
])('a dismissed question, where the agent %s lets Eve answer only that', (_where, above, below) => {
  test('of the manager does not end the sub-agent’s approved call for Eve, and does for the boss', async () => {
    const { office, thread, dismiss } = await asked('manager', above, below);
    const before = JSON.stringify(thread);
    expect(await errorCode(dismiss(eve))).toBe('not-allowed');
    expect(JSON.stringify(thread)).toBe(before);
    await dismiss(boss);
    expect(thread.decisions[0]).toMatchObject({ status: 'approved' });
    expect(thread.calls[0]).toMatchObject({ toolCallId: 'b1', status: 'failed' });
    expect(office.payments).toEqual([]);
  });

  test('of the sub-agent holds its approved call for Eve, and the boss has it made', async () => {
    const { office, buyer, manager, thread, dismiss } = await asked('buyer', above, below);
    await dismiss(eve);
    const child = await buyer.thread(thread.calls[0]?.agent?.threadId ?? '');
    expect(held(child)).toEqual(['p1']);
    await manager.run([], thread, eve);
    expect(await errorCode(manager.run([], thread, resumed(eve)))).toBe('not-allowed');
    expect(office.payments).toEqual([]);
    await manager.run([], thread, resumed(boss));
    expect(office.payments).toHaveLength(1);
  });

  test('of the sub-agent does not end its open request for Eve', async () => {
    const office = new AgentOffice();
    const buyer = office.payer('buyer', [{ calls: [pay('p1', 'ACME'), asking] }], {
      tools: { pay: office.pay, ask: askUserQuestion() },
      mayAnswer: below,
    });
    const tools = { buy: office.tool(buyer) };
    const script = [{ calls: [ask('b1', 'buy', 'Pay.')] }];
    const manager = office.agent('manager', script, { tools, mayAnswer: above });
    const thread = await manager.thread('t');
    await manager.run('Pay.', thread, eve);
    const requestId =
      thread.activeRequests.find(({ type }) => type === 'question-request')?.requestId ?? '';
    const dismissal = { type: 'question-response', requestId, status: 'dismissed' } as const;
    expect(await errorCode(manager.run(dismissal, thread, eve))).toBe('not-allowed');
    expect(thread.activeApprovalRequests).toHaveLength(1);
  });
});

test('a process that dies once the sub-agent has recorded a release loses none: the boss resumes again', async () => {
  const { office, buyer, manager, thread, child } = await approved(bossOnly, bossOnly);
  await manager.stop(thread, eve);
  const { append } = office.store;
  const stopListening = buyer.on('approvals-released', () => {
    stopListening();
    office.store.append = async () => Promise.reject(new Error('The process is gone.'));
  });
  await manager.run([], thread, resumed(boss)).catch(() => {});
  office.store.append = append;
  await manager.run([], thread, eve);
  expect(office.payments).toEqual([]);
  expect(held(await child())).toEqual(['p1']);
  await manager.run([], thread, resumed(boss));
  expect(office.payments).toHaveLength(1);
});

test('a stop holds what is approved above a sub-agent that can’t be reached, and says that it can’t', async () => {
  const below = memoryStore();
  const office = new AgentOffice();
  const calls = [ask('b1', 'buy', 'Pay.'), pay('p2', 'ACME')];
  const store = { ...below };
  const buyer = office.payer('buyer', [{ calls: [pay('p1', 'ACME')] }], { store });
  const tools = { buy: office.tool(buyer), pay: office.pay };
  const manager = office.payer('manager', [{ calls }], { tools });
  const thread = await manager.thread('t');
  await manager.run('Pay.', thread, eve);
  const own = thread.activeApprovalRequests.filter(({ path }) => path === undefined);
  await manager.respond(
    own.map((request) => request.approve()),
    thread,
    boss,
  );
  store.read = async () => Promise.reject(new Error('The store is down.'));
  await expect(manager.stop(thread, eve)).rejects.toThrow('The store is down.');
  expect(held(thread)).toEqual(['p2']);
});

test.each([1, 2])(
  'where the process dies at append %i of a stop, nothing starts that the log says is stopped',
  async (point) => {
    const { office, thread: stopped } = await approved(bossOnly);
    const kept = { ...office.store };
    const dying = new AgentOffice(dyingStore(kept, point, 'after').store);
    const tools = { buy: dying.tool(dying.payer('buyer', [])) };
    const manager = dying.agent('manager', [], { tools, mayAnswer: bossOnly });
    await manager.stop(await manager.thread('t'), eve).catch(() => {});

    const worker = new AgentOffice(kept);
    const buyer = worker.payer('buyer', [{ text: 'Paid.' }]);
    const child = await buyer.thread(stopped.calls[0]?.agent?.threadId ?? '');
    await buyer.run([], child);
    expect(worker.payments).toEqual([]);
    expect(held(child)).toEqual(['p1']);
  },
);

test('the boss cancels it, too, where the process died that had resumed the sub-agent, and nobody else does', async () => {
  let time = Date.now();
  const now = (): number => time;
  const { office, manager: dying, thread: lost, child } = await approved(bossOnly, bossOnly, now);
  const kept = { ...office.store };
  const process = dyingStore(kept, Infinity, 'before');
  Object.assign(office.store, process.store);
  dying.on('call-started', process.die);
  await dying.run([], lost).catch(() => {});
  Object.assign(office.store, kept);
  time += 3_600_000;

  const next = new AgentOffice(kept);
  const options = { mayAnswer: bossOnly, now };
  const tools = { buy: next.tool(next.payer('buyer', [{ text: 'Well.' }], options)) };
  const manager = next.agent('manager', [{ text: 'Well.' }], { ...options, tools });
  const thread = await manager.thread('t');
  expect(thread.calls).toMatchObject([{ toolCallId: 'b1', status: 'indeterminate' }]);
  expect(await errorCode(manager.cancel(thread, 'No.', eve))).toBe('not-allowed');
  await manager.cancel(thread, 'No.', boss);
  await manager.run([], thread);
  expect((await child()).decisions).toMatchObject([
    { status: 'cancelled', closedBy: { principal: 'boss' } },
  ]);
  expect([...office.payments, ...next.payments]).toEqual([]);
});

const reconcile = async () => ({ status: 'succeeded', output: 'Slow.' }) as const;

test('the boss cancels it, too, where the process died in which the sub-agent was at work for the first time', async () => {
  let time = Date.now();
  const now = (): number => time;
  const options = { mayAnswer: bossOnly, now };
  const kept = memoryStore();
  const process = dyingStore(kept, Infinity, 'before');
  const calls = [{ id: 's1', name: 'slow', input: {} }, pay('p1', 'ACME')];
  const slow = tool({
    inputSchema: z.object({}),
    execute: async () => new Promise<string>(() => {}),
  });
  /** The manager of a process, and whether its sub-agent could find out what became of the slow call. */
  const begin = (office: AgentOffice, script: ScriptedStep[]): Agent => {
    const buyer = office.payer('buyer', script, {
      ...options,
      tools: { slow, pay: office.pay },
      toolRecovery: { slow: { reconcile } },
    });
    const delegates = [{ calls: [ask('b1', 'buy', 'Pay.')] }];
    return office.agent('manager', delegates, { ...options, tools: { buy: office.tool(buyer) } });
  };
  const dying = begin(new AgentOffice(process.store), [{ calls }]);
  const lost = await dying.thread('t');
  void dying.run('Pay.', lost, eve).catch(() => {});
  await waitFor(() => expect(lost.activeApprovalRequests).toHaveLength(1));
  process.die();

  const next = new AgentOffice(kept);
  const manager = begin(next, [{ text: 'Paid.' }]);
  const thread = await manager.thread('t');
  await manager.respond(
    thread.activeApprovalRequests.map((request) => request.approve()),
    thread,
    boss,
  );
  time += 3_600_000;
  expect(thread.calls).toMatchObject([{ toolCallId: 'b1', status: 'indeterminate' }]);
  expect(await errorCode(manager.cancel(thread, 'No.', eve))).toBe('not-allowed');
  await manager.cancel(thread, 'No.', boss);
  expect(thread.calls).toMatchObject([
    {
      status: 'failed',
      outcome: { error: expect.stringContaining("Agent 'buyer' was cancelled") },
    },
  ]);
  await manager.run([], thread).catch(() => {});
  expect(next.payments).toEqual([]);
});

test('a cancellation takes back what is approved below a call whose sub-agent is at work', async () => {
  const { office, manager: working, thread: resumedThread, child } = await approved(bossOnly);
  const { id } = await child();
  const kept = { ...office.store };
  const [begins, goesOn] = [Promise.withResolvers<unknown>(), Promise.withResolvers<unknown>()];
  office.store.append = async (...input) => {
    if (input[0] === id) {
      begins.resolve(undefined);
      await goesOn.promise;
    }
    return kept.append(...input);
  };
  const running = working.run([], resumedThread);
  await begins.promise;

  const elsewhere = new AgentOffice(kept);
  const tools = { buy: elsewhere.tool(elsewhere.payer('buyer', [])) };
  const manager = elsewhere.agent('manager', [], { tools, mayAnswer: bossOnly });
  const thread = await manager.thread('t');
  expect(await errorCode(manager.cancel(thread, 'No.', eve))).toBe('not-allowed');
  await manager.cancel(thread, 'No.', boss);
  goesOn.resolve(undefined);
  await running;
  expect(office.payments).toEqual([]);
  expect(await child()).toMatchObject({
    calls: [{ toolCallId: 'p1', outcome: { status: 'denied', reason: 'No.' } }],
    decisions: [{ status: 'cancelled', closedBy: { principal: 'boss' } }],
  });
});

test('a cancellation ends no call whose sub-agent is at work', async () => {
  const office = new AgentOffice();
  const [begins, replies] = [Promise.withResolvers<unknown>(), Promise.withResolvers<unknown>()];
  let steps = 0;
  const { model } = scriptedModel(async () => {
    steps += 1;
    if (steps === 1) return { calls: [pay('p1', 'ACME')] };
    begins.resolve(undefined);
    await replies.promise;
    return { text: 'Paid.' };
  });
  const tools = { buy: office.tool(office.payer('buyer', [], { model })) };
  const delegates = [{ calls: [ask('b1', 'buy', 'Pay.')] }, { text: 'Done.' }];
  const manager = office.agent('manager', delegates, { tools, mayAnswer: bossOnly });
  const thread = await manager.thread('t');
  const { approvalRequests } = await manager.run('Pay.', thread, eve);
  const approvals = approvalRequests.map((request) => request.approve());
  const running = manager.run(approvals, thread, boss);
  await begins.promise;
  await manager.cancel(await manager.thread('t'), 'No.', boss);
  replies.resolve(undefined);
  await running;
  const ends = thread.events.flatMap((event) => (event.type === 'call-ended' ? event.outcome : []));
  expect(ends).toMatchObject([{ status: 'succeeded', output: 'Paid.' }]);
});

const small: MayAnswer = ({ principal, request }) =>
  principal === 'boss' ||
  (request.type === 'approval-request' && request.toolCall?.toolCallId === 'p1');

test('a cancellation ends nothing that a sub-agent at work asks afterwards', async () => {
  const office = new AgentOffice();
  const looked = Promise.withResolvers<string>();
  const look = tool({ inputSchema: z.object({}), execute: async () => looked.promise });
  const payer = office.payer('payer', [{ calls: [pay('p2', 'ACME')] }, { text: 'Paid.' }]);
  const calls = [
    { id: 'l1', name: 'look', input: {} },
    pay('p1', 'Ann'),
    ask('x1', 'have', 'Pay.'),
  ];
  const buyer = office.payer('buyer', [{ calls }, { text: 'One.' }], {
    tools: { look, pay: office.pay, have: office.tool(payer) },
    toolCallConcurrency: 1,
  });
  const tools = { buy: office.tool(buyer) };
  const script = [{ calls: [ask('b1', 'buy', 'Pay.')] }, { text: 'Done.' }];
  const manager = office.agent('manager', script, { tools, mayAnswer: small });
  const thread = await manager.thread('t');
  const running = manager.run('Pay.', thread, eve);
  await waitFor(() => expect(thread.activeApprovalRequests).toHaveLength(1));
  await manager.cancel(thread, 'No.', eve);
  looked.resolve('Cheap.');
  const { approvalRequests } = await running;
  expect(approvalRequests).toMatchObject([{ toolCall: { toolCallId: 'p2' } }]);
  expect(await errorCode(manager.cancel(thread, 'No.', eve))).toBe('not-allowed');
  const paid = approvalRequests.map((request) => request.approve());
  expect(await manager.run(paid, thread, boss)).toMatchObject({ text: 'Done.' });
  expect(office.payments).toMatchObject([{ to: 'ACME' }]);
  const child = await buyer.thread(thread.calls[0]?.agent?.threadId ?? '');
  expect(child.decisions).toMatchObject([
    { status: 'cancelled', closedBy: { principal: 'eve' } },
    { status: 'approved', principal: 'boss' },
  ]);
});

test('three levels deep, a stop holds the approved call, and the boss releases it from above', async () => {
  const office = new AgentOffice();
  const payer = office.payer('payer', [{ calls: [pay('p1', 'ACME')] }, { text: 'Paid.' }], {
    mayAnswer: bossOnly,
  });
  const buyer = office.agent(
    'buyer',
    [{ calls: [ask('a1', 'act', 'Pay.')] }, { text: 'Bought.' }],
    {
      tools: { act: office.tool(payer) },
    },
  );
  const manager = office.agent(
    'manager',
    [{ calls: [ask('b1', 'buy', 'Pay.')] }, { text: 'Done.' }],
    {
      tools: { buy: office.tool(buyer) },
    },
  );
  const thread = await manager.thread('t');
  await manager.run('Pay.', thread, eve);
  const answers = thread.activeApprovalRequests.map((request) => request.approve());
  await manager.respond(answers, thread, boss);
  await manager.stop(thread, eve);
  expect(await errorCode(manager.run([], thread, resumed(eve)))).toBe('not-allowed');
  expect(await errorCode(manager.cancel(thread, '', eve))).toBe('not-allowed');
  await manager.run([], thread, eve);
  expect(office.payments).toEqual([]);
  await manager.run([], thread, resumed(boss));
  expect(office.payments).toHaveLength(1);
});
