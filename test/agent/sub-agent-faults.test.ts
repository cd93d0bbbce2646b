import { tool } from 'ai';
import { type Agent, type AgentThread, memoryStore } from 'holdpoint';
import { runWorker } from 'holdpoint/worker';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';
import { errorCode } from '../support/error-code.ts';
import { waitFor } from '../support/waiting.ts';

const noPrompt = () => {
  throw new Error('no prompt today');
};

const noOutput = () => {
  throw new Error('no output today');
};

const systemPrompt = () => ({ role: 'system' as const, content: 'Obey.' });

/** The thread in which an agent works on the first call of a thread. */
async function innerOf(agent: Agent, thread: AgentThread): Promise<AgentThread> {
  return agent.thread(thread.calls[0]?.agent?.threadId ?? '');
}

function startsIn({ events }: AgentThread): number {
  return events.filter(({ type }) => type === 'call-started').length;
}

/** Works for a while with a worker of the agent. */
async function workFor(agent: Agent, office: AgentOffice, milliseconds: number): Promise<void> {
  const signal = AbortSignal.timeout(milliseconds);
  await runWorker({ agent, store: office.store, signal, pollMs: 5, claimMs: 5 });
}

/** A manager whose buyer pays: two levels. */
function managerAndBuyer(office = new AgentOffice()) {
  const buyer = office.payer('buyer', [{ calls: [pay('p1', 'Ann')] }, { text: 'Paid.' }]);
  const buy = office.tool(buyer);
  const script = [{ calls: [ask('b1', 'buy', 'Pay Ann.')] }, { text: 'Done.' }];
  const manager = office.agent('manager', script, { tools: { buy } });
  return { office, buyer, manager };
}

/** A buyer that makes two payments, one of which waits at a gate while it is made. */
function buyerOfTwo(office: AgentOffice, gate: Promise<unknown>) {
  const slow = tool({
    inputSchema: z.object({}),
    execute: async () => gate.then(() => 'slow is done'),
  });
  const calls = [{ id: 's1', name: 'slow', input: {} }, pay('p1', 'Ann')];
  return office.agent('buyer', [{ calls }, { text: 'Both.' }], {
    tools: { slow, pay: office.pay },
    toolApproval: { slow: 'user-approval', pay: 'user-approval' },
  });
}

test('a cancellation while the call is being worked on closes what its agent asks, and the run ends', async () => {
  const office = new AgentOffice();
  const gate = Promise.withResolvers();
  const buyer = buyerOfTwo(office, gate.promise);
  const script = [{ calls: [ask('b1', 'buy', 'Buy.')] }, { text: 'Done.' }];
  const manager = office.agent('manager', script, { tools: { buy: office.tool(buyer) } });
  const thread = await manager.thread('t');
  const asked = await manager.run('Go.', thread);
  const first = asked.approvalRequests.find(({ toolCall }) => toolCall?.toolName === 'slow');
  const running = manager.run(first?.approve() ?? [], thread);
  await waitFor(() => expect(thread.calls[0]?.status).toBe('started'));
  const other = await manager.thread('t');
  await manager.cancel(other, 'Stop asking.');
  gate.resolve(undefined);
  expect(await running).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(startsIn(thread)).toBeLessThan(5);
  const inner = await innerOf(buyer, thread);
  expect(inner.calls.map(({ status }) => status)).toEqual(['succeeded', 'denied']);
  expect(office.payments).toEqual([]);
});

/** A worker fails the run of a thread, and leaves the thread to the time in its log. */
async function expectFailsOnce({ store }: AgentOffice, agent: Agent): Promise<void> {
  const stopped = new AbortController();
  const onError = () => stopped.abort();
  await runWorker({ agent, store, signal: stopped.signal, pollMs: 5, claimMs: 5, onError });
  const { failure, nextDeadline, events } = await agent.thread('t');
  expect(failure).toMatchObject({ failures: 1 });
  expect(nextDeadline).toBe(failure?.retryAt);
  expect(failure?.retryAt).toBeGreaterThan(events.at(-1)?.at ?? Infinity);
}

