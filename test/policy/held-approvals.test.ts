import { tool } from 'ai';
import {
  type Agent,
  type AgentOptions,
  type AgentThread,
  createAgent,
  type MayAnswer,
  memoryStore,
  type RunOptions,
  type ThreadStore,
} from 'holdpoint';
import { auditTrail } from 'holdpoint/audit';
import { scriptedModel } from 'holdpoint/testing';
import { askUserQuestion } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { errorCode } from '../support/error-code.ts';
import { waitUntil } from '../support/waiting.ts';
import { snapshotStore } from '../support/snapshot-store.ts';
import { dyingStore } from '../tools/dying-store.ts';
import { database } from '../tools/seed-questions.ts';

/* The boss decides about everything, Ben about what goes to B, and Eve may only chat. */
const boss = { principal: 'boss' };
const ben = { principal: 'ben' };
const eve = { principal: 'eve' };
const resumed = (by: object): RunOptions => ({ ...by, resumeStopped: true });
const mayAnswer: MayAnswer = ({ principal, request: asked }) => {
  if (principal === 'boss') return true;
  if (asked.type === 'question-request') return principal === 'eve';
  return principal === 'ben' && asked.text.includes('"B"');
};

const payment = (id: string, to: string) => ({ id, name: 'pay', input: { to } });

/** An office whose model has the calls made, and says something afterwards. */
function office(
  calls: { id: string; name: string; input: object }[],
  { store = memoryStore(), ...options }: Partial<AgentOptions> = {},
) {
  const paid: string[] = [];
  const clock = { now: 1_000 };
  const { model } = scriptedModel([{ calls }, { text: 'Done.' }, { text: 'Well.' }]);
  const open = (kept: ThreadStore = store): Agent =>
    createAgent({
      name: 'office',
      store: kept,
      model,
      now: () => clock.now,
      maxRetries: 0,
      mayAnswer,
      tools: {
        pay: tool({
          description: 'Pays.',
          inputSchema: z.object({ to: z.string() }),
          execute: async ({ to }) => {
            paid.push(to);
            return 'paid';
          },
        }),
        look: tool({ inputSchema: z.object({}), execute: async () => paid.push('looked') }),
        ship: tool({ inputSchema: z.object({}) }),
        ask: askUserQuestion(),
      },
      toolApproval: {
        pay: ({ to }) => ({
          type: 'user-approval',
          text: `Pay ${JSON.stringify(to)}?`,
          ...(to === 'soon' ? { expiresAfterMs: 100 } : {}),
        }),
      },
      ...options,
    });
  return { agent: open(), open, paid, clock, store };
}

type Office = ReturnType<typeof office>;

function request(thread: AgentThread, to: string) {
  const found = thread.activeApprovalRequests.find(({ text }) => text.includes(`"${to}"`));
  if (found === undefined) throw new Error(`Nobody is asked about ${to}.`);
  return found;
}

/** A thread in which the boss has approved these payments, and which Eve has stopped before one began. */
async function stopped({ agent }: Office, approved: string[]): Promise<AgentThread> {
  const thread = await agent.thread('t');
  await agent.run('Pay', thread, eve);
  const answers = approved.map((to) => request(thread, to).approve());
  await agent.respond(answers, thread, boss);
  await agent.stop(thread, { ...eve, channel: 'web' });
  return thread;
}

const held = ({ calls }: AgentThread) =>
  calls.filter((call) => call.held === true).map(({ toolCallId }) => toolCallId);
const released = ({ events }: AgentThread) =>
  events.filter((event) => event.type === 'approvals-released');

