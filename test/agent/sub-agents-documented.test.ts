import { tool } from 'ai';
import { later } from 'holdpoint';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';
import { errorCode } from '../support/error-code.ts';
import type { ScriptedStep } from '../support/script.ts';

const paying: ScriptedStep[] = [{ calls: [pay('p1', 'Ann')] }, { text: 'Paid.' }];
const buying: ScriptedStep[] = [{ calls: [ask('b1', 'buy', 'Pay Ann.')] }, { text: 'Done.' }];

test('a rule for the agent tool decides about its call alone: the inner call is asked about all the same', async () => {
  const office = new AgentOffice();
  const buyer = office.payer('buyer', paying);
  const manager = office.agent('manager', buying, {
    tools: { buy: office.tool(buyer) },
    toolApproval: { buy: 'user-approval' },
  });
  const thread = await manager.thread('t');
  const asked = await manager.run('Go.', thread);
  expect(asked.approvalRequests).toMatchObject([{ toolCall: { toolName: 'buy' } }]);
  expect(asked.approvalRequests[0]?.path).toBeUndefined();
  const next = await manager.run(asked.approvalRequests[0]?.approve() ?? [], thread);
  expect(next.approvalRequests).toMatchObject([
    { toolCall: { toolName: 'pay' }, path: [{ agent: 'buyer' }] },
  ]);
  expect(office.payments).toEqual([]);
  await manager.run(next.approvalRequests[0]?.approve() ?? [], thread);
  expect(office.payments).toHaveLength(1);
});

test.each(['manager', 'buyer'])(
  'an answer that mayAnswer of the %s refuses is not recorded',
  async (name) => {
    const office = new AgentOffice();
    const mayAnswer = {
      mayAnswer: ({ principal }: { principal: unknown }) => principal === 'boss',
    };
    const buyer = office.payer('buyer', paying, name === 'buyer' ? mayAnswer : {});
    const manager = office.agent('manager', buying, {
      tools: { buy: office.tool(buyer) },
      ...(name === 'manager' ? mayAnswer : {}),
    });
    const thread = await manager.thread('t');
    const { approvalRequests } = await manager.run('Go.', thread, { principal: 'ann' });
    const answers = approvalRequests.map((request) => request.approve());
    expect(await errorCode(manager.run(answers, thread, { principal: 'ann' }))).toBe('not-allowed');
    expect(thread.activeRequests).toHaveLength(1);
    expect(office.payments).toEqual([]);
    await manager.run(answers, thread, { principal: 'boss' });
    expect(office.payments).toHaveLength(1);
  },
);

test('a new message with `whilePending: cancel` cancels the sub-agent', async () => {
  const office = new AgentOffice();
  const buyer = office.payer('buyer', paying);
  const manager = office.agent('manager', [...buying, { text: 'All right.' }], {
    tools: { buy: office.tool(buyer) },
  });
  const thread = await manager.thread('t');
  const { approvalRequests } = await manager.run('Go.', thread);
  const response = await manager.run('Never mind.', thread, { whilePending: 'cancel' });
  expect(response.status).toBe('completed');
  const child = await buyer.thread(thread.calls[0]?.agent?.threadId ?? '');
  expect(child).toMatchObject({ status: 'idle', activeRequests: [] });
  const late = approvalRequests.map((request) => request.approve());
  expect(await errorCode(manager.respond(late, thread))).toBe('request-closed');
  expect(office.payments).toEqual([]);
});

test('a list by the name of the outermost agent has each request once', async () => {
  const office = new AgentOffice();
  const manager = office.agent('manager', buying, {
    tools: { buy: office.tool(office.payer('buyer', paying)) },
  });
  await manager.run('Go.', await manager.thread('t'));
  const { store } = office;
  expect(await store.list({ status: 'waiting' })).toHaveLength(2);
  expect(await store.list({ agent: 'manager', status: 'waiting' })).toMatchObject([
    { threadId: 't', openRequests: 1 },
  ]);
});

