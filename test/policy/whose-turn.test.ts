import { tool } from 'ai';
import { type AgentResponse, later } from 'holdpoint';
import { createAgUiHandler } from 'holdpoint/ag-ui';
import { auditTrail } from 'holdpoint/audit';
import { createUiHandler } from 'holdpoint/ui';
import { resumeThread } from 'holdpoint/worker';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { poster, runInput, user } from '../ag-ui/ag-ui-site.ts';
import { cityInput } from '../support/travel-world.ts';
import { chatPage, openApprovals } from '../ui/chat-page.ts';
import { ada, byRole, cashDesk, causersOf, eve, pay, twoPayments } from './cash-desk.ts';
import { pickCases } from '../support/sampling.ts';

type Desk = ReturnType<typeof cashDesk>;

/** Whoever signed in last on the desk's routes. */
function signIn(first: typeof eve) {
  const signed = { in: first };
  return { signed, authorize: () => signed.in };
}

/** An admin whose principal is another object in each session. */
function rita(session: number) {
  return { principal: { id: 'rita', session }, runtimeContext: { role: 'admin' } };
}

async function ask(desk: Desk): Promise<AgentResponse> {
  return desk.agent.run('Pay 1, then 5000.', await desk.agent.thread('t'), eve);
}

const failing = { fail: 'overloaded' };

/** What Ada does after Eve has asked, with the script of the model and what is paid of it. */
type Way = [
  what: string,
  script: Parameters<typeof cashDesk>[0],
  acts: (desk: Desk) => Promise<unknown>,
  paid: number[],
];

const ways: Way[] = [
  [
    'approves the payment of 1',
    twoPayments,
    async (desk) => {
      const { approvalRequests, thread } = await ask(desk);
      const answers = approvalRequests.map((request) => request.approve());
      await desk.agent.run(answers, thread, ada);
    },
    [1],
  ],
  [
    'rejects it, and the model tries again',
    twoPayments,
    async (desk) => {
      const { approvalRequests, thread } = await ask(desk);
      const answers = approvalRequests.map((request) => request.reject('No.'));
      await desk.agent.run(answers, thread, ada);
    },
    [],
  ],
  [
    'runs the thread again after the provider failed',
    [failing, ...twoPayments.slice(1)],
    async (desk) => {
      await expect(ask(desk)).rejects.toThrow('overloaded');
      await desk.agent.run([], await desk.agent.thread('t'), ada);
    },
    [],
  ],
  [
    'says hello after the provider failed',
    [failing, ...twoPayments.slice(1)],
    async (desk) => {
      await expect(ask(desk)).rejects.toThrow('overloaded');
      await desk.agent.run('Hello.', await desk.agent.thread('t'), ada);
    },
    [],
  ],
  [
    'approves on the page',
    twoPayments,
    async ({ agent }) => {
      const { signed, authorize } = signIn(eve);
      const page = chatPage(createUiHandler({ agent, authorize }));
      await page.chat.sendMessage({ text: 'Pay 1, then 5000.' });
      signed.in = ada;
      for (const id of openApprovals(page.chat.messages)) await page.respond(id, true);
    },
    [1],
  ],
  [
    'rejects on the page',
    twoPayments,
    async ({ agent }) => {
      const { signed, authorize } = signIn(eve);
      const page = chatPage(createUiHandler({ agent, authorize }));
      await page.chat.sendMessage({ text: 'Pay 1, then 5000.' });
      signed.in = ada;
      for (const id of openApprovals(page.chat.messages)) await page.respond(id, false);
    },
    [],
  ],
  [
    'has the page try again',
    [{ calls: [pay('c1', 1)] }, failing, ...twoPayments.slice(1)],
    async ({ agent }) => {
      const { signed, authorize } = signIn(eve);
      const page = chatPage(createUiHandler({ agent, authorize }));
      await page.chat.sendMessage({ text: 'Pay 1, then 5000.' });
      for (const id of openApprovals(page.chat.messages)) await page.respond(id, true);
      expect(page.errors).toHaveLength(1);
      signed.in = ada;
      await page.chat.regenerate();
      await page.quiet();
    },
    [1],
  ],
  [
    'sends an AG-UI run without a message',
    [failing, ...twoPayments.slice(1)],
    async ({ agent }) => {
      const { signed, authorize } = signIn(eve);
      const post = poster(createAgUiHandler({ agent, authorize, keepAliveMs: 0 }));
      await post(runInput({ messages: [user('u1', 'Pay 5000.')] }));
      signed.in = ada;
      await post(runInput({ messages: [user('u1', 'Pay 5000.')] }));
    },
    [],
  ],
  [
    'approves over AG-UI',
    twoPayments,
    async ({ agent }) => {
      const { signed, authorize } = signIn(eve);
      const post = poster(createAgUiHandler({ agent, authorize, keepAliveMs: 0 }));
      await post(runInput({ messages: [user('u1', 'Pay 1, then 5000.')] }));
      signed.in = ada;
      const { activeRequests } = await agent.thread('t');
      const resume = activeRequests.map(({ requestId }) => ({
        interruptId: requestId,
        status: 'resolved',
        payload: { approved: true },
      }));
      await post(runInput({ messages: [user('u1', 'Pay 1, then 5000.')], resume }));
    },
    [1],
  ],
  [
    'answers, and a worker resumes',
    twoPayments,
    async (desk) => {
      const { approvalRequests, thread } = await ask(desk);
      const answers = approvalRequests.map((request) => request.approve());
      await desk.agent.respond(answers, thread, { principal: 'ada' });
      await resumeThread(desk.agent, 't');
    },
    [1],
  ],
];

