import { tool } from 'ai';
import {
  type Agent,
  type AgentThread,
  createAgent,
  memoryStore,
  type ThreadStore,
} from 'holdpoint';
import { runWorker } from 'holdpoint/worker';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { waitFor } from '../support/waiting.ts';

/** A tool whose calls never end. */
const broken = tool({ inputSchema: z.object({}), execute: async () => new Promise(() => {}) });
const brokenCall = { id: 'x1', name: 'broken', input: {} };
const short = { timeout: { toolMs: 10 }, abortGraceMs: 5 };

/** An agent that makes a call whose outcome is never known. */
function breaker(office: AgentOffice): Agent {
  const script = [{ calls: [brokenCall] }, { text: 'Over.' }];
  return office.agent('breaker', script, { tools: { broken }, ...short });
}

/** An agent that has another one do something. */
function managerOf(office: AgentOffice, below: Agent, name = 'manager'): Agent {
  const script = [{ calls: [ask('b1', 'buy', 'Buy.')] }, { text: 'Done.' }];
  return office.agent(name, script, { tools: { buy: office.tool(below) } });
}

function lostIn({ calls }: AgentThread) {
  return calls.flatMap(({ agent }) => agent?.lostCalls ?? []);
}

test('three levels: a lost call is visible at the top, with the agent and thread that settle it', async () => {
  const office = new AgentOffice();
  const inner = breaker(office);
  const manager = managerOf(office, managerOf(office, inner, 'middle'));
  const thread = await manager.thread('t');
  await manager.run('Go.', thread);
  expect(lostIn(thread)).toEqual([
    { agent: 'breaker', threadId: expect.any(String), toolCallId: 'x1', toolName: 'broken' },
  ]);
  for (const { threadId, toolCallId } of lostIn(thread)) {
    const outcome = { status: 'failed', error: 'It did not happen.' } as const;
    await inner.settle(await inner.thread(threadId), toolCallId, outcome);
  }
  expect(await manager.run([], thread)).toMatchObject({ status: 'completed' });
  expect(lostIn(thread)).toEqual([]);
});

test('three levels: a call that resumes by itself is not listed as lost while the lease of a dead run ends', async () => {
  let time = 1_000_000;
  const now = () => time;
  const office = new AgentOffice();
  const script = [{ calls: [ask('b1', 'buy', 'Buy.')] }, { text: 'Done.' }];
  const start = (onEnd: () => void) => {
    const slow = tool({ inputSchema: z.object({}), execute: async () => new Promise(() => {}) });
    const calls = [{ id: 's1', name: 'slow', input: {} }];
    const inner = office.agent('inner', [{ calls }], { tools: { slow }, now });
    const middle = office.agent('middle', script, {
      tools: { buy: office.tool(inner) },
      now,
      leaseMs: 120_000,
      onEnd,
    });
    const tools = { buy: office.tool(middle) };
    return { inner, manager: office.agent('manager', script, { tools, now }) };
  };
  const { inner, manager: dying } = start(() => {});
  void dying.run('Go.', await dying.thread('t')).catch(() => {});
  await waitFor(async () => {
    const [running] = await office.store.list({ agent: 'inner' });
    expect((await inner.thread(running?.threadId ?? '')).calls).toMatchObject([
      { status: 'started' },
    ]);
  });
  /* Its process is dead as far as others know; the lease of the middle agent ends a moment after it was seen. */
  time += 90_000;
  let left = 40_000;
  const { manager } = start(() => {
    time += left;
    left = 0;
  });
  const thread = await manager.thread('t');
  await manager.run([], thread);
  /* What anybody could have read in `lostCalls` at any time. */
  const listed = thread.events.flatMap((event) =>
    event.type === 'call-deferred' ? (event.agent?.lostCalls ?? []) : [],
  );
  expect(listed).toMatchObject([{ agent: 'inner', toolCallId: 's1' }]);
});

test('the log says why the agent of a lost call could not be reached', async () => {
  const outer = new AgentOffice();
  const down: ThreadStore = {
    ...memoryStore(),
    read: async () => {
      throw new Error('the store is down');
    },
  };
  const manager = managerOf(outer, new AgentOffice(down).payer('buyer', []));
  const thread = await manager.thread('t');
  await manager.run('Go.', thread);
  expect(thread.calls).toMatchObject([{ status: 'indeterminate' }]);
  expect(thread.events.find(({ type }) => type === 'call-lost')).toMatchObject({
    error: "Agent 'buyer' could not be reached: the store is down",
  });
});

