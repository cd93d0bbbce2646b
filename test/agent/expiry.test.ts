import { expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book, memoryWorld } from '../support/travel-world.ts';

async function waitingUntil(expiresAt: number) {
  const clock = { now: 0 };
  const world = memoryWorld([
    { calls: [book('c1', 'Paris'), book('c2', 'Rome')] },
    { text: 'Done.' },
  ]);
  const agent = world.agent({
    now: () => clock.now,
    toolApproval: {
      book: (input: unknown) =>
        Reflect.get(Object(input), 'city') === 'Paris'
          ? { type: 'user-approval', expiresAfterMs: expiresAt }
          : 'user-approval',
    },
  });
  const { thread, approvalRequests } = await agent.run('Book', await agent.thread('t'));
  const [paris, rome] = approvalRequests.map((request) => request.approve());
  if (paris === undefined || rome === undefined) throw new Error('Nothing is asked.');
  return { clock, world, agent, thread, paris, rome };
}

test('until the last millisecond a request can be approved', async () => {
  const { clock, agent, thread, paris, rome, world } = await waitingUntil(1_000);
  clock.now = 999;
  expect(await agent.run([paris, rome], thread)).toMatchObject({ status: 'completed' });
  expect(world.ran).toHaveLength(2);
});

test('from its expiry on a request is closed, and its call is denied when the thread goes on', async () => {
  const { clock, agent, thread, paris, rome, world } = await waitingUntil(1_000);
  clock.now = 1_000;
  const { revision } = thread;
  expect(await errorCode(agent.run([paris, rome], thread))).toBe('request-closed');
  expect(thread.revision).toBe(revision);
  expect(await agent.run(rome, thread)).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(thread.calls).toMatchObject([
    { status: 'denied', outcome: { reason: 'The request for approval expired unanswered.' } },
    { status: 'succeeded' },
  ]);
  expect(world.ran).toMatchObject([{ input: { city: 'Rome' } }]);
});

test('a call that was approved in time and has not begun by its expiry begins', async () => {
  const { clock, agent, thread, paris, rome, world } = await waitingUntil(1_000);
  await agent.respond([paris, rome], thread);
  clock.now = 1_000;
  expect(await agent.run([], thread)).toMatchObject({ status: 'completed' });
  expect(thread.calls).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded' }]);
  expect(world.ran).toHaveLength(2);
});

test('a call whose approval becomes too old while a rule is asked a last time is asked about again', async () => {
  const clock = { now: 0 };
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const taken = [0, 1_000];
  const rule = async () => {
    clock.now += taken.shift() ?? 0;
    return { type: 'user-approval', startWithinMs: 1_000 } as const;
  };
  const agent = world.agent({ now: () => clock.now, toolApproval: { book: rule } });
  const { approvalRequests, thread } = await agent.run('Book', await agent.thread('t'));
  await agent.respond(
    approvalRequests.map((request) => request.approve()),
    thread,
  );
  expect(await agent.run([], thread)).toMatchObject({ status: 'waiting' });
  expect(thread.calls).toMatchObject([{ status: 'waiting', attempts: 0 }]);
  expect(world.ran).toEqual([]);
});

test('a thread that is owed a run is due: after respond at once, after a failure of the provider when it is tried again', async () => {
  const clock = { now: 5 };
  const world = memoryWorld([
    { calls: [book('c1', 'Paris')] },
    { fail: 'overloaded' },
    { text: 'Done.' },
  ]);
  const agent = world.agent({ now: () => clock.now });
  const due = async (): Promise<number> =>
    (await world.store.list({ dueBefore: clock.now + 1 })).length;
  const { thread, approvalRequests } = await agent.run('Book', await agent.thread('t'));
  expect(await due()).toBe(0);
  await agent.respond(
    approvalRequests.map((request) => request.reject()),
    thread,
  );
  expect(await due()).toBe(1);
  await expect(agent.run([], thread)).rejects.toThrow('overloaded');
  const { retryAt = Infinity } = thread.failure ?? {};
  clock.now = retryAt - 1;
  expect(await due()).toBe(0);
  clock.now = retryAt;
  expect(await due()).toBe(1);
  await agent.run([], thread);
  expect(await due()).toBe(0);
});

test('the store lists what is due, and what waits', async () => {
  const { world } = await waitingUntil(1_000);
  expect(await world.store.list({ status: 'waiting' })).toMatchObject([
    { threadId: 't', status: 'waiting', openRequests: 2, nextDeadline: 1_000 },
  ]);
  expect(await world.store.list({ dueBefore: 1_000 })).toEqual([]);
  expect(await world.store.list({ dueBefore: 1_001 })).toHaveLength(1);
});