describe('Eve’s 5,000 is asked about, although Ada is an admin, where Ada', () => {
  test.each(pickCases(ways, 3))('%s', async (_what, script, act, paid) => {
    const desk = cashDesk(script);
    await act(desk);
    const thread = await desk.agent.thread('t');
    expect(desk.paid).toEqual(paid);
    expect(thread.activeRequests).toMatchObject([{ toolCall: { input: { amount: 5_000 } } }]);
  });
});

test('so it is where Ada only holds a connection open, while a tool works elsewhere', async () => {
  const look = tool({ inputSchema: cityInput, execute: async () => later });
  const calls = [{ id: 'c0', name: 'look', input: { city: 'Oslo' } }];
  const { tools, paid } = cashDesk([]);
  const desk = cashDesk([{ calls }, ...twoPayments.slice(1)], {
    tools: { ...tools, look },
    toolApproval: (options) =>
      options.toolCall.toolName === 'look' ? 'approved' : byRole(options),
  });
  const { agent } = desk;
  const { signed, authorize } = signIn(eve);
  const arrived = Promise.withResolvers<void>();
  const wait = async (milliseconds: number): Promise<void> => {
    if (milliseconds > 1_000) return arrived.promise;
    await agent.deliver(await agent.thread('t'), 'c0', { status: 'succeeded', output: 'seen' });
  };
  const options = { agent, authorize, keepAliveMs: 0, holdOpenMs: 86_400_000, pollMs: 7, wait };
  await poster(createAgUiHandler({ ...options, holdOpenMs: 0 }))(
    runInput({ messages: [user('u1', 'Look, then pay 5000.')] }),
  );
  signed.in = ada;
  await poster(createAgUiHandler(options))(
    runInput({ messages: [user('u1', 'Look, then pay 5000.')] }),
  );
  const { activeRequests } = await agent.thread('t');
  expect(paid).toEqual([]);
  expect(activeRequests).toMatchObject([{ toolCall: { input: { amount: 5_000 } } }]);
  expect(await causersOf(desk)).toEqual(['eve', 'ada']);
});

test('so it is where Eve’s process died, and Ada’s takes the thread over', async () => {
  const clock = { now: 0 };
  const settings = { now: () => clock.now, leaseMs: 1_000 };
  const reached = Promise.withResolvers<void>();
  const dead = Promise.withResolvers<undefined>();
  const eves = cashDesk([{ text: 'Too late.' }], {
    ...settings,
    prepareStep: async () => {
      reached.resolve();
      return dead.promise;
    },
  });
  const running = ask(eves);
  await reached.promise;
  clock.now += 2_000;
  const adas = cashDesk(twoPayments.slice(1), { ...settings, store: eves.store });
  const { activeRequests } = (await adas.agent.run([], await adas.agent.thread('t'), ada)).thread;
  expect(adas.paid).toEqual([]);
  expect(activeRequests).toMatchObject([{ toolCall: { input: { amount: 5_000 } } }]);
  expect(await causersOf(adas)).toEqual(['eve', 'ada']);
  dead.resolve(undefined);
  await running;
});

