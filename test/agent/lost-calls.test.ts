import { tool } from 'ai';
import { createAgent, memoryStore, type ToolCallRecord } from 'holdpoint';
import { scriptedModel } from 'holdpoint/testing';
import { runWorker } from 'holdpoint/worker';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { eventsIn } from '../support/events-in.ts';
import { idsWith, leaseMs, lostCalls } from '../support/lost-call.ts';
import { waitUntil } from '../support/waiting.ts';

describe('a call whose run is gone', () => {
  test('is recorded as lost by the first process that opens its thread, once', async () => {
    const { store, agent } = await lostCalls(['t']);
    expect(await idsWith(store, 'indeterminate')).toEqual([]);
    const heard: unknown[] = [];
    const { agent: web } = agent();
    web.on('call-lost', ({ threadId, event }) => heard.push([threadId, event.step, event.index]));
    const thread = await web.thread('t');
    expect(thread.status).toBe('indeterminate');
    expect(heard).toEqual([['t', 0, 0]]);
    expect(await idsWith(store, 'indeterminate')).toEqual(['t']);
    await agent().agent.thread('t');
    const events = await eventsIn(store, 't');
    expect(events.filter(({ type }) => type === 'call-lost')).toHaveLength(1);
    expect(events.at(-1)).not.toHaveProperty('recoverAt');
  });

  test('is left to a person: its thread has no deadline, and no run touches it', async () => {
    const { store, agent, clock } = await lostCalls(['t']);
    const { agent: looking, ran } = agent();
    const thread = await looking.thread('t');
    expect(await store.head('t')).toMatchObject({ status: 'indeterminate', openRequests: 0 });
    expect(thread.nextDeadline).toBeUndefined();
    clock.now = Number.MAX_SAFE_INTEGER;
    expect(await store.list({ dueBefore: clock.now })).toEqual([]);
    const { revision } = thread;
    expect(await looking.run([], thread)).toMatchObject({ status: 'indeterminate' });
    expect([thread.revision, ran]).toEqual([revision, []]);
  });

  test('goes on once it is settled, by whichever worker is first', async () => {
    const { store, agent } = await lostCalls(['t']);
    const { agent: operator } = agent();
    const thread = await operator.thread('t');
    const [call] = thread.calls;
    await operator.settle(thread, call?.toolCallId ?? '', {
      status: 'failed',
      error: 'It never happened.',
    });
    expect(thread.nextDeadline).toBe(0);
    expect(await store.head('t')).toMatchObject({ status: 'due', failures: 0, nextDeadline: 0 });
    const { agent: worker } = agent();
    const { status, text } = await worker.run([], await worker.thread('t'));
    expect([status, text]).toEqual(['completed', 'Done.']);
  });

  test('is due at once where its tool can tell, and its recovery is tried again less and less often', async () => {
    let asked = 0;
    const reconcile = () => {
      asked += 1;
      return asked < 3 ? undefined : { status: 'succeeded' as const, output: 'booked' };
    };
    const { store, agent, clock } = await lostCalls(['t'], {
      toolRecovery: { book: { reconcile } },
    });
    const { agent: looking } = agent();
    const thread = await looking.thread('t');
    expect(thread.nextDeadline).toBe(clock.now);
    const times: number[] = [];
    while (thread.status === 'indeterminate' && times.length < 5) {
      clock.now = thread.nextDeadline ?? 0;
      times.push(clock.now);
      await looking.run([], thread, { onlyWhenDue: true });
    }
    expect(asked).toBe(3);
    expect(thread.calls).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
    const [first = 0, second = 0, third = 0] = times;
    expect(third - second).toBeGreaterThan(second - first);
    expect(await idsWith(store, 'indeterminate')).toEqual([]);
  });

  test('stops being asked about after as many failures as the app allows', async () => {
    const { agent, clock, store } = await lostCalls(['t'], {
      toolRecovery: { book: { reconcile: () => undefined } },
      retry: { maxAttempts: 3 },
    });
    const { agent: looking } = agent();
    const thread = await looking.thread('t');
    for (let nth = 0; thread.nextDeadline !== undefined && nth < 10; nth += 1) {
      clock.now = thread.nextDeadline;
      await looking.run([], thread, { onlyWhenDue: true });
    }
    expect(
      (await eventsIn(store, 't')).filter(({ type }) => type === 'recovery-failed'),
    ).toHaveLength(3);
    expect(await store.head('t')).toMatchObject({ status: 'indeterminate' });
  });

  test('is started again, under its key, where its tool is idempotent', async () => {
    const { agent, clock } = await lostCalls(['t'], {
      toolRecovery: { book: { idempotent: true } },
    });
    const { agent: worker, ran } = agent();
    const thread = await worker.thread('t');
    const [lost] = thread.calls;
    expect([thread.nextDeadline, lost?.status]).toEqual([clock.now, 'indeterminate']);
    expect(await worker.run([], thread, { onlyWhenDue: true })).toMatchObject({
      status: 'completed',
    });
    expect(ran).toMatchObject([{ idempotencyKey: lost?.idempotencyKey }]);
  });
});

