import type { AgentOptions } from 'holdpoint';
import { createCustomAgent } from 'holdpoint/custom-agent';
import { agentTool } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { AgentOffice, ask } from '../support/agent-office.ts';
import { scriptedWorld, ways, ofThread } from '../middleware/held-world.ts';
import { ada, byRole, cashDesk, causersOf, eve, pay, twoPayments } from './cash-desk.ts';
import { pickCases } from '../support/sampling.ts';

type Rule = NonNullable<AgentOptions['toolApproval']>;
type Options = { runtimeContext: Record<string, unknown> };

const reason = `The approval rule reads "role" of runtimeContext, which this run doesn't have.`;
/** Asks about the calls of guests alone. */
function unlessGuest({ runtimeContext }: Options) {
  return runtimeContext['role'] === 'guest' ? 'user-approval' : 'approved';
}

function isGuest(_input: unknown, options: object): boolean {
  return Reflect.get(Object(Reflect.get(options, 'runtimeContext')), 'role') === 'guest';
}

const remembering: Rule = ({ runtimeContext }) =>
  runtimeContext['role'] === 'admin' ? 'approved' : { type: 'user-approval', remember: true };

const forBoss: Rule = ({ requesters }) =>
  requesters.every((each) => each === 'boss') ? 'approved' : 'user-approval';

/** Asks where the context says `none` in a field. */
function reading(name: string): Rule {
  return ({ runtimeContext }) => (runtimeContext[name] === 'none' ? 'user-approval' : 'approved');
}

/** A clerk whose payer pays by role; `tool` are the options of the payer as a tool. */
function clerk(options: object = {}, toolApproval: Rule = byRole) {
  const office = new AgentOffice();
  const payer = cashDesk(twoPayments, { name: 'payer', store: office.store, toolApproval });
  const tools = { payer: agentTool(payer.agent, { description: 'Pays.', ...options }) };
  const script = [{ calls: [ask('a1', 'payer', 'Pay 1, then 5000.')] }, { text: 'Done.' }];
  return { payer, agent: office.agent('clerk', script, { tools }) };
}

/** A payment of 5,000 in a run without a context, and what was reported of the rule. */
async function withoutContext(options: Partial<AgentOptions>) {
  const desk = cashDesk([{ calls: [pay('c1', 5_000)] }, { text: 'Done.' }], options);
  const faults: string[] = [];
  desk.agent.on('setting-failed', ({ kind }) => void faults.push(kind));
  const thread = await desk.agent.thread('t');
  const response = await desk.agent.run('Pay 5000.', thread, { principal: 'eve' });
  return { ...desk, response, faults };
}

describe('in a run without a context, a rule that reads one asks', () => {
  const rules: [string, Partial<AgentOptions>][] = [
    ['and would run the call', { toolApproval: unlessGuest }],
    [
      'of one tool',
      { toolApproval: { pay: (_input: unknown, each: Options) => unlessGuest(each) } },
    ],
    [
      'asynchronously',
      {
        toolApproval: async (each) => {
          await new Promise(setImmediate);
          return unlessGuest(each);
        },
      },
    ],
    [
      'and leaves it to needsApproval',
      {
        toolApproval: (each) => {
          unlessGuest(each);
          return undefined;
        },
      },
    ],
    [
      'by taking the object apart',
      {
        toolApproval: ({ runtimeContext: { role = 'user' } }) =>
          role === 'guest' ? 'denied' : 'approved',
      },
    ],
  ];
  test.each(pickCases(rules, 3))('%s', async (_what, options) => {
    const { response, paid, faults } = await withoutContext(options);
    expect(paid).toEqual([]);
    expect(response.approvalRequests).toMatchObject([{ reason }]);
    expect(faults).toEqual([]);
  });

  test('and so does a needsApproval', async () => {
    const { tools } = cashDesk([]);
    const marked = { pay: Object.assign(tools.pay, { needsApproval: isGuest }) };
    const { response } = await withoutContext({ tools: marked, toolApproval: undefined });
    expect(response.approvalRequests).toMatchObject([{ reason }]);
  });
});

test('a rule that reads nothing of it decides, and so does one that only looks whether there is a field', async () => {
  const rules: Rule[] = [
    () => 'approved',
    ({ runtimeContext }) => ('role' in runtimeContext ? 'user-approval' : 'approved'),
    ({ runtimeContext }) =>
      JSON.stringify(runtimeContext) === '{}' ? 'approved' : 'user-approval',
  ];
  for (const toolApproval of rules) {
    expect((await withoutContext({ toolApproval })).paid).toEqual([5_000]);
  }
});