test('so it is in the turn of both, and where only the JSON of a principal differs', async () => {
  const both = cashDesk([failing, { calls: [pay('c1', 5_000)] }, { text: 'Done.' }]);
  const thread = await both.agent.thread('t');
  await expect(both.agent.run('Pay 5000.', thread, eve)).rejects.toThrow('overloaded');
  await both.agent.run('Yes, do.', thread, ada);
  expect(both.paid).toEqual([]);

  for (const [principalId, paid] of [
    [undefined, []],
    [(principal: unknown) => String(Reflect.get(Object(principal), 'id')), [5_000]],
  ] as const) {
    const script = [failing, { calls: [pay('c1', 5_000)] }, { text: 'Done.' }];
    const desk = cashDesk(script, principalId && { principalId });
    const own = await desk.agent.thread('t');
    await expect(desk.agent.run('Pay 5000.', own, rita(1))).rejects.toThrow('overloaded');
    await desk.agent.run([], own, rita(2));
    expect(desk.paid).toEqual(paid);
  }
});

test('Ada’s own 5,000 is paid unasked, and so it is when she resumes her own turn', async () => {
  const desk = cashDesk([
    { calls: [pay('c1', 5_000)] },
    failing,
    { calls: [pay('c2', 7_000)] },
    { text: 'Done.' },
  ]);
  const thread = await desk.agent.thread('t');
  await expect(desk.agent.run('Pay 5000.', thread, ada)).rejects.toThrow('overloaded');
  await desk.agent.run([], thread, ada);
  expect(desk.paid).toEqual([5_000, 7_000]);
});

test('an app that names nobody keeps its context, and one that names only who asked does not', async () => {
  const { runtimeContext } = ada;
  for (const [asked, paid] of [
    [{}, [5_000]],
    [{ principal: 'ada' }, []],
  ] as const) {
    const desk = cashDesk([failing, { calls: [pay('c1', 5_000)] }, { text: 'Done.' }]);
    const thread = await desk.agent.thread('t');
    const options = { ...asked, runtimeContext };
    await expect(desk.agent.run('Pay 5000.', thread, options)).rejects.toThrow('overloaded');
    await desk.agent.run([], thread, { runtimeContext });
    expect(desk.paid).toEqual(paid);
  }
});

test('prepareStep gets the role of nobody where Ada continues Eve’s turn, and Eve’s in hers', async () => {
  const seen: unknown[] = [];
  const desk = cashDesk(twoPayments, {
    prepareStep: ({ runtimeContext }) => {
      seen.push(runtimeContext);
      return undefined;
    },
  });
  const { approvalRequests, thread } = await ask(desk);
  const answers = approvalRequests.map((request) => request.approve());
  await desk.agent.run(answers, thread, ada);
  expect(seen).toEqual([{ role: 'user' }, {}]);
});

test('the log and the trail name who caused each run, and nobody for a worker', async () => {
  const desk = cashDesk([failing, failing, { text: 'Done.' }]);
  const { agent } = desk;
  await expect(ask(desk)).rejects.toThrow('overloaded');
  const thread = await agent.thread('t');
  await expect(agent.run([], thread, { ...ada, channel: 'web' })).rejects.toThrow('overloaded');
  await agent.run([], thread);
  expect(await causersOf(desk)).toEqual(['eve', 'ada', 'nobody']);
  const { rows } = await auditTrail(await agent.thread('t'));
  expect(rows.filter(({ what }) => what === 'run started')).toMatchObject([
    { who: 'eve' },
    { who: 'ada', channel: 'web' },
    { details: { runId: expect.any(String) } },
  ]);
  expect(rows.findLast(({ what }) => what === 'run started')).not.toHaveProperty('who');
});

test('a run that takes its thread again after it stalled names who caused it, too', async () => {
  const clock = { now: 0 };
  const options = { now: () => clock.now, leaseMs: 1_000 };
  const reader = cashDesk([], options);
  const stalling = tool({
    inputSchema: z.object({ amount: z.number() }),
    execute: async () => {
      clock.now += 2_000;
      /* Another process finds that the run has died. */
      await reader.agent.thread('t');
      return 'Paid.';
    },
  });
  const script = [{ calls: [pay('c1', 1)] }, { text: 'Done.' }];
  const { store } = reader;
  const desk = cashDesk(script, {
    ...options,
    store,
    tools: { pay: stalling },
    toolApproval: { pay: 'approved' },
  });
  expect(await ask(desk)).toMatchObject({ status: 'completed' });
  expect(await causersOf(desk)).toEqual(['eve', 'eve']);
});