test('a call whose tool is gone backs off', async () => {
  const { office, manager } = managerAndBuyer();
  const thread = await manager.thread('t');
  const asked = await manager.run('Pay Ann.', thread);
  await manager.respond(asked.approvalRequests[0]?.approve() ?? [], thread);
  const renamed = office.agent('manager', [], { retry: { maxAttempts: 3 } });
  await expectFailsOnce(office, renamed);
  /* Another version of the app has the tool. */
  const again = await manager.thread('t');
  expect(await manager.run([], again)).toMatchObject({ status: 'completed' });
  expect(office.payments).toHaveLength(1);
});

test('a call that is due at a time, and whose tool is gone, fails its run instead of being polled for ever', async () => {
  const office = new AgentOffice();
  const short = office.payer('buyer', [{ calls: [pay('p1', 'Ann')] }], {
    toolApproval: { pay: { type: 'user-approval', expiresAfterMs: 40 } },
  });
  const expiring = office.agent('manager', [{ calls: [ask('b1', 'buy', 'Pay.')] }], {
    tools: { buy: office.tool(short) },
  });
  const thread = await expiring.thread('t');
  await expiring.run('Pay Ann.', thread);
  const renamed = office.agent('manager', [], { retry: { maxAttempts: 2 } });
  await expectFailsOnce(office, renamed);
});

test('a message that the app can not make ends the call at once', async () => {
  const office = new AgentOffice();
  const buyer = office.payer('buyer', []);
  const script = [{ calls: [ask('b1', 'buy', 'Pay.')] }, { text: 'Done.' }];
  const manager = office.agent('manager', script, {
    tools: { buy: office.tool(buyer, { prompt: noPrompt }) },
  });
  const thread = await manager.thread('t');
  expect(await manager.run('Pay.', thread)).toMatchObject({ status: 'completed' });
  expect(thread.calls).toMatchObject([{ status: 'failed', outcome: { error: /no prompt today/ } }]);
});

test('a message that no agent takes ends the call at once', async () => {
  const office = new AgentOffice();
  const buyer = office.payer('buyer', []);
  const script = [{ calls: [ask('b1', 'buy', 'Pay.')] }, { text: 'Done.' }];
  const manager = office.agent('manager', script, {
    tools: { buy: office.tool(buyer, { prompt: systemPrompt }) },
  });
  const thread = await manager.thread('t');
  expect(await manager.run('Pay.', thread)).toMatchObject({ status: 'completed' });
  expect(thread.calls).toMatchObject([{ status: 'failed' }]);
});

test('an output that the app can not make ends the call: the work is done', async () => {
  const office = new AgentOffice();
  const buyer = office.agent('buyer', [{ text: 'Bought.' }]);
  const script = [{ calls: [ask('b1', 'buy', 'Pay.')] }, { text: 'Done.' }];
  const manager = office.agent('manager', script, {
    tools: { buy: office.tool(buyer, { output: noOutput }) },
  });
  const thread = await manager.thread('t');
  expect(await manager.run('Pay.', thread)).toMatchObject({ status: 'completed' });
  expect(thread.calls).toMatchObject([{ status: 'failed', outcome: { error: /no output today/ } }]);
});

test('work whose thread was deleted is not begun again', async () => {
  const { office, buyer, manager } = managerAndBuyer();
  const thread = await manager.thread('t');
  const asked = await manager.run('Pay Ann.', thread);
  await buyer.delete(await innerOf(buyer, thread));
  const answers = asked.approvalRequests.map((request) => request.approve());
  expect(await errorCode(manager.run(answers, thread))).not.toBe('no error');
  await manager.run([], thread);
  expect(thread.calls).toMatchObject([{ status: 'failed', outcome: { error: /deleted/ } }]);
  expect(office.payments).toEqual([]);
});

