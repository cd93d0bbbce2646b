import { tool } from 'ai';
import { createAgent, HoldpointError, memoryStore } from 'holdpoint';
import { backtest } from 'holdpoint/backtest';
import { scriptedModel } from 'holdpoint/testing';
import { agentTool, questionTools } from 'holdpoint/tools';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { AgentOffice, ask, pay as payCall } from '../support/agent-office.ts';
import { candidateTools, recordPayments } from './recorded-payments.ts';

const pay = (id: string, to: string) => ({ id, name: 'pay', input: { to, amount: 1 } });

interface Seen {
  toolCallId: string;
  input: unknown;
  messages: unknown;
  calls: unknown;
  toolContext: unknown;
  runtimeContext: unknown;
}

/** A rule that notes what it receives the first time it decides on a call. */
function notingRule(seen: Map<string, Seen>) {
  return (input: unknown, options: Omit<Seen, 'input'>): 'user-approval' => {
    const { toolCallId, messages, calls, toolContext, runtimeContext } = options;
    if (seen.has(toolCallId)) return 'user-approval';
    seen.set(toolCallId, {
      toolCallId,
      input: structuredClone(input),
      messages,
      calls,
      toolContext,
      runtimeContext,
    });
    /* What a rule does to its input changes nothing. */
    Object(input).to = 'nobody';
    return 'user-approval';
  };
}

test('a rule receives what it received when the call was proposed', async () => {
  const contextSchema = z.object({ account: z.string() });
  const tools = {
    pay: tool({ ...candidateTools.pay, contextSchema, execute: async () => 'paid' }),
  };
  const toolsContext = { pay: { account: 'savings' } };
  const { model } = scriptedModel([
    { calls: [pay('c1', 'ann'), pay('c2', 'bob')] },
    { calls: [pay('c3', 'cy')] },
    { text: 'Done.' },
    { calls: [pay('c1', 'dee')] },
    { text: 'Done.' },
  ]);
  const live = new Map<string, Seen>();
  const agent = createAgent({
    model,
    tools,
    toolsContext,
    toolApproval: { pay: notingRule(live) },
    store: memoryStore(),
  });
  const thread = await agent.thread('t');
  const runtimeContext = { tenant: 'acme' };
  const options = { principal: 'ada', runtimeContext };
  for (const message of ['Pay them.', 'Pay dee, too.']) {
    let response = await agent.run(message, thread, options);
    while (response.approvalRequests.length > 0) {
      const answers = response.approvalRequests.map((request, index) =>
        index === 0 ? request.approve() : request.reject('No.'),
      );
      response = await agent.run(answers, thread, options);
    }
  }
  expect(live.size).toBe(4);

  const replayed = new Map<string, Seen>();
  const steps: unknown[] = [];
  const result = await backtest({
    tools: { pay: { ...tools.pay, execute: candidateTools.pay.execute } },
    toolsContext,
    toolApproval: { pay: notingRule(replayed) },
    runtimeContext: (step) => {
      steps.push(step);
      return runtimeContext;
    },
    threads: [thread],
  });
  expect([...replayed.values()]).toEqual([...live.values()]);
  expect(steps).toEqual(
    [0, 1, 2].map(() => ({ threadId: 't', requestedBy: 'ada', requesters: ['ada'] })),
  );
  expect(result.counts.ask).toMatchObject({ approved: 3, rejected: 1 });
});

test('one rule for all tools receives the call, and needsApproval decides where no rule does', async () => {
  const threads = [await recordPayments('t', [{ input: { to: 'ann', amount: 7 }, answer: 'yes' }])];
  const seen: unknown[] = [];
  const marked = { ...candidateTools, pay: { ...candidateTools.pay, needsApproval: true } };
  const result = await backtest({
    tools: marked,
    toolApproval: ({ toolCall }) => {
      seen.push(toolCall);
      return undefined;
    },
    threads,
  });
  expect(seen).toEqual([
    { type: 'tool-call', toolCallId: 't-0', toolName: 'pay', input: { to: 'ann', amount: 7 } },
  ]);
  expect(result.counts.ask.approved).toBe(1);
  expect((await backtest({ tools: marked, threads })).counts.ask.approved).toBe(1);
  expect((await backtest({ tools: candidateTools, threads })).counts.run.approved).toBe(1);
});

test('a rule that throws asks, as in the agent, and the report says how often', async () => {
  const threads = [await recordPayments('t', [{ input: { to: 'ann', amount: 7 }, answer: 'yes' }])];
  const toolApproval = {
    pay: () => {
      throw new Error('The policy server is down.');
    },
  };
  const result = await backtest({ tools: candidateTools, toolApproval, threads });
  expect(result.counts.ask.approved).toBe(1);
  expect(result.reasons).toEqual([
    { toolName: 'pay', decision: 'ask', reason: 'The approval rule failed.', calls: 1 },
  ]);
  expect(String(result)).toContain('1 call: ask pay; because: The approval rule failed.');
});