test('a result from elsewhere is delivered to the child thread, and the call is resumed within a minute', async () => {
  const office = new AgentOffice();
  let now = Date.now();
  const clock = { now: () => now };
  const elsewhere = tool({ inputSchema: z.object({ to: z.string() }), execute: () => later });
  const buyer = office.agent('buyer', paying, { tools: { pay: elsewhere }, ...clock });
  const manager = office.agent('manager', buying, { tools: { buy: office.tool(buyer) }, ...clock });
  const thread = await manager.thread('t');
  const waiting = await manager.run('Go.', thread);
  expect(waiting).toMatchObject({
    status: 'waiting',
    userInputRequests: [],
    nextDeadline: now + 60_000,
  });
  const child = await buyer.thread(thread.calls[0]?.agent?.threadId ?? '');
  await buyer.deliver(child, 'p1', { status: 'succeeded', output: 'paid' });
  now += 60_000;
  const response = await manager.run([], thread, { onlyWhenDue: true });
  expect(response).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(thread.calls).toMatchObject([{ outcome: { output: 'Paid.' } }]);
});

test('a reply is the result of the call, as `output` makes it from the last response, for the message of `prompt`', async () => {
  const office = new AgentOffice();
  const buyer = office.agent('buyer', [{ text: 'Bought.' }]);
  const manager = office.agent('manager', buying, {
    tools: {
      buy: office.tool(buyer, {
        prompt: ({ prompt }) => `Please: ${prompt}`,
        output: ({ text, thread }) => ({ text, messages: thread.messages.length }),
      }),
    },
  });
  const thread = await manager.thread('t');
  await manager.run('Go.', thread);
  expect(thread.calls).toMatchObject([{ outcome: { output: { text: 'Bought.', messages: 2 } } }]);
  const child = await buyer.thread(`call-${thread.calls[0]?.idempotencyKey}`);
  expect(child.messages[0]).toMatchObject({ role: 'user', content: 'Please: Pay Ann.' });
});

test('over its time, a sub-agent is cancelled and its call fails', async () => {
  const office = new AgentOffice();
  let now = Date.now();
  const clock = { now: () => now };
  const buyer = office.payer('buyer', paying, clock);
  const manager = office.agent('manager', buying, {
    tools: { buy: office.tool(buyer, { expiresAfterMs: 60_000 }) },
    ...clock,
  });
  const thread = await manager.thread('t');
  const { approvalRequests } = await manager.run('Go.', thread);
  now += 60_000;
  expect(await manager.run([], thread)).toMatchObject({ status: 'completed', text: 'Done.' });
  const late = approvalRequests.map((request) => request.approve());
  expect(await errorCode(manager.respond(late, thread))).toBe('request-closed');
  expect(thread.calls).toMatchObject([
    {
      status: 'failed',
      outcome: {
        error:
          "The result did not arrive in time. Agent 'buyer' was cancelled; what it has done is not undone.",
      },
    },
  ]);
  const child = await buyer.thread(thread.calls[0]?.agent?.threadId ?? '');
  expect(child).toMatchObject({ status: 'idle', activeRequests: [] });
  expect(office.payments).toEqual([]);
});

test('an answer after that time, before anybody has noticed it, is refused and runs nothing', async () => {
  const office = new AgentOffice();
  let now = Date.now();
  const clock = { now: () => now };
  const buyer = office.payer('buyer', paying, clock);
  const manager = office.agent('manager', buying, {
    tools: { buy: office.tool(buyer, { expiresAfterMs: 60_000 }) },
    ...clock,
  });
  const thread = await manager.thread('t');
  const { approvalRequests } = await manager.run('Go.', thread);
  now += 60_000;
  const late = approvalRequests.map((request) => request.approve());
  expect(await errorCode(manager.run(late, thread))).toBe('request-closed');
  await manager.run([], thread);
  expect(thread.calls).toMatchObject([{ status: 'failed' }]);
  expect(office.payments).toEqual([]);
});

test('used-up steps fail the call, with the reason', async () => {
  const office = new AgentOffice();
  const buyer = office.agent('buyer', paying, { tools: { pay: office.pay }, maxSteps: 1 });
  const manager = office.agent('manager', buying, { tools: { buy: office.tool(buyer) } });
  const thread = await manager.thread('t');
  await manager.run('Go.', thread);
  expect(thread.calls).toMatchObject([
    { status: 'failed', outcome: { error: "Agent 'buyer' has used up its maxSteps." } },
  ]);
});