test('an outcome that is delivered for the call stops its agent first', async () => {
  const { buyer, manager } = managerAndBuyer();
  const thread = await manager.thread('t');
  await manager.run('Pay Ann.', thread);
  const inner = await innerOf(buyer, thread);
  await manager.deliver(thread, 'b1', { status: 'succeeded', output: 'Bought by hand.' });
  expect(await buyer.thread(inner.id)).toMatchObject({ status: 'idle', activeRequests: [] });
  expect(thread.calls).toMatchObject([{ outcome: { output: 'Bought by hand.' } }]);
});

test('the deletion of a thread stops the agents that work for it', async () => {
  const { buyer, manager } = managerAndBuyer();
  const thread = await manager.thread('t');
  await manager.run('Pay Ann.', thread);
  const inner = await innerOf(buyer, thread);
  await manager.delete(thread);
  expect(await buyer.thread(inner.id)).toMatchObject({ status: 'idle', activeRequests: [] });
});

test('clocks that differ make no haste: a request that has expired for one only', async () => {
  let time = 1_000_000;
  const expiresAfterMs = 60_000;
  const inner = new AgentOffice(memoryStore());
  const buyer = inner.payer('buyer', [{ calls: [pay('p1', 'Ann')] }, { text: 'Not paid.' }], {
    now: () => time - 10_000,
    toolApproval: { pay: { type: 'user-approval', expiresAfterMs } },
  });
  const outer = new AgentOffice(memoryStore());
  const script = [{ calls: [ask('b1', 'buy', 'Pay Ann.')] }, { text: 'Done.' }];
  const manager = outer.agent('manager', script, {
    now: () => time,
    tools: { buy: outer.tool(buyer) },
  });
  const thread = await manager.thread('t');
  await manager.run('Pay Ann.', thread);
  time += expiresAfterMs - 5_000;
  const early = await manager.run([], thread, { onlyWhenDue: true });
  expect(early.status).toBe('waiting');
  expect(startsIn(thread)).toBeLessThan(5);
  time += 20_000;
  expect(await manager.run([], thread)).toMatchObject({ status: 'completed' });
  expect(inner.payments).toEqual([]);
});

test('a request that has expired in the parent thread only is checked every few seconds: a process with another clock may end it', async () => {
  let time = 1_000_000;
  const expiresAfterMs = 600_000;
  const toolApproval = { pay: { type: 'user-approval', expiresAfterMs } } as const;
  const inner = new AgentOffice(memoryStore());
  const late = inner.payer('buyer', [{ calls: [pay('p1', 'Ann')] }], {
    now: () => time - 60_000,
    toolApproval,
  });
  const outer = new AgentOffice(memoryStore());
  const script = [{ calls: [ask('b1', 'buy', 'Pay Ann.')] }, { text: 'Done.' }];
  const tools = { buy: outer.tool(late) };
  const manager = outer.agent('manager', script, { now: () => time, tools });
  const thread = await manager.thread('t');
  await manager.run('Pay Ann.', thread);
  time += expiresAfterMs - 30_000;
  await manager.run([], thread);
  expect(thread.activeRequests).toEqual([]);
  expect((await innerOf(late, thread)).activeRequests).toHaveLength(1);
  time += 5_000;
  const onTime = inner.payer('buyer', [{ text: 'Not paid.' }], { now: () => time, toolApproval });
  await onTime.run([], await innerOf(onTime, thread));
  const resumed = await manager.run([], thread, { onlyWhenDue: true });
  expect(resumed).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(thread.calls).toMatchObject([{ outcome: { output: 'Not paid.' } }]);
  expect(inner.payments).toEqual([]);
});

