import { createAgent, memoryStore } from 'holdpoint';
import { backtest } from 'holdpoint/backtest';
import { scriptedModel } from 'holdpoint/testing';
import { expect, test } from 'vitest';
import { candidateTools, recordPayments } from './recorded-payments.ts';

const tools = candidateTools;
const rent = { to: 'landlord', amount: 900 };
const loan = { to: 'eve', amount: 50 };

test('rules that would have run what people rejected fail, and each such call is listed with who rejected it and why', async () => {
  const threads = [
    await recordPayments('t1', [
      { input: rent, answer: 'yes' },
      { input: loan, answer: 'no' },
    ]),
    await recordPayments('t2', [{ input: loan, answer: 'none' }]),
  ];
  const result = await backtest({ tools, toolApproval: { pay: 'approved' }, threads });
  expect(result).toMatchObject({ threads: 2, calls: 3, unreadable: [] });
  expect(result.counts.run).toEqual({
    approved: 1,
    edited: 0,
    rejected: 1,
    granted: 0,
    unanswered: 1,
    unasked: 0,
    denied: 0,
  });
  expect(result.disagreements).toEqual([
    {
      type: 'runs-rejected',
      threadId: 't1',
      step: 1,
      index: 0,
      toolCallId: 't1-1',
      toolName: 'pay',
      input: loan,
      principal: { id: 'mia' },
      channel: 'page',
      reason: 'Not this one.',
    },
  ]);
  expect(result.failures).toEqual([
    'Calls that would have run although people rejected them: 1; allowed: 0.',
  ]);
  expect(String(result)).toContain(
    'Would have run 3 calls that people were asked about; people rejected 1 of them:\n' +
      '  t1 t1-1 pay {"to":"eve","amount":50}; by mia; through page; because: Not this one.',
  );
  const allowed = { tools, toolApproval: { pay: 'approved' }, threads, maxRejected: 1 } as const;
  expect((await backtest(allowed)).failures).toEqual([]);
});

test('rules that ask as before disagree about nothing', async () => {
  const threads = [
    await recordPayments('t1', [
      { input: rent, answer: 'yes' },
      { input: loan, answer: 'no' },
    ]),
  ];
  const result = await backtest({ tools, toolApproval: { pay: 'user-approval' }, threads });
  expect(result.counts.ask).toMatchObject({ approved: 1, rejected: 1 });
  expect(result).toMatchObject({ disagreements: [], failures: [] });
});

test('rules that would have denied what people approved are listed, and fail under a limit', async () => {
  const threads = [await recordPayments('t1', [{ input: rent, answer: 'yes' }])];
  const toolApproval = {
    pay: ({ amount }: { amount: number }) => (amount > 500 ? 'denied' : 'approved'),
  } as const;
  const result = await backtest({ tools, toolApproval, threads });
  expect(result.disagreements).toMatchObject([{ type: 'denies-approved', input: rent }]);
  expect(result.failures).toEqual([]);
  expect(String(result)).toContain('Would have denied 1 call that people approved:');
  const limited = await backtest({ tools, toolApproval, threads, maxDenied: 0 });
  expect(limited.failures).toEqual([
    'Calls that would have been denied although people approved them: 1; allowed: 0.',
  ]);
});

test.each([
  ['user-approval', 'approved', 'asks-unasked'],
  ['denied', 'approved', 'denies-unasked'],
  ['approved', 'denied', 'runs-denied'],
] as const)('a rule that says %s where one said %s is listed as %s', async (now, then, type) => {
  const { model } = scriptedModel([
    { calls: [{ id: 'c1', name: 'look', input: { at: 'x' } }] },
    { text: 'Done.' },
  ]);
  const look = { ...tools.look, execute: async () => 'seen' };
  const agent = createAgent({
    model,
    tools: { look },
    toolApproval: { look: () => ({ type: then, reason: 'so it was' }) },
    store: memoryStore(),
  });
  const { thread } = await agent.run('Look.', await agent.thread('t'));
  const result = await backtest({ tools, toolApproval: { look: now }, threads: [thread] });
  const reason = type === 'runs-denied' ? { reason: 'so it was' } : {};
  expect(result.disagreements).toEqual([
    {
      type,
      threadId: 't',
      step: 0,
      index: 0,
      toolCallId: 'c1',
      toolName: 'look',
      input: { at: 'x' },
      ...reason,
    },
  ]);
  expect(result.failures).toEqual([]);
});

test('the report shows control characters of models and people instead of writing them', async () => {
  const input = { to: '\u001b[2Jeve', amount: 1 };
  const threads = [await recordPayments('t\u001b1', [{ input, answer: 'no' }])];
  const text = String(await backtest({ tools, toolApproval: { pay: 'approved' }, threads }));
  expect(text).toContain('t\\u{1b}1');
  expect(text).not.toContain('\u001b');
});
