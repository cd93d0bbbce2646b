import * as fc from 'fast-check';
import { createAgent } from 'holdpoint';
import { backtest } from 'holdpoint/backtest';
import { scriptedModel } from 'holdpoint/testing';
import { expect, test } from 'vitest';
import { coversInput } from '../../src/policy/match-grant.ts';
import {
  type Answer,
  candidateTools,
  type Payment,
  recordPayments,
  tickingClock,
} from './recorded-payments.ts';
import { countTrials } from '../support/sampling.ts';

type StandingApproval = NonNullable<Awaited<ReturnType<typeof backtest>>['standingApproval']>;

const toolApproval = { pay: 'user-approval' } as const;

type Told = readonly [to: string, amount: number, answer: Answer, note?: string];

/** The best standing approval for threads of payments, each with its requester. */
async function bestFor(
  threads: readonly { principal?: string | null; payments: readonly Told[] }[],
): Promise<StandingApproval | undefined> {
  const now = tickingClock();
  const recorded = [];
  for (const [index, { principal = 'ada', payments }] of threads.entries()) {
    const made = payments.map(([to, amount, answer, note]): Payment => ({
      input: { to, amount, ...(note === undefined ? {} : { note }) },
      answer,
    }));
    recorded.push(await recordPayments(`t${index}`, made, { principal, now }));
  }
  return (await backtest({ tools: candidateTools, toolApproval, threads: recorded }))
    .standingApproval;
}

test('inputs that are equal need one standing approval of exactly that input', async () => {
  const payments = [
    ['ann', 5, 'yes'],
    ['ann', 5, 'yes'],
    ['ann', 5, 'yes'],
    ['bob', 9, 'no'],
  ] as const;
  expect(await bestFor([{ payments }])).toEqual({
    toolName: 'pay',
    match: { type: 'exact', input: { to: 'ann', amount: 5 } },
    scope: 'thread',
    saved: 2,
    unanswered: 0,
    threads: [{ threadId: 't0', saved: 2 }],
    capped: false,
  });
});

test('the narrowest fields are taken: all that the approved inputs share', async () => {
  const best = await bestFor([
    {
      payments: [
        ['ann', 5, 'yes', 'rent'],
        ['ann', 6, 'yes', 'rent'],
        ['ann', 7, 'no', 'gift'],
      ],
    },
  ]);
  expect(best).toMatchObject({
    match: { type: 'fields', fields: { to: 'ann', note: 'rent' } },
    saved: 1,
  });
});

test('any input, where the approved ones share nothing', async () => {
  const best = await bestFor([
    {
      payments: [
        ['ann', 5, 'yes'],
        ['bob', 6, 'yes'],
      ],
    },
  ]);
  expect(best).toMatchObject({ match: { type: 'any' }, scope: 'thread', saved: 1 });
});

test('a wider scope is taken only for more questions: across threads, and across people', async () => {
  const ann = ['ann', 5, 'yes'] as const;
  const ofOne = await bestFor([{ payments: [ann] }, { payments: [ann] }]);
  expect(ofOne).toMatchObject({
    scope: 'principal',
    saved: 1,
    threads: [{ threadId: 't1', saved: 1 }],
  });
  const ofTwo = await bestFor([
    { principal: 'ada', payments: [ann] },
    { principal: 'bea', payments: [ann] },
  ]);
  expect(ofTwo).toMatchObject({ scope: 'everyone', saved: 1 });
});

test('a rejection rules out the scopes in which it would have been overruled, and no others', async () => {
  const best = await bestFor([
    {
      principal: 'ada',
      payments: [
        ['ann', 5, 'yes'],
        ['ann', 5, 'yes'],
      ],
    },
    { principal: 'bea', payments: [['ann', 5, 'no']] },
    { principal: 'ada', payments: [['ann', 5, 'yes']] },
  ]);
  expect(best).toMatchObject({ scope: 'principal', saved: 2 });
  const none = await bestFor([
    {
      payments: [
        ['ann', 5, 'yes'],
        ['ann', 5, 'no'],
        ['ann', 5, 'yes'],
      ],
    },
  ]);
  expect(none).toBeUndefined();
});

test('calls without a requester share no standing approval for a requester', async () => {
  const payments = [['ann', 5, 'yes']] as const;
  const threads = [
    { principal: null, payments },
    { principal: null, payments },
  ];
  expect(await bestFor(threads)).toMatchObject({ scope: 'everyone', saved: 1 });
});

