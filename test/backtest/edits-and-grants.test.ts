import { tool } from 'ai';
import { createAgent, memoryStore, type ToolApprovalStatus } from 'holdpoint';
import { backtest } from 'holdpoint/backtest';
import { scriptedModel } from 'holdpoint/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { lostCalls } from '../support/lost-call.ts';
import { travelTools } from '../support/travel-world.ts';
import { candidateTools } from './recorded-payments.ts';

const tools = candidateTools;
const bill = { to: 'acme', amount: 80 };
const call = (id: string) => ({ id, name: 'pay', input: bill });

/** A thread that waits for approval of a payment on these terms; the model repeats the payment once. */
async function asked(status: ToolApprovalStatus) {
  const { model } = scriptedModel([
    { calls: [call('c1')] },
    { calls: [call('c2')] },
    { text: 'Done.' },
  ]);
  const agent = createAgent({
    model,
    tools: { pay: { ...tools.pay, execute: async () => 'paid' } },
    toolApproval: { pay: status },
    mayAnswer: () => true,
    store: memoryStore(),
  });
  const thread = await agent.thread('t');
  const { approvalRequests } = await agent.run('Pay.', thread, { principal: 'ada' });
  const [request] = approvalRequests;
  if (request === undefined) throw new Error('Nothing was asked.');
  return { agent, thread, request };
}

describe('a call that a person edited', () => {
  test('would have run unedited: its own class, with what the person made of it', async () => {
    const { agent, thread, request } = await asked({ type: 'user-approval', editable: true });
    const edited = request.approve({ input: { to: 'acme', amount: 8 }, reason: 'A typo.' });
    await agent.run(edited, thread, { principal: 'mia', channel: 'page' });
    const toolApproval = { pay: 'approved' } as const;
    const result = await backtest({ tools, toolApproval, threads: [thread] });
    expect(result.counts.run).toMatchObject({ edited: 1, unanswered: 1, approved: 0 });
    expect(result.disagreements).toEqual([
      {
        type: 'runs-edited',
        threadId: 't',
        step: 0,
        index: 0,
        toolCallId: 'c1',
        toolName: 'pay',
        input: bill,
        editedInput: { to: 'acme', amount: 8 },
        principal: 'mia',
        channel: 'page',
        reason: 'A typo.',
      },
    ]);
    expect(result.failures).toEqual([]);
    expect(String(result)).toContain('changed to {"to":"acme","amount":8}; by mia');
    const limited = await backtest({ tools, toolApproval, threads: [thread], maxEdited: 0 });
    expect(limited.failures).toHaveLength(1);
    const denying = await backtest({ tools, toolApproval: { pay: 'denied' }, threads: [thread] });
    expect(denying.disagreements).toMatchObject([{ type: 'denies-approved' }]);
  });

  test('counts as edited when another person approved the edit, and as approved when the edit was undone', async () => {
    const terms = { type: 'user-approval', editable: true, quorum: 2 } as const;
    const changed = await asked(terms);
    const input = { to: 'acme', amount: 8 };
    await changed.agent.respond(changed.request.approve({ input }), changed.thread, {
      principal: 'mia',
    });
    const [pending] = changed.thread.activeApprovalRequests;
    if (pending === undefined) throw new Error('It was closed.');
    await changed.agent.run(pending.approve(), changed.thread, { principal: 'bob' });
    const result = await backtest({
      tools,
      toolApproval: { pay: 'approved' },
      threads: [changed.thread],
    });
    expect(result.disagreements).toMatchObject([
      { type: 'runs-edited', editedInput: input, principal: 'mia' },
    ]);

    const undone = await asked(terms);
    await undone.agent.respond(undone.request.approve({ input }), undone.thread, {
      principal: 'mia',
    });
    const [edited] = undone.thread.activeApprovalRequests;
    if (edited === undefined) throw new Error('It was closed.');
    await undone.agent.respond(edited.approve({ input: bill }), undone.thread, {
      principal: 'bob',
    });
    const [restored] = undone.thread.activeApprovalRequests;
    if (restored === undefined) throw new Error('It was closed.');
    await undone.agent.run(restored.approve(), undone.thread, { principal: 'mia' });
    const same = await backtest({
      tools,
      toolApproval: { pay: 'approved' },
      threads: [undone.thread],
    });
    expect(same.disagreements).toEqual([]);
    expect(same.counts.run).toMatchObject({ approved: 1, edited: 0 });
  });
});