describe('what an approved call that Eve has stopped is not released by', () => {
  const acts: Record<string, (at: Office, thread: AgentThread) => Promise<unknown>> = {
    'a worker': async ({ open }, thread) => {
      expect(thread.nextDeadline).not.toBe(0);
      const other = open();
      return other.run([], await other.thread('t'), { onlyWhenDue: true });
    },
    'a resumption': async ({ agent }, thread) => agent.run([], thread, eve),
    'a resumption by the boss that does not say so': async ({ agent }, thread) =>
      agent.run([], thread, boss),
    'another stop': async ({ agent }, thread) => agent.stop(thread, boss),
    'a message': async ({ agent }, thread) => {
      expect(await errorCode(agent.run('Hello', thread, boss))).toBe('requests-open');
    },
    'an answer to another request': async ({ agent, paid }, thread) => {
      await agent.run(request(thread, 'B').approve(), thread, ben);
      expect(paid).toEqual(['B']);
      paid.length = 0;
    },
    'a rejection of another request': async ({ agent }, thread) =>
      agent.run(request(thread, 'B').reject(), thread, ben),
    'the same answer again': async ({ agent }, thread) => {
      const requestId = thread.decisions[0]?.request.requestId ?? '';
      return agent.run({ type: 'approval-response', requestId, approved: true }, thread, boss);
    },
    'a delivery': async ({ agent }, thread) => {
      await agent.deliver(thread, 'ship', { status: 'succeeded', output: 'sent' }, eve);
      return agent.run([], thread, eve);
    },
    'an expiry': async ({ agent, clock }, thread) => {
      clock.now += 1_000;
      await agent.run([], thread, { onlyWhenDue: true });
      expect(thread.decisions.at(-1)?.status).toBe('expired');
      return agent.run([], thread);
    },
    'Eve, who resumes': async ({ agent }, thread) => {
      expect(await errorCode(agent.run([], thread, resumed(eve)))).toBe('not-allowed');
    },
    'Ben, who may reject other calls, and resumes': async ({ agent }, thread) => {
      expect(await errorCode(agent.run([], thread, resumed(ben)))).toBe('not-allowed');
    },
    'nobody, who resumes': async ({ agent }, thread) => {
      expect(await errorCode(agent.run([], thread, resumed({})))).toBe('not-allowed');
    },
    'Eve, who cancels': async ({ agent }, thread) => {
      expect(await errorCode(agent.cancel(thread, 'No.', eve))).toBe('not-allowed');
    },
    'Eve, who sends a message that cancels': async ({ agent }, thread) => {
      const instead = { ...eve, whilePending: 'cancel' } as const;
      expect(await errorCode(agent.run('Hello', thread, instead))).toBe('not-allowed');
    },
  };

  test.each(Object.entries(acts))('%s', async (_name, act) => {
    const calls = [
      payment('a', 'A'),
      payment('b', 'B'),
      payment('soon', 'soon'),
      { id: 'ship', name: 'ship', input: {} },
    ];
    for (const store of [memoryStore(), snapshotStore(0)]) {
      const at = office(calls, { store });
      const thread = await stopped(at, ['A']);
      await act(at, thread);
      expect(at.paid).toEqual([]);
      const now = await at.open().thread('t');
      expect(held(now)).toEqual(['a']);
      expect(now.decisions[0]).toMatchObject({ status: 'approved', principal: 'boss' });
      expect(now.decisions[0]).not.toHaveProperty('closedBy');
      expect(released(now)).toEqual([]);
      const restored = await at.open(memoryStore()).restore(JSON.stringify(now));
      expect(held(restored)).toEqual(['a']);
    }
  });
});

test('a thread that waits only for a release is due for no worker, and waits', async () => {
  const at = office([payment('a', 'A')]);
  const thread = await stopped(at, ['A']);
  expect(thread).toMatchObject({ status: 'waiting', nextDeadline: undefined });
  const { revision } = thread;
  await at.agent.run([], thread, { onlyWhenDue: true });
  await at.agent.run([], thread, eve);
  expect(thread.revision).toBe(revision);
});

test('each held call is released only by somebody who may reject it, who is named, and the turn goes on', async () => {
  const at = office([payment('a', 'A'), payment('b', 'B')]);
  const thread = await stopped(at, ['A', 'B']);
  expect(await at.agent.run([], thread, resumed({ ...ben, channel: 'desk' }))).toMatchObject({
    status: 'waiting',
  });
  expect(at.paid).toEqual(['B']);
  expect(held(thread)).toEqual(['a']);
  const named = { principal: 'ben', channel: 'desk', person: 'ben' };
  const ofB = thread.decisions.find(({ request: { text } }) => text.includes('"B"'));
  expect(released(thread)).toMatchObject([{ requestIds: [ofB?.request.requestId], ...named }]);
  const { rows } = await auditTrail(thread);
  expect(rows.find(({ what }) => what === 'stopped approval released')).toMatchObject({
    who: 'ben',
    requestId: ofB?.request.requestId,
  });
  expect(await at.agent.run([], thread, resumed(boss))).toMatchObject({
    status: 'completed',
    text: 'Done.',
  });
  expect(at.paid).toEqual(['B', 'A']);
});

