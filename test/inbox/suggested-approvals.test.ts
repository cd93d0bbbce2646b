import { tool } from 'ai';
import { createAgent, memoryStore, type ThreadStore, type ThreadStoreRequests } from 'holdpoint';
import { scriptedModel } from 'holdpoint/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { suggestStandingApproval } from '../../src/backtest/suggest-standing-approval.ts';

interface Payment {
  to: string;
  euros: number;
}

const acme = (euros: number): Payment => ({ to: 'ACME', euros });

function requireRequests({ requests }: ThreadStore): ThreadStoreRequests {
  if (requests === undefined) throw new Error('The store keeps no requests.');
  return requests;
}

/** An office whose agent asks about each payment that it is told to make. */
function makeOffice(rule: object = {}, name: string | null = 'office') {
  const store = memoryStore();
  const requests = requireRequests(store);
  let now = 0;
  const clock = () => (now += 1_000);
  const pay = tool({
    description: 'Pays.',
    inputSchema: z.object({ to: z.string(), euros: z.number() }),
    execute: async () => 'Paid.',
  });
  let count = 0;
  /** Has a payment asked about and answered; resolves with the row of its request. */
  async function decide(
    payment: Payment,
    { by = 'ada', answer = 'approve', thread: threadId = `t${count}` }: Decision = {},
  ) {
    count += 1;
    const id = `c${count}`;
    const { model } = scriptedModel([
      { calls: [{ id, name: 'pay', input: payment }] },
      { text: 'Done.' },
    ]);
    const agent = createAgent({
      ...(name === null ? {} : { name }),
      model,
      store,
      now: clock,
      tools: { pay },
      toolApproval: {
        pay: {
          type: 'user-approval',
          editable: true,
          remember: { scope: 'everyone', match: ['to'], uses: 50 },
          ...rule,
        },
      },
    });
    const thread = await agent.thread(threadId);
    const { approvalRequests } = await agent.run('Pay.', thread, { principal: 'eve' });
    const [request] = approvalRequests;
    if (request === undefined) throw new Error('Nothing was asked.');
    const edited = { input: { ...payment, euros: 1 } };
    const given =
      answer === 'reject' ? request.reject() : request.approve(answer === 'edit' ? edited : {});
    await agent.run(given, thread, { principal: by });
    const row = await requests.get(request.requestId);
    if (row === undefined) throw new Error('The request has no row.');
    return row;
  }
  /** What is suggested after a payment that was approved. */
  const suggest = async (payment: Payment, decision?: Decision) => {
    const row = await decide(payment, decision);
    const { by: principal = 'ada' } = decision ?? {};
    return suggestStandingApproval({ requests, principalId: undefined, principal, row });
  };
  return { decide, suggest, requests };
}

interface Decision {
  by?: string;
  answer?: 'approve' | 'reject' | 'edit';
  thread?: string;
}

async function decideAll(
  office: ReturnType<typeof makeOffice>,
  payments: readonly Payment[],
  decision?: Decision,
) {
  for (const payment of payments) await office.decide(payment, decision);
}

test('after five alike, the narrowest standing approval that would have saved the questions', async () => {
  const office = makeOffice();
  await decideAll(office, [10, 20, 30].map(acme));
  await office.decide({ to: 'Bolt', euros: 5 });
  expect(await office.suggest(acme(40))).toBeUndefined();
  expect(await office.suggest(acme(50))).toEqual({
    toolName: 'pay',
    decided: 6,
    approved: 6,
    remember: { scope: 'principal', match: ['to'], uses: 50 },
    covered: 4,
  });
});

test('it says when the person last rejected one, and covers none that anybody rejected', async () => {
  const office = makeOffice();
  await decideAll(office, [10, 20, 30, 40].map(acme));
  const rejected = await office.decide({ to: 'Bolt', euros: 5 }, { answer: 'reject' });
  expect(await office.suggest(acme(50))).toMatchObject({
    decided: 6,
    approved: 5,
    rejectedAt: rejected.decidedAt,
    covered: 4,
  });
  await office.decide(acme(60), { by: 'bob', answer: 'reject' });
  expect(await office.suggest(acme(70))).toBeUndefined();
});

test('nothing after a person whose approvals others have given, or after one that would cover an edited call', async () => {
  const office = makeOffice();
  await decideAll(office, [10, 20, 30, 40, 50].map(acme), { by: 'bob' });
  expect(await office.suggest(acme(60))).toBeUndefined();
  await decideAll(office, [70, 80, 90].map(acme));
  expect(await office.suggest(acme(91))).toMatchObject({ approved: 5 });
  await office.decide(acme(92), { by: 'bob', answer: 'edit' });
  expect(await office.suggest(acme(93))).toBeUndefined();
});

test('no wider than the rule allows: exactly the same input', async () => {
  const office = makeOffice({
    remember: { scope: 'everyone', match: 'exact', expiresAfterMs: 60_000 },
  });
  await decideAll(office, [10, 20, 30, 40, 50, 60].map(acme));
  expect(await office.suggest(acme(70))).toBeUndefined();
  await decideAll(office, [70, 70, 70].map(acme));
  expect(await office.suggest(acme(70))).toMatchObject({
    remember: { scope: 'principal', match: 'exact', expiresAfterMs: 60_000 },
  });
});

test.each([
  ['a rule that lets nothing be remembered', { remember: undefined }, 'office'],
  ['the highest risk', { risk: 'critical' }, 'office'],
  [
    'an agent without a name, whose grants reach one thread alone',
    { remember: { scope: 'thread', match: ['to'] } },
    null,
  ],
] as const)('nothing for %s', async (_for, rule, name) => {
  const office = makeOffice(rule, name);
  await decideAll(office, [10, 20, 30, 40, 50].map(acme));
  expect(await office.suggest(acme(60))).toBeUndefined();
});

test('for an agent without a name, one that reaches its thread', async () => {
  const office = makeOffice({ remember: { scope: 'thread', match: ['to'] } }, null);
  await decideAll(office, [10, 20, 30, 40].map(acme), { thread: 'one' });
  expect(await office.suggest(acme(50), { thread: 'one' })).toMatchObject({
    remember: { scope: 'thread', match: ['to'] },
    covered: 4,
  });
});

/** An app that tells the people of two branches apart. */
const principalId = (principal: unknown) => `north/${String(principal)}`;

test('nothing where the rows do not tell people apart whom the app does', async () => {
  const office = makeOffice();
  await decideAll(office, [10, 20, 30, 40, 50].map(acme));
  const row = await office.decide(acme(60));
  const { requests } = office;
  const approved = { requests, principalId, principal: 'ada', row };
  expect(await suggestStandingApproval(approved)).toBeUndefined();
  expect(await suggestStandingApproval({ ...approved, principalId: undefined })).toBeDefined();
});

test('nothing after a rejection, and nothing once the text of the request was erased', async () => {
  const office = makeOffice();
  await decideAll(office, [10, 20, 30, 40, 50].map(acme));
  expect(await office.suggest({ to: 'Bolt', euros: 1 }, { answer: 'reject' })).toBeUndefined();
  const { requests } = office;
  const { requestId } = await office.decide(acme(60));
  await requests.erase(requestId);
  const row = await requests.get(requestId);
  if (row === undefined) throw new Error('The row is gone.');
  const approved = { requests, principalId: undefined, principal: 'ada', row };
  expect(await suggestStandingApproval(approved)).toBeUndefined();
});
