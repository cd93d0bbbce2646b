import { tool } from 'ai';
import { createAgent, type ThreadStore } from 'holdpoint';
import { auditTrail } from 'holdpoint/audit';
import { expect } from 'vitest';
import { z } from 'zod';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';

const hour = 3_600_000;

/** Ada asks for two payments, and each process that continues has a clock further back. No time in the log goes back, and deadlines stay exact. */
export async function checkTimesInOrder(open: () => ThreadStore): Promise<void> {
  const clock = { now: 1_800_000_000_000 };
  const pay = tool({ inputSchema: z.object({ euros: z.number() }), execute: async () => 'paid' });
  const { model } = scriptedModel([
    { calls: [{ id: 'c1', name: 'pay', input: { euros: 1 } }] },
    { calls: [{ id: 'c2', name: 'pay', input: { euros: 2 } }] },
    { text: 'Done.' },
  ]);
  const agent = () =>
    createAgent({
      model,
      tools: { pay },
      toolApproval: { pay: { type: 'user-approval', expiresAfterMs: 60_000 } },
      store: open(),
      now: () => clock.now,
    });
  const first = agent();
  const begun = await first.run('Pay both.', await first.thread('t'), { principal: 'Ada' });
  const begunAt = clock.now;
  clock.now -= hour;
  const second = agent();
  const yes = begun.approvalRequests.map((request) => request.approve());
  const asked = await second.run(yes, await second.thread('t'), { principal: 'Ben' });
  const [request] = asked.approvalRequests;
  if (request === undefined) throw new Error('Nothing was asked.');
  expect(request).toMatchObject({ createdAt: clock.now, expiresAt: clock.now + 60_000 });
  clock.now += 60_000;
  const third = agent();
  const thread = await third.thread('t');
  const late = third.respond(request.approve(), thread, { principal: 'Ben' });
  expect(await errorCode(late)).toBe('request-closed');
  await third.run([], thread);
  const times = thread.events.map(({ at }) => at);
  expect(times).toEqual(times.toSorted((one, other) => one - other));
  expect(times.at(-1)).toBe(begunAt);
  const rows = (await auditTrail(thread)).rows.map(({ time }) => time);
  expect(rows).toEqual(rows.toSorted());
  await thread.verify();
}