test('without mayAnswer anybody with a name releases and cancels, and nobody without one', async () => {
  const at = office([payment('a', 'A')], { mayAnswer: undefined });
  const thread = await stopped(at, ['A']);
  expect(await errorCode(at.agent.run([], thread, resumed({})))).toBe('not-allowed');
  expect(await errorCode(at.agent.run([], thread, resumed({ principal: true })))).toBe(
    'not-allowed',
  );
  expect(await errorCode(at.agent.cancel(thread))).toBe('not-allowed');
  await at.agent.run([], thread, resumed(eve));
  expect(at.paid).toEqual(['A']);
});

test('who asked does not release what others must decide', async () => {
  const others = { pay: { type: 'user-approval', notRequester: true } } as const;
  const at = office([payment('a', 'A')], { mayAnswer: undefined, toolApproval: others });
  const thread = await at.agent.thread('t');
  const { approvalRequests } = await at.agent.run('Pay', thread, eve);
  const answers = approvalRequests.map((each) => each.approve());
  await at.agent.respond(answers, thread, boss);
  await at.agent.stop(thread, eve);
  expect(await errorCode(at.agent.run([], thread, resumed(eve)))).toBe('not-allowed');
  expect(await errorCode(at.agent.cancel(thread, '', eve))).toBe('not-allowed');
  await at.agent.run([], thread, resumed(ben));
  expect(at.paid).toEqual(['A']);
});

test('what mayAnswer throws about a release is thrown, and nothing is released', async () => {
  let isDown = false;
  const down = new Error('The directory is down.');
  const at = office([payment('a', 'A')], {
    mayAnswer: async () => (isDown ? Promise.reject(down) : true),
  });
  const thread = await stopped(at, ['A']);
  isDown = true;
  expect(await errorCode(at.agent.run([], thread, resumed(boss)))).toBe(down);
  expect(held(thread)).toEqual(['a']);
});

test('a release passes the last check: a call whose tool has changed is asked about again', async () => {
  const at = office([payment('a', 'A')]);
  const thread = await stopped(at, ['A']);
  const changed = tool({
    description: 'Pays double.',
    inputSchema: z.object({ to: z.string() }),
    execute: async () => at.paid.push('double'),
  });
  const { model } = scriptedModel([]);
  const tools = { pay: changed };
  const toolApproval = { pay: 'user-approval' } as const;
  const settings = { name: 'office', store: at.store, model, tools, toolApproval, mayAnswer };
  const next = createAgent(settings);
  const again = await next.thread('t');
  expect(await next.run([], again, resumed(boss))).toMatchObject({ status: 'waiting' });
  expect(at.paid).toEqual([]);
  expect(again.activeApprovalRequests).toHaveLength(1);
  expect(held(again)).toEqual([]);
  expect(thread.id).toBe(again.id);
});

test('calls that needed nobody are cancelled by a stop, and those that people approved are held', async () => {
  const look = { id: 'look', name: 'look', input: {} };
  const at = office([payment('a', 'A'), look], {
    toolApproval: { pay: 'user-approval', look: () => 'approved' },
    toolCallConcurrency: 1,
    tools: {
      pay: tool({ inputSchema: z.object({ to: z.string() }), execute: async () => 'paid' }),
      look: tool({ inputSchema: z.object({}), execute: async () => 'seen' }),
    },
  });
  const thread = await at.agent.thread('t');
  const controller = new AbortController();
  at.agent.on('step-finished', () => controller.abort());
  const { abortSignal } = { abortSignal: controller.signal };
  await at.agent.run('Pay', thread, { ...eve, abortSignal }).catch(() => {});
  await at.agent.respond(
    thread.activeApprovalRequests.map((each) => each.approve()),
    thread,
    boss,
  );
  await at.agent.stop(thread, eve);
  const statuses = thread.calls.map((call) => [call.toolCallId, call.status, call.held]);
  expect(statuses).toContainEqual(['a', 'approved', true]);
  expect(statuses.filter(([id]) => id === 'look')).not.toContainEqual([
    'look',
    'proposed',
    undefined,
  ]);
});