test('a lost call is not started again on an approval that is too old: a person settles it', async () => {
  const day = 24 * 60 * 60 * 1000;
  for (const [later, count] of [
    [day - 1, 1],
    [day, 0],
  ] as const) {
    const { agent, clock } = await lostCalls(['t'], {
      toolRecovery: { book: { idempotent: true } },
    });
    const { agent: worker, ran } = agent();
    const thread = await worker.thread('t');
    clock.now = 1_000 + later;
    await worker.run([], thread);
    expect(ran).toHaveLength(count);
    expect(thread.status).toBe(count === 1 ? 'idle' : 'indeterminate');
    if (count === 1) continue;
    await worker.settle(thread, thread.calls[0]?.toolCallId ?? '', { status: 'retry' });
    await worker.run([], thread);
    expect(ran).toHaveLength(1);
  }
});

test('each of 300 lost calls is listed and reported once, and then no worker asks about them', async () => {
  const ids = Array.from({ length: 300 }, (_, index) => `t${String(index).padStart(3, '0')}`);
  const { store, agent, clock } = await lostCalls(ids);
  let queries = 0;
  const counted = {
    ...store,
    claim: async (...input: Parameters<typeof store.claim>) => {
      queries += 1;
      return store.claim(...input);
    },
    read: async (...input: Parameters<typeof store.read>) => {
      queries += 1;
      return store.read(...input);
    },
  };
  const reported: [string, readonly ToolCallRecord[]][] = [];
  const stopping = new AbortController();
  const { agent: own } = agent({ store: counted });
  const working = runWorker({
    agent: own,
    store: counted,
    signal: stopping.signal,
    pollMs: 5,
    onIndeterminate: ({ threadId, calls }) => reported.push([threadId, calls]),
  });
  await waitUntil(() => reported.length === ids.length);
  expect(new Set(reported.map(([id]) => id))).toEqual(new Set(ids));
  expect(reported[0]?.[1]).toMatchObject([{ toolName: 'book', status: 'indeterminate' }]);
  expect(await idsWith(store, 'indeterminate')).toEqual(ids);
  clock.now += 100 * leaseMs;
  queries = 0;
  await waitUntil(() => queries >= 5, { interval: 1 });
  stopping.abort();
  await working;
  /* Polls alone: not one of the threads is read again. */
  expect(queries).toBeLessThan(12);
  expect(reported).toHaveLength(ids.length);
});

const slowCall = (id: string) => ({ calls: [{ id, name: 'slow', input: {} }] });

test('a run that begins while a lost one is looked into is not overlooked by a process whose clock is ahead', async () => {
  const store = memoryStore();
  const ends: (() => void)[] = [];
  const slow = tool({
    inputSchema: z.object({}),
    execute: async () => new Promise<string>((resolve) => ends.push(() => resolve('done'))),
  });
  const { model } = scriptedModel([slowCall('c1'), { text: 'One.' }, slowCall('c2')]);
  const running = createAgent({ model, tools: { slow }, store });
  const thread = await running.thread('t');
  const untilStarted = async (count: number) => waitUntil(() => ends.length === count);
  const first = running.run('One', thread);
  await untilStarted(1);
  let hasTried = false;
  let looks = 0;
  const ahead = createAgent({
    model,
    tools: { slow },
    now: () => Date.now() + 120_000,
    store: {
      ...store,
      /* By then the first run has ended after all ... */
      append: async (...entry) => {
        if (!hasTried) {
          ends[0]?.();
          await first;
          hasTried = true;
        }
        await store.append(...entry);
      },
      /* ... and another begins right after that was read, and nothing was left to record. */
      head: async (threadId) => {
        if (hasTried) looks += 1;
        if (looks === 2) {
          void running.run('Two', thread);
          await untilStarted(2);
        }
        return store.head(threadId);
      },
    },
  });
  const opened = await ahead.thread('t');
  expect(opened.calls).toMatchObject([{ status: 'succeeded' }, { status: 'indeterminate' }]);
  expect(opened.events.some(({ type }) => type === 'call-lost')).toBe(true);
});
