import { tool } from 'ai';
import { type Agent, type AgentThread, later } from 'holdpoint';
import { createCustomAgent } from 'holdpoint/custom-agent';
import { runWorker } from 'holdpoint/worker';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { waitFor } from '../support/waiting.ts';
import type { AgentCall } from '../../src/tools/agent-work.ts';

type OfficeTool = Parameters<AgentOffice['tool']>[1];
const script = [{ calls: [ask('b1', 'buy', 'Buy.')] }, { text: 'Done.' }];

function managerOf(office: AgentOffice, below: Agent, name = 'manager', options?: OfficeTool) {
  return office.agent(name, script, { tools: { buy: office.tool(below, options) } });
}

function payer(office: AgentOffice, options = {}): Agent {
  return office.payer('buyer', [{ calls: [pay('p1', 'Ann')] }, { text: 'Paid.' }], options);
}

/** The runtime context, and a rule that reads it. */
const hasApprover = ({ approvedBy }: AgentCall<unknown>) => approvedBy !== undefined;
const toolApproval = ({ runtimeContext }: { runtimeContext: unknown }) =>
  runtimeContext === true ? ('approved' as const) : ('user-approval' as const);

const isBoss = ({ principal }: { principal?: unknown }) => principal === 'boss';

/** Three levels, the innermost of which asks. */
function threeLevels(options?: OfficeTool) {
  const office = new AgentOffice();
  const buyer = payer(office);
  const middle = managerOf(office, buyer, 'middle');
  const manager = managerOf(office, middle, 'manager', options);
  const innermost = async (thread: AgentThread) => {
    const between = await middle.thread(thread.calls[0]?.agent?.threadId ?? '');
    return buyer.thread(between.calls[0]?.agent?.threadId ?? '');
  };
  return { office, manager, innermost };
}

test('a call that no person approved has no approver', async () => {
  const office = new AgentOffice();
  const manager = managerOf(office, payer(office, { toolApproval }), 'manager', {
    runtimeContext: hasApprover,
  });
  const { approvalRequests } = await manager.run('Go.', await manager.thread('t'));
  expect(approvalRequests).toMatchObject([{ toolCall: { toolName: 'pay' } }]);
  expect(office.payments).toEqual([]);
});

test('a ninth agent is not run, and the model reads why', async () => {
  const office = new AgentOffice();
  let below = office.agent('a8', [{ text: 'deepest' }]);
  const agents = [below];
  for (let depth = 7; depth >= 0; depth -= 1) {
    const calls = [ask(`c${depth}`, 'next', 'Deeper.')];
    const tools = { next: office.tool(below) };
    below = office.agent(`a${depth}`, [{ calls }, { text: `at ${depth}` }], { tools });
    agents.push(below);
  }
  expect((await below.run('Go.', await below.thread('t'))).status).toBe('completed');
  expect(await office.store.list({ agent: 'a8' })).toEqual([]);
  const [last] = await office.store.list({ agent: 'a7' });
  const thread = await agents[1]?.thread(last?.threadId ?? '');
  expect(thread?.calls).toMatchObject([{ outcome: { error: /8 agents are already at work/ } }]);
});

test.each(['cancel', 'message', 'expiry'])(
  'three levels: %s reaches the innermost agent',
  async (how) => {
    const { office, manager, innermost } = threeLevels(
      how === 'expiry' ? { expiresAfterMs: 200 } : {},
    );
    const thread = await manager.thread('t');
    const asked = await manager.run('Go.', thread);
    expect(await innermost(thread)).toMatchObject({ status: 'waiting' });
    if (how === 'cancel') await manager.cancel(thread, 'Not now.');
    if (how === 'message') await manager.run('Stop.', thread, { whilePending: 'cancel' });
    if (how === 'expiry') {
      await new Promise((resolve) => {
        setTimeout(resolve, 250);
      });
      await manager.run([], thread);
    }
    expect(thread.calls[0]).toMatchObject({ status: 'failed' });
    expect(await innermost(thread)).toMatchObject({ status: 'idle', activeRequests: [] });
    expect(
      await errorCode(manager.respond(asked.approvalRequests[0]?.approve() ?? [], thread)),
    ).toBe('request-closed');
    expect(office.payments).toEqual([]);
  },
);