test('a rule that denies without a context denies', async () => {
  const { response, paid } = await withoutContext({
    toolApproval: ({ runtimeContext }) => (runtimeContext['role'] ? 'approved' : 'denied'),
  });
  expect(paid).toEqual([]);
  expect(response.thread.calls).toMatchObject([{ status: 'denied' }]);
});

test('no standing approval decides where the rule reads a role that the run does not have', async () => {
  const script = [
    { calls: [pay('c1', 1)] },
    { calls: [pay('c2', 1)] },
    { calls: [pay('c3', 1)] },
    { text: 'Done.' },
  ];
  const desk = cashDesk(script, { toolApproval: remembering });
  const thread = await desk.agent.thread('t');
  const first = await desk.agent.run('Pay 1 three times.', thread, eve);
  const remembered = first.approvalRequests.map((request) => request.approve({ remember: true }));
  const second = await desk.agent.run(remembered, thread, ada);
  expect(desk.paid).toEqual([1]);
  expect(second.approvalRequests).toMatchObject([{ reason }]);
  const approved = second.approvalRequests.map((request) => request.approve());
  await desk.agent.run(approved, thread, eve);
  expect(desk.paid).toEqual([1, 1, 1]);
});

test('rules get a frozen copy of the requesters, whoever continues the turn, in every form', async () => {
  const seen: unknown[] = [];
  const note = (options: object): 'user-approval' => {
    const requesters: unknown = Reflect.get(options, 'requesters');
    /* Nothing that a rule does to the list changes it. */
    seen.push([Reflect.set(Object(requesters), 0, 'mallory'), requesters]);
    return 'user-approval';
  };
  const { tools } = cashDesk([]);
  const needsApproval = (_input: unknown, options: object) => note(options) === 'user-approval';
  const forms: Partial<AgentOptions>[] = [
    { toolApproval: note },
    { toolApproval: { pay: (_input: unknown, options: object) => note(options) } },
    { toolApproval: undefined, tools: { pay: Object.assign(tools.pay, { needsApproval }) } },
  ];
  for (const options of forms) {
    seen.length = 0;
    const desk = cashDesk([{ fail: 'overloaded' }, ...twoPayments], options);
    const thread = await desk.agent.thread('t');
    await expect(desk.agent.run('Pay 1.', thread, eve)).rejects.toThrow('overloaded');
    const asked = await desk.agent.run('And 5000.', thread);
    await desk.agent.run(
      asked.approvalRequests.map((request) => request.approve()),
      thread,
      ada,
    );
    expect(new Set(seen.map((each) => JSON.stringify(each)))).toEqual(
      new Set(['[false,["eve",null]]']),
    );
    expect(seen.length).toBeGreaterThan(2);
  }
});

/** What is paid of what these people asked for, where a worker does it. */
async function paidFor(principals: (string | undefined)[]): Promise<number[]> {
  const failures = principals.map(() => ({ fail: 'overloaded' }));
  const script = [...failures, { calls: [pay('c1', 7)] }, { text: 'Done.' }];
  const { agent, paid } = cashDesk(script, { toolApproval: forBoss });
  const thread = await agent.thread('t');
  for (const principal of principals) {
    await expect(agent.run('Pay 7.', thread, { principal })).rejects.toThrow('overloaded');
  }
  await agent.run([], thread);
  return paid;
}

test('a rule by requesters pays what the boss alone asked for, in a worker too', async () => {
  expect(await paidFor(['boss'])).toEqual([7]);
  expect(await paidFor(['boss', 'eve'])).toEqual([]);
  expect(await paidFor(['boss', undefined])).toEqual([]);
});

test('an edit by Ada of Eve’s call is judged without Ada’s role', async () => {
  const editable = { type: 'user-approval', editable: true } as const;
  const toolApproval = {
    pay: ({ amount }: { amount: number }, { runtimeContext }: Options) => {
      if (runtimeContext['role'] === 'admin') return editable;
      return amount > 100 ? { ...editable, quorum: 2 } : editable;
    },
  };
  const desk = cashDesk(twoPayments, { toolApproval, principalId: String });
  const thread = await desk.agent.thread('t');
  const { approvalRequests } = await desk.agent.run('Pay 1.', thread, eve);
  const answers = approvalRequests.map((request) => request.approve({ input: { amount: 900 } }));
  const asked = await desk.agent.run(answers, thread, ada);
  expect(desk.paid).toEqual([]);
  expect(asked.approvalRequests).toMatchObject([
    { quorum: 2, toolCall: { input: { amount: 900 } } },
  ]);
});