test('a run over its time limit backs off, and its agent resumes where it was', async () => {
  const office = new AgentOffice();
  const never = tool({ inputSchema: z.object({}), execute: async () => new Promise(() => {}) });
  const calls = [{ id: 'n1', name: 'never', input: {} }];
  const buyer = office.agent('buyer', [{ calls }], { tools: { never }, abortGraceMs: 1 });
  const script = [{ calls: [ask('b1', 'buy', 'Wait.')] }, { text: 'Done.' }];
  const manager = office.agent('manager', script, {
    tools: { buy: office.tool(buyer) },
    timeout: 20,
    retry: { maxAttempts: 3 },
  });
  const thread = await manager.thread('t');
  await manager.run('Wait.', thread).catch(() => {});
  await workFor(manager, office, 300);
  expect(startsIn(await manager.thread('t'))).toBeLessThan(5);
});

test('a stopped turn is over: a call whose process died then is not resumed', async () => {
  const office = new AgentOffice();
  let time = 1_000_000;
  const now = () => time;
  const { promise } = Promise.withResolvers();
  const slow = tool({ inputSchema: z.object({}), execute: async () => promise });
  const calls = [{ id: 's1', name: 'slow', input: {} }];
  const script = [{ calls }, { calls: [pay('p1', 'Ann')] }, { text: 'x' }];
  const buyer = office.agent('buyer', script, {
    now,
    abortGraceMs: 1,
    tools: { slow, pay: office.pay },
  });
  const outer = [{ calls: [ask('b1', 'buy', 'Wait.')] }, { text: 'Done.' }];
  const manager = office.agent('manager', outer, { now, tools: { buy: office.tool(buyer) } });
  const thread = await manager.thread('t');
  void manager.run('Wait.', thread).catch(() => {});
  await waitFor(() => expect(thread.calls[0]?.status).toBe('started'));
  /* The process of that run is dead as far as others know. */
  time += 600_000;
  const later = office.agent('manager', outer, { now, tools: { buy: office.tool(buyer) } });
  const again = await later.thread('t');
  await later.stop(again);
  await later.run([], again);
  expect(office.payments).toEqual([]);
  expect(again.calls).toMatchObject([{ status: 'failed' }]);
});

test('an agent that is over its time is cancelled while it works', async () => {
  const office = new AgentOffice();
  const never = tool({
    inputSchema: z.object({}),
    execute: async (_input, { abortSignal }) =>
      new Promise((_resolve, reject) => {
        abortSignal?.addEventListener('abort', () => reject(new Error('aborted')));
      }),
  });
  const calls = [{ id: 'n1', name: 'never', input: {} }];
  const buyer = office.agent('buyer', [{ calls }], { tools: { never }, abortGraceMs: 1 });
  const script = [{ calls: [ask('b1', 'buy', 'Wait.')] }, { text: 'Done.' }];
  const buy = office.tool(buyer, { expiresAfterMs: 30 });
  const manager = office.agent('manager', script, { tools: { buy } });
  const thread = await manager.thread('t');
  expect(await manager.run('Wait.', thread)).toMatchObject({ status: 'completed' });
  expect(thread.calls).toMatchObject([{ status: 'failed' }]);
});

test('an agent that has used up its steps asks nothing any more', async () => {
  const office = new AgentOffice();
  const note = tool({ inputSchema: z.object({}), execute: () => 'noted' });
  const calls = [{ id: 'n1', name: 'note', input: {} }];
  const buyer = office.agent('buyer', [{ calls }, { text: 'never reached' }], {
    tools: { note },
    maxSteps: 1,
  });
  const script = [{ calls: [ask('b1', 'buy', 'Go.')] }, { text: 'Done.' }];
  const manager = office.agent('manager', script, { tools: { buy: office.tool(buyer) } });
  const thread = await manager.thread('t');
  expect(await manager.run('Go.', thread)).toMatchObject({ status: 'completed' });
  expect(thread.calls).toMatchObject([{ status: 'failed', outcome: { error: /maxSteps/ } }]);
});