test('a lost call next to another one does not use up its recovery, and a worker resumes it once that is settled', async () => {
  let time = 1_000_000;
  const now = () => time;
  const office = new AgentOffice();
  let starts = 0;
  const slow = tool({
    inputSchema: z.object({}),
    /* The first attempt is that of the process that died. */
    execute: async () => ((starts += 1) === 1 ? new Promise(() => {}) : 'done'),
  });
  const script = [{ calls: [{ id: 's1', name: 'slow', input: {} }] }, { text: 'Slow.' }];
  const buyer = office.agent('buyer', script, {
    tools: { slow },
    toolRecovery: { slow: { idempotent: true } },
    now,
  });
  const calls = [ask('b1', 'buy', 'Buy.'), brokenCall];
  const { model } = scriptedModel([{ calls }, { text: 'Done.' }]);
  const tools = { broken, buy: office.tool(buyer) };
  const { store } = office;
  const retry = { maxAttempts: 2, initialDelayMs: 1, maxDelayMs: 1 };
  const manager = createAgent({ name: 'manager', model, tools, store, now, retry });
  const thread = await manager.thread('t');
  void manager.run('Go.', thread).catch(() => {});
  await waitFor(() => expect(thread.calls[1]?.status).toBe('started'));
  /* Its process is dead as far as others know. */
  time += 600_000;
  const worked = async () => {
    const signal = AbortSignal.timeout(150);
    await runWorker({ agent: manager, store, signal, pollMs: 5, claimMs: 5 });
  };
  for (let round = 0; round < 3; round += 1) {
    await worked();
    time += 60_000;
  }
  const again = await manager.thread('t');
  expect(again.calls.map(({ status }) => status)).toEqual(['indeterminate', 'indeterminate']);
  await manager.settle(again, 'x1', { status: 'failed', error: 'It did not happen.' });
  time += 60_000;
  await worked();
  expect((await manager.thread('t')).status).toBe('idle');
});

/** A sub-agent's call that was approved, before the tool calls another agent. */
async function approveBelow() {
  const office = new AgentOffice();
  const buyer = office.payer('buyer', [{ calls: [pay('p1', 'Ann')] }, { text: 'Paid.' }]);
  const manager = managerOf(office, buyer);
  const thread = await manager.thread('t');
  const asked = await manager.run('Go.', thread);
  const childId = thread.calls[0]?.agent?.threadId ?? '';
  await manager.respond(asked.approvalRequests[0]?.approve() ?? [], thread);
  return { office, buyer, manager, childId };
}

test.each([
  ['in the same store', true, "belongs to agent 'buyer', not to agent 'shopper'"],
  [
    'in another store',
    false,
    "agent 'buyer' began this call, and the tool now calls agent 'shopper'",
  ],
])(
  'an answered call whose tool now calls another agent %s is lost, not failed: its agent may still run what was approved',
  async (_where, isSame, why) => {
    const { office, buyer, manager, childId } = await approveBelow();
    const store = isSame ? office.store : memoryStore();
    const renamed = managerOf(office, office.payer('shopper', [{ text: 'Bought.' }], { store }));
    await renamed.run([], await renamed.thread('t'));
    const after = await manager.thread('t');
    expect(after.calls[0]).toMatchObject({ status: 'indeterminate' });
    expect(JSON.stringify(await office.store.read('t'))).toContain(why);
    expect(office.payments).toEqual([]);
    expect(await buyer.thread(childId)).toMatchObject({ status: 'due' });
    await buyer.run([], await buyer.thread(childId));
    expect(await manager.run([], await manager.thread('t'))).toMatchObject({ status: 'completed' });
    expect(office.payments).toMatchObject([{ to: 'Ann' }]);
  },
);

test('a renamed sub-agent goes on with its calls once it has adopted their threads', async () => {
  const { office, manager, childId } = await approveBelow();
  const shopper = office.payer('shopper', [{ text: 'Bought.' }]);
  await shopper.adopt(await shopper.thread(childId));
  const renamed = managerOf(office, shopper);
  await renamed.run([], await renamed.thread('t'));
  expect((await manager.thread('t')).calls[0]).toMatchObject({ status: 'succeeded' });
  expect(office.payments).toMatchObject([{ to: 'Ann' }]);
});

async function adopt() {
  const office = new AgentOffice();
  const buyer = office.payer('buyer', [{ calls: [pay('p1', 'Ann')] }]);
  const manager = managerOf(office, buyer);
  const before = await manager.thread('t');
  await manager.run('Go.', before);
  const shopper = office.payer('shopper', [{ text: 'Bought.' }]);
  await shopper.adopt(await shopper.thread(before.calls[0]?.agent?.threadId ?? ''));
  const renamed = office.agent('manager', [{ text: 'Done.' }], {
    tools: { buy: office.tool(shopper) },
    mayAnswer: () => true,
  });
  const thread = await renamed.thread('t');
  const [request] = thread.activeApprovalRequests;
  if (request === undefined) throw new Error('Nothing is asked.');
  return { office, renamed, thread, request };
}

describe('a renamed sub-agent that has adopted the thread of an open request', () => {
  test('takes the answer', async () => {
    const { office, renamed, thread, request } = await adopt();
    await renamed.run(request.approve(), thread, { principal: 'ann' });
    expect(thread.calls[0]).toMatchObject({ status: 'succeeded' });
    expect(office.payments).toMatchObject([{ to: 'Ann' }]);
  });

  test('lets it be reassigned', async () => {
    const { renamed, thread, request } = await adopt();
    await renamed.reassign(thread, request.requestId, 'zoe', { principal: 'ann' });
    expect(thread.activeApprovalRequests).toMatchObject([{ reassignments: [{ to: 'zoe' }] }]);
  });
});