test('prefers the match with more fields where two save the same', async () => {
  const best = await bestFor([
    {
      payments: [
        ['ann', 1, 'yes', 'x'],
        ['ann', 2, 'yes', 'x'],
      ],
    },
    { payments: [['ann', 3, 'yes', 'y']] },
    { payments: [['ann', 4, 'no', 'y']] },
  ]);
  expect(best).toMatchObject({
    match: { fields: { to: 'ann', note: 'x' } },
    scope: 'thread',
    saved: 1,
  });
});

test('a call of another thread that waited already would not have been saved', async () => {
  const input = { to: 'ann', amount: 5 };
  const { model } = scriptedModel([{ calls: [{ id: 'c1', name: 'pay', input }] }], {
    repeat: true,
  });
  const tools = { pay: { ...candidateTools.pay, execute: async () => 'paid' } };
  const agent = createAgent({ model, tools, toolApproval, maxSteps: 1, now: tickingClock() });
  const waiting = [];
  for (const id of ['t1', 't2']) waiting.push(await agent.run('Pay.', await agent.thread(id)));
  for (const { approvalRequests, thread } of waiting) {
    const answers = approvalRequests.map((request) => request.approve());
    await agent.respond(answers, thread);
  }
  const threads = waiting.map(({ thread }) => thread);
  const result = await backtest({ tools: candidateTools, toolApproval, threads });
  expect(result.counts.ask.approved).toBe(2);
  expect(result.standingApproval).toBeUndefined();
});

test('an edited call contradicts a standing approval that matches it', async () => {
  const input = { to: 'ann', amount: 5 };
  const calls = ['c1', 'c2'].map((id) => ({ id, name: 'pay', input }));
  const { model } = scriptedModel([...calls, ...calls].map((call) => ({ calls: [call] })));
  const tools = { pay: { ...candidateTools.pay, execute: async () => 'paid' } };
  const rule = { pay: { type: 'user-approval', editable: true } } as const;
  const agent = createAgent({ model, tools, toolApproval: rule, maxRetries: 0 });
  const thread = await agent.thread('t');
  let { approvalRequests } = await agent.run('Pay.', thread);
  for (const edited of [false, false, true]) {
    const [request] = approvalRequests;
    if (request === undefined) throw new Error('Nothing was asked.');
    const answer = request.approve(edited ? { input: { to: 'ann', amount: 4 } } : {});
    ({ approvalRequests } = await agent.run([answer], thread));
  }
  const result = await backtest({ tools: candidateTools, toolApproval, threads: [thread] });
  expect(result.counts.ask).toMatchObject({ approved: 2, edited: 1, unanswered: 1 });
  expect(result.standingApproval).toBeUndefined();
});

test('a call that the provider runs can have no standing approval', async () => {
  const asking = ['p1', 'p2'].map((id) => ({
    calls: [{ id, name: 'mcp.open', input: {}, atProvider: { approvalId: `a-${id}` } }],
  }));
  const { model } = scriptedModel([...asking, { text: 'Done.' }]);
  const agent = createAgent({ model });
  const thread = await agent.thread('t');
  let { approvalRequests } = await agent.run('Open.', thread);
  while (approvalRequests.length > 0) {
    const answers = approvalRequests.map((request) => request.approve());
    ({ approvalRequests } = await agent.run(answers, thread));
  }
  const result = await backtest({ tools: {}, threads: [thread] });
  expect(result.counts.ask.approved).toBe(2);
  expect(result.standingApproval).toBeUndefined();
});

test('agents do not share a standing approval', async () => {
  const payments = [{ input: { to: 'ann', amount: 5 }, answer: 'yes' }] as const;
  const now = tickingClock();
  const threads = [
    await recordPayments('t1', payments, { name: 'bank', now }),
    await recordPayments('t2', payments, { name: 'shop', now }),
  ];
  const result = await backtest({ tools: candidateTools, toolApproval, threads });
  expect(result.standingApproval).toBeUndefined();
});

test('a call that nobody answered is no contradiction, but it is counted', async () => {
  const best = await bestFor([
    {
      payments: [
        ['ann', 5, 'yes'],
        ['ann', 5, 'yes'],
        ['ann', 5, 'none'],
      ],
    },
  ]);
  expect(best).toMatchObject({ saved: 1, unanswered: 1 });
});

