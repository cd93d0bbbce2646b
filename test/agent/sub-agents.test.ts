import { memoryStore } from 'holdpoint';
import { runWorker } from 'holdpoint/worker';
import { expect, test } from 'vitest';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';
import { errorCode } from '../support/error-code.ts';
import { waitFor } from '../support/waiting.ts';

/** A manager whose buyer pays: two levels. */
function managerAndBuyer(office = new AgentOffice()) {
  const buyer = office.payer('buyer', [
    { calls: [pay('p1', 'Ann')] },
    { text: 'Ann has her money.' },
  ]);
  const manager = office.agent(
    'manager',
    [{ calls: [ask('b1', 'buy', 'Pay Ann.')] }, { text: 'Done.' }],
    {
      tools: { buy: office.tool(buyer) },
    },
  );
  return { office, buyer, manager };
}

test('an approval of an agent that works for another is asked in the thread of the call, and answered there', async () => {
  const { office, manager } = managerAndBuyer();
  const thread = await manager.thread('t');
  const asked = await manager.run('See to it that Ann is paid.', thread);
  expect(asked.status).toBe('waiting');
  expect(asked.approvalRequests).toMatchObject([
    {
      threadId: 't',
      toolCall: { toolName: 'pay', input: { to: 'Ann' } },
      path: [{ agent: 'buyer', toolCallId: 'b1', toolName: 'buy' }],
    },
  ]);
  expect(office.payments).toEqual([]);

  const response = await manager.run(
    asked.approvalRequests.map((request) => request.approve()),
    thread,
  );
  expect(response).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(office.payments).toMatchObject([{ to: 'Ann' }]);
  expect(thread.calls).toMatchObject([
    { status: 'succeeded', outcome: { output: 'Ann has her money.' }, agent: { name: 'buyer' } },
  ]);
  expect(thread.activeRequests).toEqual([]);
});

test('a rejection reaches the agent that asked', async () => {
  const { office, buyer, manager } = managerAndBuyer();
  const thread = await manager.thread('t');
  const asked = await manager.run('Pay Ann.', thread);
  await manager.run(
    asked.approvalRequests.map((request) => request.reject('Not Ann.')),
    thread,
  );
  expect(office.payments).toEqual([]);
  const [call] = thread.calls;
  const inner = await buyer.thread(call?.agent?.threadId ?? '');
  expect(inner.calls).toMatchObject([{ status: 'denied', outcome: { reason: 'Not Ann.' } }]);
});

test('a worker passes an answer on that was recorded elsewhere', async () => {
  const store = memoryStore();
  const office = new AgentOffice(store);
  const { manager } = managerAndBuyer(office);
  const thread = await manager.thread('t');
  const asked = await manager.run('Pay Ann.', thread);
  await manager.respond(
    asked.approvalRequests.map((request) => request.approve()),
    thread,
  );
  const stop = new AbortController();
  const working = runWorker({ agent: manager, store, signal: stop.signal, pollMs: 10 });
  await waitFor(async () => expect((await manager.thread('t')).status).toBe('idle'));
  stop.abort();
  await working;
  expect(office.payments).toHaveLength(1);
});

test('three levels: the path names each agent on the way', async () => {
  const office = new AgentOffice();
  const payer = office.payer('payer', [{ calls: [pay('p1', 'Ann')] }, { text: 'Paid.' }]);
  const buyer = office.agent(
    'buyer',
    [{ calls: [ask('c2', 'payments', 'Ann')] }, { text: 'Bought.' }],
    {
      tools: { payments: office.tool(payer) },
    },
  );
  const manager = office.agent(
    'manager',
    [{ calls: [ask('c1', 'buy', 'Ann')] }, { text: 'Done.' }],
    {
      tools: { buy: office.tool(buyer) },
    },
  );
  const thread = await manager.thread('t');
  const asked = await manager.run('Pay Ann.', thread);
  expect(asked.approvalRequests).toMatchObject([
    {
      path: [
        { agent: 'buyer', toolName: 'buy' },
        { agent: 'payer', toolName: 'payments' },
      ],
    },
  ]);
  const answers = asked.approvalRequests.map((request) => request.approve());
  expect(await manager.run(answers, thread)).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(office.payments).toHaveLength(1);
});