describe('cancelling an approved call', () => {
  test.each([
    ['that waits for its run', false],
    ['that a stop holds', true],
  ])(
    '%s takes somebody who may reject it, and all or nothing is cancelled',
    async (_when, stops) => {
      const at = office([payment('a', 'A'), payment('b', 'B')]);
      const { agent } = at;
      const thread = await agent.thread('t');
      await agent.run('Pay', thread, eve);
      await agent.respond(request(thread, 'A').approve(), thread, boss);
      if (stops) await agent.stop(thread, eve);
      const decided = thread.decisions[0]?.request;
      const before = JSON.stringify(thread);
      for (const by of [eve, ben, {}]) {
        await expect(agent.cancel(thread, 'No.', by)).rejects.toMatchObject({
          code: 'not-allowed',
        });
        expect(JSON.stringify(thread)).toBe(before);
      }
      await expect(agent.cancel(thread, 'No.', ben)).rejects.toMatchObject({
        requestId: decided?.requestId,
      });
      await agent.cancel(thread, 'No.', boss);
      expect(thread.calls).toMatchObject([{ status: 'denied' }, { status: 'denied' }]);
      expect(thread.decisions.map(({ status, closedBy }) => [status, closedBy?.principal])).toEqual(
        [
          ['cancelled', 'boss'],
          ['cancelled', 'boss'],
        ],
      );
      await agent.run([], thread);
      expect(at.paid).toEqual([]);
    },
  );

  test('is asked about, too, where the approval comes while it is checked who may cancel', async () => {
    const asking = Promise.withResolvers<void>();
    const checked = Promise.withResolvers<void>();
    let isFirst = true;
    const at = office([payment('a', 'A')], {
      mayAnswer: async (asked) => {
        const isEnding = asked.response.type === 'approval-response' && !asked.response.approved;
        if (isEnding && isFirst) {
          isFirst = false;
          asking.resolve();
          await checked.promise;
          return true;
        }
        return asked.principal === 'boss';
      },
    });
    const thread = await at.agent.thread('t');
    await at.agent.run('Pay', thread, eve);
    const cancelling = errorCode(at.agent.cancel(thread, 'No.', {}));
    await asking.promise;
    const other = at.open();
    const elsewhere = await other.thread('t');
    await other.respond(request(elsewhere, 'A').approve(), elsewhere, boss);
    checked.resolve();
    expect(await cancelling).toBe('not-allowed');
    expect((await at.open().thread('t')).decisions).toMatchObject([{ status: 'approved' }]);
  });

  test('is the app’s act where it deletes the thread', async () => {
    const at = office([payment('a', 'A')]);
    const thread = await stopped(at, ['A']);
    await at.agent.delete(thread);
    expect(await at.store.head('t')).toBe(undefined);
  });

  test('the boss may do with a message, which is answered', async () => {
    const at = office([payment('a', 'A')]);
    const thread = await stopped(at, ['A']);
    expect(
      await at.agent.run('Never mind', thread, { ...boss, whilePending: 'cancel' }),
    ).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(thread.decisions).toMatchObject([
      { status: 'cancelled', principal: 'boss', closedBy: { principal: 'boss' } },
    ]);
    expect(at.paid).toEqual([]);
  });
});

/** A thread whose question somebody has dismissed, after the boss approved its payment. */
const dismissed = async ({ agent }: Office, by: object): Promise<AgentThread> => {
  const thread = await agent.thread('t');
  await agent.run('Pay', thread, eve);
  await agent.respond(request(thread, 'A').approve(), thread, boss);
  const question = thread.activeRequests.find(({ type }) => type === 'question-request');
  const { requestId = '' } = question ?? {};
  await agent.run({ type: 'question-response', requestId, status: 'dismissed' }, thread, by);
  return thread;
};