test.each(['stop', 'abort'])(
  'three levels: %s ends the run of the innermost agent',
  async (how) => {
    const office = new AgentOffice();
    const aborted = vi.fn<() => void>();
    const started = Promise.withResolvers<void>();
    const slow = tool({
      inputSchema: z.object({}),
      execute: async (_input, { abortSignal }) => {
        started.resolve();
        return new Promise((_resolve, reject) => {
          abortSignal?.addEventListener('abort', () => {
            aborted();
            reject(new Error('aborted'));
          });
        });
      },
    });
    const calls = [{ id: 's1', name: 'slow', input: {} }];
    const buyer = office.agent('buyer', [{ calls }, { text: 'Slow.' }], { tools: { slow } });
    const manager = managerOf(office, managerOf(office, buyer, 'middle'));
    const thread = await manager.thread('t');
    const controller = new AbortController();
    const { signal: abortSignal } = controller;
    const running = manager.run('Go.', thread, { abortSignal }).catch(() => {});
    await started.promise;
    /* Another handle, as another process has. */
    const other = managerOf(office, managerOf(office, buyer, 'middle'));
    if (how === 'stop') await other.stop(await other.thread('t'));
    else controller.abort();
    await running;
    expect(aborted).toHaveBeenCalledTimes(1);
    const after = await manager.thread('t');
    expect(after.calls[0]?.status).toBe(how === 'stop' ? 'failed' : 'deferred');
  },
);

test('an agent that is stuck leaves nothing open', async () => {
  const office = new AgentOffice();
  const fail = tool({ inputSchema: z.object({}), execute: () => 'done' });
  const buyer = office.payer('buyer', [{ calls: [pay('p1', 'Ann')] }], {
    tools: { pay: office.pay, fail },
    retry: { maxAttempts: 1 },
  });
  const manager = managerOf(office, buyer);
  const thread = await manager.thread('t');
  const asked = await manager.run('Go.', thread);
  const inner = await buyer.thread(thread.calls[0]?.agent?.threadId ?? '');
  await buyer.requestApproval(inner, { text: 'Anything else?' });
  /* The script is over: the next step of the buyer fails. */
  const response = await manager.run(asked.approvalRequests[0]?.approve() ?? [], thread);
  expect(response.status).toBe('completed');
  expect(thread.calls).toMatchObject([{ status: 'failed' }]);
  expect(await buyer.thread(inner.id)).toMatchObject({ activeRequests: [] });
});

test.each(['later', 'no execute'])('an outcome is delivered to a child thread: %s', async (how) => {
  const office = new AgentOffice();
  const inputSchema = z.object({});
  const remote =
    how === 'later' ? tool({ inputSchema, execute: () => later }) : tool({ inputSchema });
  const calls = [{ id: 'r1', name: 'remote', input: {} }];
  const buyer = office.agent('buyer', [{ calls }, { text: 'Far.' }], { tools: { remote } });
  const manager = managerOf(office, buyer);
  const thread = await manager.thread('t');
  expect((await manager.run('Go.', thread)).status).toBe('waiting');
  const inner = await buyer.thread(thread.calls[0]?.agent?.threadId ?? '');
  await buyer.deliver(inner, 'r1', { status: 'succeeded', output: 'from afar' });
  expect(await manager.run([], thread)).toMatchObject({ status: 'completed' });
  expect(thread.calls).toMatchObject([{ outcome: { output: 'Far.' } }]);
});

