import { expect, test } from 'vitest';
import { createAgent, memoryStore, type ToolApprovalStatus } from 'holdpoint';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, travelTools } from '../support/travel-world.ts';
import { answeredBy } from './office.ts';

const leaseMs = 1_000;

/** A call that two steps lead to, and whose process died while it ran: it was approved by bob and cy. */
async function lost(status: ToolApprovalStatus, { remembered = false } = {}) {
  const clock = { now: 1_000 };
  const store = memoryStore();
  const { promise: started, resolve } = Promise.withResolvers<void>();
  const ran: Parameters<typeof travelTools>[0] = [];
  const shared = {
    store,
    leaseMs,
    now: () => clock.now,
    toolApproval: { book: status },
    mayAnswer: answeredBy({ owners: ['bob', 'cy'] }),
  };
  const first = remembered ? [{ calls: [book('c0', 'Paris')] }] : [];
  const { model } = scriptedModel([...first, { calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const tools = travelTools(ran);
  let calls = 0;
  const execute = async () => {
    calls += 1;
    if (calls <= first.length) return 'booked';
    resolve();
    return new Promise<never>(() => {});
  };
  const dying = createAgent({ ...shared, model, tools: { book: { ...tools.book, execute } } });
  const thread = await dying.thread('t');
  const [request] = (await dying.run('Book', thread, { principal: 'ann' })).approvalRequests;
  if (request === undefined) throw new Error('Nothing was asked.');
  const answer = request.approve({
    reason: 'It is fine.',
    ...(remembered ? { remember: true } : {}),
  });
  await dying.respond(answer, thread, { principal: 'bob' });
  if (thread.activeApprovalRequests.length > 0)
    await dying.respond(answer, thread, { principal: 'cy' });
  void dying.run([], thread);
  await started;
  clock.now += leaseMs;
  const agent = createAgent({ ...shared, model: scriptedModel([{ text: 'Done.' }]).model, tools });
  const found = await agent.thread('t');
  await agent.run([], found).catch(() => undefined);
  return { agent, thread: found, ran };
}

test.each<[string, ToolApprovalStatus]>([
  ['approvers', { type: 'user-approval', approvers: ['owners'] }],
  ['a quorum', { type: 'user-approval', quorum: 2 }],
  ['not the requester', { type: 'user-approval', notRequester: true }],
  ['a reason', { type: 'user-approval', requireReason: true }],
])(
  'settling a lost call with retry approves nothing where the request demands %s',
  async (_what, status) => {
    const { agent, thread, ran } = await lost(status);
    expect(thread.calls).toMatchObject([{ status: 'indeterminate' }]);
    await agent.settle(thread, 'c1', { status: 'retry' }, { principal: 'ann' });
    const asked = await agent.run([], thread);
    expect(asked.status).toBe('waiting');
    expect(ran).toEqual([]);
    const { type: _type, ...terms } = typeof status === 'object' ? status : { type: status };
    expect(asked.approvalRequests).toMatchObject([
      { ...terms, reason: 'The outcome of its last attempt is unknown.' },
    ]);
    for (const principal of ['bob', 'cy']) {
      const [request] = thread.activeApprovalRequests;
      if (request !== undefined)
        await agent.run(request.approve({ reason: 'Again.' }), thread, { principal });
    }
    expect(ran).toHaveLength(1);
  },
);

test('a lost call without such demands is approved by the person who settles it', async () => {
  const { agent, thread, ran } = await lost({ type: 'user-approval', risk: 'high' });
  await agent.settle(thread, 'c1', { status: 'retry' }, { principal: 'ann' });
  expect((await agent.run([], thread)).status).toBe('completed');
  expect(ran).toHaveLength(1);
});

test('a lost call that a standing approval started is not retried: nobody has approved it', async () => {
  const { agent, thread, ran } = await lost(
    { type: 'user-approval', approvers: ['owners'], remember: true },
    { remembered: true },
  );
  const retried = agent.settle(thread, 'c1', { status: 'retry' }, { principal: 'ann' });
  expect(await errorCode(retried)).toBe('not-allowed');
  expect(ran).toEqual([]);
  await agent.settle(thread, 'c1', { status: 'failed', error: 'It was not booked.' });
  expect((await agent.run([], thread)).status).toBe('completed');
});