test('a call that was asked about before the other was approved would not have been saved', async () => {
  const input = { to: 'ann', amount: 5 };
  const calls = ['c1', 'c2'].map((id) => ({ id, name: 'pay', input }));
  const { model } = scriptedModel([{ calls }, { text: 'Done.' }]);
  const tools = { pay: { ...candidateTools.pay, execute: async () => 'paid' } };
  const agent = createAgent({ model, tools, toolApproval });
  const { approvalRequests, thread } = await agent.run('Pay.', await agent.thread('t'));
  for (const request of approvalRequests) await agent.run(request.approve(), thread);
  const result = await backtest({ tools: candidateTools, toolApproval, threads: [thread] });
  expect(result.counts.ask.approved).toBe(2);
  expect(result.standingApproval).toBeUndefined();
});

test('only questions that the candidate would ask, on the same terms, are saved', async () => {
  const payments = [
    { input: { to: 'ann', amount: 5 }, answer: 'yes' },
    { input: { to: 'ann', amount: 900 }, answer: 'yes' },
    { input: { to: 'ann', amount: 6 }, answer: 'yes' },
  ] as const;
  const threads = [await recordPayments('t', payments)];
  const tools = candidateTools;
  const running = await backtest({ tools, toolApproval: { pay: 'approved' }, threads });
  expect(running.standingApproval).toBeUndefined();
  const risky = {
    pay: ({ amount }: { amount: number }) =>
      ({ type: 'user-approval', risk: amount > 100 ? 'high' : 'low' }) as const,
  };
  const result = await backtest({ tools, toolApproval: risky, threads });
  expect(result.standingApproval).toMatchObject({ saved: 1 });
  expect(String(result)).toContain(
    'The narrowest standing approval that would have saved the most questions, 1, without a contradiction:\n' +
      '  pay with the fields {"to":"ann"}, given once in each thread\n' +
      '  Its rule must allow it: remember: {"scope":"thread","match":["to"]}\n' +
      '  It would have saved questions in t (1)',
  );
});

test('for any answers: no contradiction, as many questions as counted, and no wider search finds more', async () => {
  const answer = fc.constantFrom<Answer>('yes', 'yes', 'yes', 'no');
  const payment = fc.tuple(
    fc.constantFrom('ann', 'bob'),
    fc.constantFrom(1, 2),
    answer,
    fc.constantFrom('x', 'y'),
  );
  const thread = fc.record({
    principal: fc.constantFrom('ada', 'bea'),
    payments: fc.array(payment, { minLength: 1, maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(thread, { minLength: 1, maxLength: 4 }), async (threads) => {
      const best = await bestFor(threads);
      const counted = allGrants().map((grant) => savedBy(threads, grant));
      const most = Math.max(...counted.map((saved) => saved ?? 0));
      expect(best?.saved ?? 0).toBe(most);
      expect(best && savedBy(threads, best)).toBe(best?.saved);
    }),
    { numRuns: countTrials(100) },
  );
});

type Grant = Pick<StandingApproval, 'match' | 'scope'>;
type Threads = readonly { principal: string; payments: readonly Told[] }[];

/** Every standing approval of these inputs. */
function allGrants(): Grant[] {
  const values = { to: ['ann', 'bob'], amount: [1, 2], note: ['x', 'y'] };
  let fields: Record<string, unknown>[] = [{}];
  for (const [name, some] of Object.entries(values)) {
    fields = fields.flatMap((set) => [set, ...some.map((value) => ({ ...set, [name]: value }))]);
  }
  return fields.flatMap((set) =>
    (['thread', 'principal', 'everyone'] as const).map((scope) => ({
      scope,
      match: { type: 'fields' as const, fields: set },
    })),
  );
}

/** What a standing approval would have saved, told by the words of the docs; `undefined` if it contradicts an answer. */
function savedBy(threads: Threads, { match, scope }: Grant): number | undefined {
  const given = new Map<string, { approved: number; rejected: number }>();
  for (const [index, { principal, payments }] of threads.entries()) {
    const key = { thread: String(index), principal, everyone: '' }[scope];
    const group = given.get(key) ?? { approved: 0, rejected: 0 };
    given.set(key, group);
    for (const [to, amount, answer, note] of payments) {
      const grant = Object.assign(Object.create(null), { match });
      if (!coversInput(grant, { input: { to, amount, note } })) continue;
      if (answer === 'yes') group.approved += 1;
      else group.rejected += 1;
    }
  }
  const groups = [...given.values()].filter(({ approved }) => approved > 0);
  if (groups.some(({ rejected }) => rejected > 0)) return undefined;
  return groups.reduce((sum, { approved }) => sum + approved - 1, 0);
}