test('an edited call whose schema then makes another value of the edit counts as edited', async () => {
  let fee = 0;
  const sums = z.object({ euros: z.number().transform((euros) => euros + fee) });
  const pay = tool({ inputSchema: sums, execute: async () => 'paid' });
  const calls = [{ id: 'c1', name: 'pay', input: { euros: 500 } }];
  const { model } = scriptedModel([{ calls }, { text: 'Paid.' }]);
  const terms = { type: 'user-approval', editable: true } as const;
  const agent = createAgent({ model, tools: { pay }, toolApproval: { pay: terms } });
  const thread = await agent.thread('t');
  const { approvalRequests } = await agent.run('Pay.', thread);
  const edits = approvalRequests.map((request) => request.approve({ input: { euros: 5 } }));
  await agent.respond(edits, thread);
  fee = 1;
  const again = await agent.run([], thread);
  expect(again.approvalRequests[0]?.reason).toContain('the input that a person has edited');
  await agent.run(
    again.approvalRequests.map((request) => request.approve({ reason: 'Fine.' })),
    thread,
    { principal: 'ben' },
  );
  const result = await backtest({
    tools: { pay },
    toolApproval: { pay: 'approved' },
    threads: [thread],
  });
  expect(result.disagreements).toMatchObject([
    {
      type: 'runs-edited',
      input: { euros: 500 },
      editedInput: { euros: 6 },
      principal: 'ben',
      reason: 'Fine.',
    },
  ]);
});

test('an edited call that the next person rejects is rejected', async () => {
  const { agent, thread, request } = await asked({
    type: 'user-approval',
    editable: true,
    quorum: 2,
  });
  const edited = request.approve({ input: { to: 'acme', amount: 8 } });
  await agent.respond(edited, thread, { principal: 'mia' });
  const [pending] = thread.activeApprovalRequests;
  if (pending === undefined) throw new Error('It was closed.');
  await agent.run(pending.reject('Not at all.'), thread, { principal: 'bob' });
  const result = await backtest({ tools, toolApproval: { pay: 'approved' }, threads: [thread] });
  expect(result.disagreements).toMatchObject([
    { type: 'runs-rejected', principal: 'bob', reason: 'Not at all.' },
  ]);
  expect(result.disagreements[0]).not.toHaveProperty('editedInput');
});

describe('a call that a standing answer decided', () => {
  const terms = { type: 'user-approval', reason: 'It costs money.', remember: true } as const;

  test('is counted as granted, and denying it is a disagreement with people', async () => {
    const { agent, thread, request } = await asked(terms);
    await agent.run(request.approve({ remember: true }), thread, { principal: 'mia' });
    expect(thread.calls.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
    const result = await backtest({ tools, toolApproval: { pay: terms }, threads: [thread] });
    expect(result.counts.ask).toMatchObject({ approved: 1, granted: 1 });
    expect(result.disagreements).toEqual([]);
    expect(result.reasons).toMatchObject([{ reason: 'It costs money.', calls: 2 }]);
    /* The standing approval saved the second question already. */
    expect(result.standingApproval).toBeUndefined();
    const denying = await backtest({ tools, toolApproval: { pay: 'denied' }, threads: [thread] });
    expect(denying.disagreements.map(({ type }) => type)).toEqual([
      'denies-approved',
      'denies-approved',
    ]);
  });

  test('is counted as rejected if it was a standing rejection', async () => {
    const { agent, thread, request } = await asked(terms);
    const answer = request.reject({ reason: 'Never.', remember: true });
    await agent.run(answer, thread, { principal: 'mia' });
    expect(thread.calls.map(({ status }) => status)).toEqual(['denied', 'denied']);
    const result = await backtest({ tools, toolApproval: { pay: 'approved' }, threads: [thread] });
    expect(result.disagreements).toMatchObject([
      { type: 'runs-rejected', toolCallId: 'c1', principal: 'mia', reason: 'Never.' },
      { type: 'runs-rejected', toolCallId: 'c2', reason: 'Never.' },
    ]);
  });
});

test('a person who had a lost call retried has not answered about the call', async () => {
  const { agent } = (await lostCalls(['t'])).agent();
  const thread = await agent.thread('t');
  await agent.settle(thread, 'c1', { status: 'retry' }, { principal: 'ann' });
  await agent.run([], thread);
  const requests = thread.events.filter(({ type }) => type === 'request-answered');
  expect(requests).toMatchObject([{}, { principal: 'ann' }]);
  const travel = travelTools([]);
  const toolApproval = { book: 'denied' } as const;
  const result = await backtest({ tools: travel, toolApproval, threads: [thread] });
  const [found] = result.disagreements;
  expect(found).toMatchObject({ type: 'denies-approved', toolName: 'book' });
  expect(found?.principal).toBeUndefined();
});