describe('a sub-agent', () => {
  test('of Eve’s does not get the role of Ada, who approves, and its log names Ada', async () => {
    const { agent, payer } = clerk();
    const { approvalRequests, thread } = await agent.run('Pay.', await agent.thread('t'), eve);
    const next = await agent.run(
      approvalRequests.map((request) => request.approve()),
      thread,
      ada,
    );
    expect(payer.paid).toEqual([1]);
    expect(next.approvalRequests).toMatchObject([{ toolCall: { input: { amount: 5_000 } } }]);
    const below = next.thread.calls[0]?.agent?.threadId;
    expect(await causersOf(payer, below)).toEqual(['eve', 'ada']);
    expect(await causersOf({ agent })).toEqual(['eve', 'ada']);
  });

  test('gets what the app makes of the log, and asks where its rule reads more', async () => {
    const makes = { runtimeContext: () => ({ limit: 10, role: undefined }) };
    const limited = clerk(makes, reading('limit'));
    const thread = await limited.agent.thread('t');
    await limited.agent.run('Pay.', thread, { principal: 'eve' });
    expect(limited.payer.paid).toEqual([1, 5_000]);

    const byMissing = clerk(makes, reading('role'));
    const other = await byMissing.agent.thread('t');
    await byMissing.agent.run('Pay.', other, { principal: 'eve' });
    expect(byMissing.payer.paid).toEqual([]);
    await byMissing.agent.cancel(other, 'Enough.');

    const whole = clerk(makes, reading('role'));
    await whole.agent.run('Pay.', await whole.agent.thread('t'), eve);
    expect(whole.payer.paid).toEqual([1, 5_000]);
  });

  test('two levels down gets it neither', async () => {
    const office = new AgentOffice();
    const payer = cashDesk(twoPayments, { name: 'payer', store: office.store });
    const clerkTools = { payer: agentTool(payer.agent, { description: 'Pays.' }) };
    const below = [{ calls: [ask('a1', 'payer', 'Pay.')] }, { text: 'Done.' }];
    const middle = office.agent('clerk', below, { tools: clerkTools });
    const tools = { clerk: agentTool(middle, { description: 'Has it paid.' }) };
    const above = [{ calls: [ask('b1', 'clerk', 'Pay.')] }, { text: 'Done.' }];
    const boss = office.agent('boss', above, { tools });
    const { approvalRequests, thread } = await boss.run('Pay.', await boss.thread('t'), eve);
    const answers = approvalRequests.map((request) => request.approve());
    const next = await boss.run(answers, thread, ada);
    expect(payer.paid).toEqual([1]);
    expect(next.approvalRequests).toMatchObject([{ toolCall: { input: { amount: 5_000 } } }]);
  });
});

test('a custom agent gets the role of nobody in Eve’s turn that Ada continues', async () => {
  const seen: unknown[] = [];
  const { tools, paid } = cashDesk([]);
  const agent = createCustomAgent({
    tools,
    toolApproval: byRole,
    step: ({ stepNumber, runtimeContext }) => {
      seen.push(runtimeContext);
      const amounts = [1, 5_000];
      const amount = amounts[stepNumber];
      if (amount === undefined) return { text: 'Done.' };
      return { toolCalls: [{ toolName: 'pay', input: { amount } }] };
    },
  });
  const { approvalRequests, thread } = await agent.run('Pay.', await agent.thread('t'), eve);
  const answers = approvalRequests.map((request) => request.approve());
  const next = await agent.run(answers, thread, ada);
  expect(paid).toEqual([1]);
  expect(next.approvalRequests).toMatchObject([{ toolCall: { input: { amount: 5_000 } } }]);
  expect(seen).toEqual([{ role: 'user' }, {}]);
});

test.each(pickCases(ways, 3))(
  '$name: rules behind holdPoint know who asked, and no role',
  async (way) => {
    const seen: unknown[] = [];
    const { tools } = cashDesk([]);
    const { model, agent } = scriptedWorld([{ calls: [pay('c1', 5_000)] }, { text: 'Done.' }], {
      tools,
      toolApproval: (options) => {
        seen.push(options.requesters);
        return unlessGuest(options);
      },
    });
    const messages = [{ role: 'user' as const, content: 'Pay 5000.' }];
    await way.ask({ model, messages, ...ofThread('t', { principal: 'eve' }) });
    const { activeRequests } = await agent.thread('t');
    expect(activeRequests).toMatchObject([{ reason }]);
    expect(seen).toEqual([['eve']]);
    expect(await causersOf({ agent })).toEqual(['eve']);
  },
);