test.each(['manager', 'buyer'])(
  'an answer that %s does not allow is refused, and nothing runs',
  async (who) => {
    const office = new AgentOffice();
    const options = { mayAnswer: isBoss };
    const buyer = payer(office, who === 'buyer' ? options : {});
    const manager = office.agent('manager', script, {
      tools: { buy: office.tool(buyer) },
      ...(who === 'manager' ? options : {}),
    });
    const thread = await manager.thread('t');
    const asked = await manager.run('Go.', thread);
    const approve = asked.approvalRequests[0]?.approve() ?? [];
    expect(await errorCode(manager.respond(approve, thread, { principal: 'eve' }))).toBe(
      'not-allowed',
    );
    expect(thread.activeRequests).toHaveLength(1);
    const by = { principal: 'boss', channel: 'inbox' };
    await manager.respond(approve, thread, by);
    expect(await manager.run([], thread)).toMatchObject({ status: 'completed' });
    const inner = await buyer.thread(thread.calls[0]?.agent?.threadId ?? '');
    expect(inner.events.find(({ type }) => type === 'request-answered')).toMatchObject(by);
    expect(office.payments).toHaveLength(1);
  },
);

test('a custom agent works for another one, and has an agent work for it', async () => {
  const office = new AgentOffice();
  const buyer = payer(office);
  const middle = createCustomAgent({
    name: 'middle',
    store: office.store,
    tools: { buy: office.tool(buyer) },
    step: async ({ input, toolCalls, decisions }) => {
      if (input.length > 0) {
        return { requests: { plan: { type: 'approval-request' as const, text: 'Buy?' } } };
      }
      if (toolCalls.length > 0) return { text: 'Bought.' };
      if (decisions.get('plan')?.status !== 'approved') return { text: 'Not bought.' };
      return { toolCalls: [{ toolName: 'buy', input: { prompt: 'Pay Ann.' } }] };
    },
  });
  const manager = managerOf(office, middle);
  const thread = await manager.thread('t');
  let response = await manager.run('Go.', thread);
  const asked: unknown[] = [];
  while (response.approvalRequests.length > 0) {
    asked.push(...response.approvalRequests.map(({ path = [] }) => path.map(({ agent }) => agent)));
    response = await manager.run(
      response.approvalRequests.map((request) => request.approve()),
      thread,
    );
  }
  expect(asked).toEqual([['middle'], ['middle', 'buyer']]);
  expect(response).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(thread.calls).toMatchObject([{ outcome: { output: 'Bought.' } }]);
  expect(office.payments).toHaveLength(1);
});

test('workers of both agents, twice each, make each payment once', async () => {
  const office = new AgentOffice();
  const names = ['Ann', 'Bob', 'Cid'];
  const calls = names.map((name, index) => pay(`p${index}`, name));
  /* Whichever process asks a model, it is the same one. */
  const { model: below } = scriptedModel([{ calls }, { text: 'Paid.' }]);
  const { model } = scriptedModel(script);
  const agents = [1, 2].map(() => {
    const buyer = office.payer('buyer', [], { model: below });
    return {
      buyer,
      manager: office.agent('manager', [], { model, tools: { buy: office.tool(buyer) } }),
    };
  });
  const [first] = agents;
  if (first === undefined) return;
  const { manager } = first;
  const thread = await manager.thread('t');
  await manager.run('Go.', thread);
  const controller = new AbortController();
  const { signal } = controller;
  const { store } = office;
  const workers = agents.flatMap(({ buyer, manager: above }) =>
    [buyer, above].map(async (agent) => runWorker({ agent, store, signal, pollMs: 3, claimMs: 3 })),
  );
  for (const request of thread.activeApprovalRequests) {
    await manager.respond(request.approve(), await manager.thread('t'));
  }
  await waitFor(async () => expect((await manager.thread('t')).status).toBe('idle'), {
    timeout: 15_000,
  });
  controller.abort();
  await Promise.allSettled(workers);
  expect(office.payments.map(({ to }) => to).toSorted()).toEqual(names);
}, 20_000);
