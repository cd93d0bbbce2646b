import type { AgentThread } from 'holdpoint';
import { backtest } from 'holdpoint/backtest';
import { agentTool } from 'holdpoint/tools';
import { expect, test } from 'vitest';
import { ada, cashDesk, eve, pay } from '../policy/cash-desk.ts';
import { AgentOffice, ask } from '../support/agent-office.ts';

interface Decided {
  toolCall: { toolCallId: string };
  runtimeContext: Record<string, unknown>;
  requesters: readonly unknown[];
}

/** A rule that lets users pay, and notes what it got the first time that it decided on each call. */
function notingRule() {
  const seen: Record<string, unknown> = {};
  const toolApproval = ({ toolCall, runtimeContext, requesters }: Decided) => {
    const role: unknown = runtimeContext['role'];
    seen[toolCall.toolCallId] ??= { role, requesters };
    return role === 'user' ? 'approved' : 'user-approval';
  };
  return { seen, toolApproval } as const;
}

/** What the rule gets in a backtest, where the app knows the roles of today. */
async function replayed(threads: (AgentThread | string)[], principalId?: (one: unknown) => string) {
  const { seen, toolApproval } = notingRule();
  const { tools } = cashDesk([]);
  const asked: unknown[] = [];
  const result = await backtest({
    tools,
    toolApproval,
    threads,
    ...(principalId && { principalId }),
    runtimeContext: ({ requestedBy }) => {
      asked.push(requestedBy);
      return { role: requestedBy === 'ada' ? 'admin' : 'user' };
    },
  });
  return { seen, asked, result };
}

/** Eve's turn: a payment in her run, one in Ada's, one in that of an answer of Eve's, and one in a worker's. */
async function payments() {
  const { seen, toolApproval } = notingRule();
  const failing = { fail: 'overloaded' };
  const desk = cashDesk(
    [
      { calls: [pay('c1', 1)] },
      failing,
      { calls: [pay('c2', 2)] },
      { calls: [pay('c3', 3)] },
      failing,
      { calls: [pay('c4', 4)] },
    ],
    { toolApproval },
  );
  const { agent } = desk;
  const thread = await agent.thread('t');
  await expect(agent.run('Pay.', thread, eve)).rejects.toThrow('overloaded');
  const { approvalRequests } = await agent.run([], thread, ada);
  const answers = approvalRequests.map((request) => request.approve());
  await expect(agent.run(answers, thread, eve)).rejects.toThrow('overloaded');
  await agent.run([], thread);
  const requesters = ['eve'];
  const user = { role: 'user', requesters };
  const nobody = { role: undefined, requesters };
  expect(seen).toEqual({ c1: user, c2: nobody, c3: user, c4: nobody });
  return { thread, seen };
}

test('a rule gets the context that it had: none where Ada or a worker continued Eve’s turn', async () => {
  const { thread, seen } = await payments();
  const again = await replayed([thread]);
  expect(again.seen).toEqual(seen);
  expect(again.asked).toEqual(['eve', 'eve']);
  expect(again.result.counts).toMatchObject({
    run: { unasked: 2 },
    ask: { approved: 1, unanswered: 1 },
  });
});

test('a thread in which nobody is named has its context', async () => {
  const { agent } = cashDesk([{ calls: [pay('c1', 1)] }]);
  const { thread } = await agent.run('Pay.', await agent.thread('t'));
  const { seen } = await replayed([thread]);
  expect(seen).toEqual({ c1: { role: 'user', requesters: [null] } });
});

/** Eve, whose principal is another object in each session. */
function inSession(session: number) {
  return { principal: { id: 'eve', session } };
}

function byId(principal: unknown): string {
  return String(Reflect.get(Object(principal), 'id'));
}

test('principalId says who is the same person', async () => {
  const { agent } = cashDesk([{ fail: 'overloaded' }, { calls: [pay('c1', 1)] }]);
  const thread = await agent.thread('t');
  await expect(agent.run('Pay.', thread, inSession(1))).rejects.toThrow('overloaded');
  await agent.run([], thread, inSession(2));
  expect((await replayed([thread])).asked).toEqual([]);
  expect((await replayed([thread], byId)).asked).toHaveLength(1);
});

test('without the option, a rule that reads a context asks, and one that does not decides', async () => {
  const { thread } = await payments();
  const { tools } = cashDesk([]);
  const { toolApproval } = notingRule();
  const asks = await backtest({ tools, toolApproval, threads: [thread] });
  expect(asks.counts.run).toMatchObject({ unasked: 0, approved: 0 });
  const approves = await backtest({ tools, toolApproval: { pay: 'approved' }, threads: [thread] });
  expect(approves.counts.run).toMatchObject({ unasked: 2, approved: 1 });
});

test('a sub-agent’s steps have a context where everybody for whom it works caused the parent’s run', async () => {
  const office = new AgentOffice();
  const script = [{ calls: [pay('p1', 1)] }, { calls: [pay('p2', 2)] }];
  const payer = cashDesk(script, { name: 'payer', store: office.store });
  const tools = { payer: agentTool(payer.agent, { description: 'Pays.' }) };
  const clerk = office.agent('clerk', [{ calls: [ask('a1', 'payer', 'Pay.')] }], { tools });
  const asked = await clerk.run('Pay.', await clerk.thread('t'), eve);
  const answers = asked.approvalRequests.map((request) => request.approve());
  const { thread } = await clerk.run(answers, asked.thread, ada);
  const child = await payer.agent.thread(thread.calls[0]?.agent?.threadId ?? '');
  const { seen } = await replayed([child]);
  expect(seen).toMatchObject({ p1: { role: 'user' }, p2: { role: undefined } });
});