test('two siblings wait at the same time, and each answer reaches its own', async () => {
  const office = new AgentOffice();
  const one = office.payer('one', [{ calls: [pay('p', 'Ann')] }, { text: 'Ann paid.' }]);
  const two = office.payer('two', [{ calls: [pay('p', 'Bob')] }, { text: 'Bob not paid.' }]);
  const calls = [ask('c1', 'one', 'Ann'), ask('c2', 'two', 'Bob')];
  const manager = office.agent('manager', [{ calls }, { text: 'Done.' }], {
    tools: { one: office.tool(one), two: office.tool(two) },
  });
  const thread = await manager.thread('t');
  const asked = await manager.run('Pay both.', thread);
  expect(asked.approvalRequests).toHaveLength(2);
  const ofOne = asked.approvalRequests.find(({ path }) => path?.[0]?.agent === 'one');
  const ofTwo = asked.approvalRequests.find(({ path }) => path?.[0]?.agent === 'two');
  const between = await manager.run(ofOne?.approve() ?? [], thread);
  expect(between.approvalRequests.map(({ requestId }) => requestId)).toEqual([ofTwo?.requestId]);
  expect(office.payments).toMatchObject([{ to: 'Ann' }]);
  expect(await manager.run(ofTwo?.reject() ?? [], thread)).toMatchObject({ status: 'completed' });
  expect(office.payments).toHaveLength(1);
  expect(thread.calls.map(({ outcome }) => outcome)).toMatchObject([
    { output: 'Ann paid.' },
    { output: 'Bob not paid.' },
  ]);
});

test('nobody can answer, or send a message, in the thread in which an agent works on a call', async () => {
  const { buyer, manager } = managerAndBuyer();
  const thread = await manager.thread('t');
  await manager.run('Pay Ann.', thread);
  const inner = await buyer.thread(thread.calls[0]?.agent?.threadId ?? '');
  const answers = inner.activeApprovalRequests.map((request) => request.approve());
  expect(await errorCode(buyer.run(answers, inner))).toBe('not-allowed');
  expect(await errorCode(buyer.respond(answers, inner))).toBe('not-allowed');
  expect(await errorCode(buyer.run('Hurry.', inner))).toBe('not-allowed');
});

test('the cancellation of a call cancels the work on it', async () => {
  const { buyer, manager } = managerAndBuyer();
  const thread = await manager.thread('t');
  await manager.run('Pay Ann.', thread);
  const inner = await buyer.thread(thread.calls[0]?.agent?.threadId ?? '');
  await manager.cancel(thread, 'No longer needed.');
  const after = await buyer.thread(inner.id);
  expect(after).toMatchObject({ status: 'idle', activeRequests: [], nextDeadline: undefined });
  expect(thread.calls).toMatchObject([{ status: 'failed' }]);
});

test('an agent can not work for itself', async () => {
  const office = new AgentOffice();
  const looper = office.agent('looper', [{ calls: [ask('c1', 'again', 'x')] }, { text: 'Over.' }], {
    tools: { again: office.tool(office.agent('looper', [])) },
  });
  const thread = await looper.thread('t');
  await looper.run('Go.', thread);
  expect(thread.calls).toMatchObject([
    { status: 'failed', outcome: { error: expect.stringContaining('looper > looper') } },
  ]);
});

test('a sub-agent keeps its first message, even if the app would write another one later', async () => {
  const office = new AgentOffice();
  const buyer = office.payer('buyer', [
    { calls: [pay('p1', 'Ann')] },
    { text: 'Ann has her money.' },
  ]);
  let made = 0;
  const prompt = (): string => `Pay Ann. This is message ${(made += 1)}.`;
  const manager = office.agent(
    'manager',
    [{ calls: [ask('b1', 'buy', 'Pay Ann.')] }, { text: 'Done.' }],
    { tools: { buy: office.tool(buyer, { prompt }) } },
  );
  const thread = await manager.thread('t');
  const asked = await manager.run('See to it that Ann is paid.', thread, { principal: 'ada' });
  const answers = asked.approvalRequests.map((request) => request.approve());
  const response = await manager.run(answers, thread, { principal: 'ben' });
  expect([response.text, made > 1, office.payments.length]).toEqual(['Done.', true, 1]);
  const child = await buyer.thread(thread.calls[0]?.agent?.threadId ?? '');
  expect(child.messages[0]).toMatchObject({ content: 'Pay Ann. This is message 1.' });
});
