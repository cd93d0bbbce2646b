import { tool } from 'ai';
import { createAgent, HoldpointError, memoryStore, type ThreadEvent } from 'holdpoint';
import { agentTool } from 'holdpoint/tools';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { eventsIn } from '../support/events-in.ts';
import { answeredBy } from '../policy/office.ts';
import { FaultPlan, MortalProcess } from './mortal-process.ts';
import { statelessModel } from './stateless-model.ts';

/*
 * A sub-agent's payment whose request expires, is escalated to the owners, edited by one of them, and approved by another. Whatever
 * dies, it is paid at most once, with the edited amount, and only after both have approved it.
 */
const leaseMs = 60_000;
const edited = { city: 'Paris', amount: 50 };
const rule = {
  type: 'user-approval',
  approvers: ['managers'],
  quorum: 2,
  editable: ['amount'],
  requireReason: true,
  expiresAfterMs: 10 * leaseMs,
  onExpiry: { type: 'escalate', approvers: ['owners'], expiresAfterMs: 1e9 },
} as const;

class Desk {
  readonly plan: FaultPlan;
  readonly store = memoryStore();
  readonly paid: { input: unknown; votes: string[] }[] = [];
  time = 1_000;

  constructor(plan: FaultPlan) {
    this.plan = plan;
  }

  start() {
    const process = new MortalProcess(this.plan);
    const { store } = this;
    const shared = {
      store: {
        ...store,
        read: async (...input: Parameters<typeof store.read>) =>
          process.reach(async () => store.read(...input)),
        head: async (...input: Parameters<typeof store.head>) =>
          process.reach(async () => store.head(...input)),
        append: async (...input: Parameters<typeof store.append>) =>
          process.reach(async () => store.append(...input)),
      },
      now: () => (this.time += 1),
      leaseMs,
      maxRetries: 0,
      mayAnswer: answeredBy({ owners: ['ann', 'bob'], managers: ['dee'] }),
    };
    const pay = tool({
      inputSchema: z.object({ city: z.string(), amount: z.number().optional() }),
      execute: async (input) =>
        process.reach(async () => {
          const votes = (await this.childEvents()).flatMap(personOf);
          this.paid.push({ input, votes });
          return 'paid';
        }),
    });
    const model = (call: [string, string]) =>
      statelessModel([[call]], async (_prompt, answer) => process.reach(async () => answer()));
    const payer = createAgent({
      ...shared,
      name: 'payer',
      model: model(['pay', 'Paris']),
      tools: { pay },
      toolApproval: { pay: rule },
    });
    const payerTool = agentTool(payer, {
      description: 'Pays.',
      inputSchema: z.object({ city: z.string() }),
      prompt: ({ city }) => city,
    });
    const clerk = createAgent({
      ...shared,
      name: 'clerk',
      model: model(['payer', 'x']),
      tools: { payer: payerTool },
    });
    return { process, clerk, payer };
  }

  async childEvents(): Promise<ThreadEvent[]> {
    const [summary] = await this.store.list({ agent: 'payer' });
    return summary === undefined ? [] : eventsIn(this.store, summary.threadId);
  }
}

/** Who has approved the edited request, as an event records it. */
function personOf(event: ThreadEvent): string[] {
  return event.type === 'request-voted' || event.type === 'request-answered'
    ? [event.person ?? 'nobody']
    : [];
}

/** What the people do once in a process, from what the thread says. */
async function advance(desk: Desk, clerk: ReturnType<Desk['start']>['clerk']): Promise<string> {
  const thread = await clerk.thread('t');
  let response = await clerk.run('Go.', thread, { messageId: 'm', principal: 'zoe' });
  for (let turn = 0; turn < 20 && response.status === 'waiting'; turn += 1) {
    const [request] = response.approvalRequests;
    if (request === undefined) {
      response = await clerk.run([], thread);
    } else if (request.follows === undefined) {
      desk.time += 11 * leaseMs;
      response = await clerk.run([], thread);
    } else {
      const isEdited = request.edit !== undefined;
      const answer = isEdited
        ? request.approve({ reason: 'Also.' })
        : request.approve({ input: edited, reason: 'Half.' });
      response = await clerk.run(answer, thread, { principal: isEdited ? 'bob' : 'ann' });
    }
  }
  return response.status;
}

/** Settles a payment of unknown outcome, after a look at what was paid. */
async function settleLost(desk: Desk, payer: ReturnType<Desk['start']>['payer']): Promise<void> {
  const [summary] = await desk.store.list({ agent: 'payer' });
  if (summary === undefined) return;
  const thread = await payer.thread(summary.threadId);
  for (const { status, toolCallId } of thread.calls) {
    if (status !== 'indeterminate') continue;
    const isPaid = desk.paid.length > 0;
    await payer.settle(
      thread,
      toolCallId,
      isPaid ? { status: 'succeeded', output: 'paid' } : { status: 'failed', error: 'not paid' },
    );
  }
}

/** One conversation whose process dies at the `deadly` points. */
async function crashed(deadly: number[]) {
  const desk = new Desk(new FaultPlan(deadly));
  for (let attempt = 0; attempt < 30; attempt += 1) {
    const { process, clerk, payer } = desk.start();
    try {
      await process.survives(settleLost(desk, payer));
      const status = await process.survives(advance(desk, clerk));
      if (status === 'completed') return { desk, status };
    } catch (error) {
      if (HoldpointError.isInstance(error) && !process.isDead) throw error;
    }
    desk.time += 3 * leaseMs;
  }
  return { desk, status: 'never ended' };
}

test('a crash at any one point of escalation, edit and quorum: paid at most once, as two owners approved it', async () => {
  const { desk, status } = await crashed([]);
  expect(status).toBe('completed');
  expect(desk.paid).toHaveLength(1);
  const { points } = desk.plan;
  expect(points).toBeGreaterThan(30);
  const unended: unknown[] = [];
  for (let point = 1; point <= points; point += 1) {
    const { desk: one, status: end } = await crashed([point]);
    for (const paid of one.paid) {
      expect({ point, ...paid }).toEqual({ point, input: edited, votes: ['ann', 'bob'] });
    }
    expect({ point, payments: one.paid.length <= 1 }).toEqual({ point, payments: true });
    if (end !== 'completed') unended.push({ point, end });
  }
  expect(unended).toEqual([]);
});