/** A thread whose approved payment was lost with its process, which Eve has stopped. */
async function lost(stop: 'before' | 'after'): Promise<Office & { thread: AgentThread }> {
  const kept = memoryStore();
  const process = dyingStore(kept, Infinity, 'before');
  const toolRecovery = { pay: { idempotent: true } };
  const at = office([payment('a', 'A')], { store: kept, leaseMs: 1_000, toolRecovery });
  const dying = at.open(process.store);
  const thread = await dying.thread('t');
  await dying.run('Pay', thread, eve);
  dying.on('call-started', process.die);
  const next = await at.agent.thread('t');
  await dying.run(request(thread, 'A').approve(), thread, boss).catch(() => {});
  expect(at.paid).toEqual(['A']);
  if (stop === 'after') at.clock.now += 5_000;
  const stopping = at.agent.stop(next, eve);
  if (stop === 'before') {
    /* Until its lease has ended, the process may live. */
    await waitUntil(() => next.events.some(({ type }) => type === 'stop-requested'));
    at.clock.now += 5_000;
  }
  await stopping;
  return { ...at, thread: next };
}

describe('a dismissed question that ends the turn', () => {
  const calls = [payment('a', 'A'), { id: 'q', name: 'ask', input: { questions: [database] } }];

  test('by Eve holds the call that the boss has approved, and the boss has it made', async () => {
    const at = office(calls);
    const thread = await dismissed(at, eve);
    expect(at.paid).toEqual([]);
    expect(held(thread)).toEqual(['a']);
    expect(thread.decisions[0]).toMatchObject({ status: 'approved' });
    await at.agent.run([], thread, resumed(boss));
    expect(at.paid).toEqual(['A']);
    expect(thread.status).toBe('idle');
    expect(await at.agent.run('And now?', thread, eve)).toMatchObject({ text: 'Done.' });
  });

  test('by the boss cancels it', async () => {
    const at = office(calls);
    const thread = await dismissed(at, boss);
    expect(thread.decisions[0]).toMatchObject({
      status: 'cancelled',
      closedBy: { principal: 'boss' },
    });
    expect(thread.status).toBe('idle');
    expect(at.paid).toEqual([]);
  });
});

describe('another attempt of an approved call', () => {
  test.each(['before', 'after'] as const)(
    'is not made after Eve has stopped the run %s its process was found dead, before the boss resumes it',
    async (stop) => {
      const { agent, thread, paid, clock } = await lost(stop);
      await agent.run([], thread, eve);
      clock.now += 3_600_000;
      await agent.run([], thread, { onlyWhenDue: true });
      expect(await errorCode(agent.run([], thread, resumed(eve)))).toBe('not-allowed');
      expect(thread.status).toBe('indeterminate');
      expect(paid).toEqual(['A']);
      await agent.run([], thread, resumed(boss));
      expect(paid).toEqual(['A', 'A']);
      expect(thread.calls).toMatchObject([{ status: 'succeeded', attempts: 2 }]);
    },
  );

  test('that the boss has approved after the outcome was given up is held by Eve’s stop', async () => {
    const { agent, thread, paid } = await lost('after');
    await agent.settle(thread, 'a', { status: 'retry' }, boss);
    expect(thread.calls).toMatchObject([{ status: 'approved', held: undefined }]);
    await agent.stop(thread, eve);
    await agent.run([], thread, eve);
    expect(held(thread)).toEqual(['a']);
    expect(paid).toEqual(['A']);
    await agent.run([], thread, resumed(boss));
    expect(paid).toEqual(['A', 'A']);
  });
});

test('an approval that the run’s last append meets is held, too, as the stop came first', async () => {
  const at = office([payment('a', 'A'), { id: 'slow', name: 'slow', input: {} }], {
    tools: {
      pay: tool({ inputSchema: z.object({ to: z.string() }), execute: async () => 'paid' }),
      slow: tool({
        inputSchema: z.object({}),
        execute: async (_input, { abortSignal }) =>
          new Promise((_resolve, reject) => {
            begun.resolve();
            abortSignal?.addEventListener('abort', () => void ended.promise.then(reject));
          }),
      }),
    },
    toolApproval: { pay: 'user-approval' },
  });
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const thread = await at.agent.thread('t');
  const running = at.agent.run('Pay', thread, eve);
  await begun.promise;
  const asked = Promise.withResolvers<void>();
  at.agent.on('stop-requested', () => asked.resolve());
  const stopping = at.agent.stop(thread, eve);
  await asked.promise;
  await at.agent.respond(
    thread.activeApprovalRequests.map((each) => each.approve()),
    thread,
    boss,
  );
  ended.resolve();
  await stopping;
  await running;
  await at.agent.run([], thread, eve);
  expect(held(thread)).toEqual(['a']);
});