test('questions and refused calls are not counted, provider calls ask, and a missing tool fails', async () => {
  const { model } = scriptedModel([
    {
      calls: [
        { id: 'c1', name: 'nothing', input: {} },
        { id: 'c2', name: 'pay', input: { to: 1 } },
        { id: 'c3', name: 'look', input: { at: 'x' } },
        { id: 'c4', name: 'mcp.open', input: {}, atProvider: { approvalId: 'a4' } },
        { id: 'c5', name: 'user_choice', input: { question: 'Which?', options: '["a","b"]' } },
      ],
    },
  ]);
  const { user_choice } = questionTools();
  const { pay: payTool, look } = candidateTools;
  const tools = { pay: payTool, look: { ...look, execute: async () => 'seen' }, user_choice };
  const agent = createAgent({ model, tools, store: memoryStore() });
  const { thread } = await agent.run('Go.', await agent.thread('t'));
  expect(thread.calls.map(({ status }) => status).toSorted()).toEqual([
    'failed',
    'failed',
    'succeeded',
    'waiting',
    'waiting',
  ]);
  const decided: string[] = [];
  const result = await backtest({
    tools: { pay: payTool, user_choice },
    toolApproval: ({ toolCall }) => {
      decided.push(toolCall.toolCallId);
      return 'approved';
    },
    threads: [thread],
  });
  expect(decided).toEqual(['c5']);
  expect(result).toMatchObject({ calls: 2, skipped: { question: 1, refused: 2 } });
  expect(result.counts.ask.unanswered).toBe(1);
  expect(result.counts.fail.unasked).toBe(1);
  expect(String(result)).toContain('Not counted: 1 question. Refused before any rule: 2 calls.');
});

test('options that an agent would refuse are refused', async () => {
  const tools = candidateTools;
  // @ts-expect-error -- JavaScript may misspell a tool.
  await expect(backtest({ tools, toolApproval: { pya: 'approved' }, threads: [] })).rejects.toThrow(
    "toolApproval names 'pya', which is not a tool of this agent.",
  );
  await expect(backtest({ tools, threads: [], maxRejected: Number.NaN })).rejects.toThrow(
    'maxRejected must be a whole number of 0 or more; got NaN.',
  );
});

const refuse = async (): Promise<never> => {
  throw new HoldpointError('not-allowed', 'A backtest wrote.');
};

test('nothing is written to the store, and threads of other agents are left out', async () => {
  const store = memoryStore();
  const payments = [{ input: { to: 'ann', amount: 7 }, answer: 'yes' }] as const;
  for (let index = 0; index < 205; index += 1) {
    await recordPayments(`t${index}`, payments, { store });
  }
  await recordPayments('other', payments, { store, name: 'travel' });
  const readOnly = { ...store, append: refuse, claim: refuse, delete: refuse };
  const tools = candidateTools;
  const result = await backtest({ tools, store: readOnly, agent: 'bank' });
  expect(result).toMatchObject({ threads: 205, calls: 205, unreadable: [] });
  expect(await backtest({ tools, store: readOnly })).toMatchObject({ threads: 0 });
  const threads = [await recordPayments('t', payments, { name: 'travel' })];
  expect(await backtest({ tools, threads, agent: 'bank' })).toMatchObject({ threads: 0 });
  expect(await backtest({ tools, threads })).toMatchObject({ threads: 1 });
});

test('the threads of a sub-agent are replayed by its name, with what people answered through its parent', async () => {
  const office = new AgentOffice();
  const payer = office.payer('payer', [{ calls: [payCall('p1', 'eve')] }, { text: 'Not paid.' }]);
  const script = [{ calls: [ask('a1', 'payer', 'Pay eve.')] }, { text: 'Done.' }];
  const boss = office.agent('boss', script, {
    tools: { payer: agentTool(payer, { description: 'Pays.' }) },
  });
  const { approvalRequests, thread } = await boss.run('Pay.', await boss.thread('t'));
  await boss.run(
    approvalRequests.map((request) => request.reject('Never.')),
    thread,
    { principal: 'mia' },
  );
  const rules = { tools: { pay: office.pay }, toolApproval: { pay: 'approved' } } as const;
  const result = await backtest({ ...rules, store: office.store, agent: 'payer' });
  expect(result.disagreements).toMatchObject([
    { type: 'runs-rejected', toolCallId: 'p1', principal: 'mia', reason: 'Never.' },
  ]);
  const parents = await backtest({ ...rules, store: office.store, agent: 'boss' });
  expect(parents).toMatchObject({ threads: 1, calls: 1 });
  expect(parents.counts.fail.unasked).toBe(1);
});
