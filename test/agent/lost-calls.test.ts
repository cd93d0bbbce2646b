import { tool } from 'ai';
import {
  type Agent,
  createAgent,
  memoryStore,
  type ThreadStore,
  type ToolCallRecord,
  UnknownOutcomeError,
} from 'holdpoint';
import { scriptedModel } from 'holdpoint/testing';
import { runWorker } from 'holdpoint/worker';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { eventsIn } from '../support/events-in.ts';
import { idsWith, leaseMs, lostCalls } from '../support/lost-call.ts';
import { travelTools } from '../support/travel-world.ts';
import { waitUntil } from '../support/waiting.ts';

const lose = async (): Promise<string> => {
  throw new UnknownOutcomeError('The connection was lost.');
};

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

/** A worker of an agent on a store, and what it is told: each call as the thread, its tool and its attempt. */
function startWorker({ agent }: { agent: Agent }, store: ThreadStore) {
  const told: unknown[] = [];
  const stopping = new AbortController();
  const working = runWorker({
    agent,
    store,
    signal: stopping.signal,
    pollMs: 5,
    claimMs: 5,
    onIndeterminate: ({ threadId, calls }) =>
      told.push(...calls.map(({ toolName, attempts }) => [threadId, toolName, attempts])),
  });
  const stop = async (): Promise<void> => {
    stopping.abort();
    await working;
  };
  return { told, stop };
}

/** A store that counts how often indeterminate threads are listed, and how often logs are read. */
function counting(store: ThreadStore) {
  const counts = { lists: 0, reads: 0 };
  const counted: ThreadStore = {
    ...store,
    list: async (query) => {
      counts.lists += 1;
      return store.list(query);
    },
    read: async (...query) => {
      counts.reads += 1;
      return store.read(...query);
    },
  };
  return { counts, counted };
}

describe('a worker', () => {
  test('that starts later is told of a call that another process found to be lost, once', async () => {
    const { store, agent } = await lostCalls(['t1', 't2']);
    for (const id of ['t1', 't2']) await agent().agent.thread(id);
    const { counts, counted } = counting(store);
    const { told, stop } = startWorker(agent({ store: counted }), counted);
    await waitUntil(() => told.length === 2);
    counts.reads = 0;
    const { lists } = counts;
    await waitUntil(() => counts.lists > lists + 4);
    await stop();
    expect(told).toEqual([
      ['t1', 'book', 1],
      ['t2', 'book', 1],
    ]);
    expect(counts.reads).toBe(0);
  });

  test('at work is told of a call that another process finds to be lost meanwhile', async () => {
    const { store, agent, clock } = await lostCalls(['t']);
    clock.now -= leaseMs;
    const { counts, counted } = counting(store);
    const { told, stop } = startWorker(agent({ store: counted }), counted);
    await waitUntil(() => counts.lists > 1);
    expect(told).toEqual([]);
    const { agent: web } = agent({ now: () => clock.now + leaseMs });
    expect((await web.thread('t')).status).toBe('indeterminate');
    await waitUntil(() => told.length > 0);
    await stop();
    expect(told).toEqual([['t', 'book', 1]]);
  });

  test('is told again if the call is lost again', async () => {
    const { store, agent, clock } = await lostCalls(['t']);
    const { agent: web } = agent();
    const thread = await web.thread('t');
    const { told, stop } = startWorker(agent(), store);
    await waitUntil(() => told.length === 1);
    await stop();
    await web.settle(thread, thread.calls[0]?.toolCallId ?? '', { status: 'retry' });
    let isStarted = false;
    const execute = async () => {
      isStarted = true;
      return new Promise<never>(() => {});
    };
    const { agent: dying } = agent({ tools: { book: { ...travelTools([]).book, execute } } });
    void dying.run([], await dying.thread('t'));
    await waitUntil(() => isStarted);
    clock.now += leaseMs;
    await agent().agent.thread('t');
    const next = startWorker(agent(), store);
    await waitUntil(() => next.told.length === 1);
    await next.stop();
    expect(next.told).toEqual([['t', 'book', 2]]);
  });

  test('is told of a call whose tool can be asked when that has not helped, once', async () => {
    const asked: unknown[] = [];
    const reconcile = (): undefined => {
      asked.push(told.length);
    };
    const { store, agent, clock } = await lostCalls(['t'], {
      toolRecovery: { book: { reconcile } },
    });
    await agent().agent.thread('t');
    const { told, stop } = startWorker(agent(), store);
    await waitUntil(() => told.length > 0);
    for (const count of [2, 3]) {
      clock.now += 10 ** 9;
      await waitUntil(() => asked.length === count);
    }
    await stop();
    expect([told, asked]).toEqual([[['t', 'book', 1]], [0, 1, 1]]);
  });

  test('is told of a call beside a request that expires', async () => {
    const store = memoryStore();
    const empty = z.object({});
    const tools = {
      send: tool({ inputSchema: empty, execute: lose }),
      pay: tool({ inputSchema: empty, execute: async () => 'paid' }),
    };
    const calls = ['send', 'pay'].map((name) => ({ id: name, name, input: {} }));
    const { model } = scriptedModel([{ calls }]);
    const toolApproval = { pay: { type: 'user-approval', expiresAfterMs: 3_600_000 } } as const;
    const agent = createAgent({ model, store, tools, toolApproval });
    await agent.run('Go.', await agent.thread('t'));
    const told: string[] = [];
    const ending = new AbortController();
    await runWorker({
      agent,
      signal: ending.signal,
      pollMs: 1,
      onIndeterminate: (lost) => {
        told.push(...lost.calls.map(({ toolCallId }) => toolCallId));
        ending.abort();
      },
    });
    expect(told).toEqual(['send']);
  });

  test('is told neither of calls that are settled nor of those of other agents', async () => {
    const { store, agent } = await lostCalls(['t1', 't2'], { name: 'travel' });
    const { agent: web } = agent();
    for (const id of ['t1', 't2']) {
      const thread = await web.thread(id);
      if (id === 't1') await web.settle(thread, thread.calls[0]?.toolCallId ?? '', failed);
    }
    const { counts, counted } = counting(store);
    const other = startWorker(agent({ name: 'office', store: counted }), counted);
    const { told, stop } = startWorker(agent(), store);
    await waitUntil(() => told.length > 0 && counts.lists > 2);
    await Promise.all([other.stop(), stop()]);
    expect([told, other.told]).toEqual([[['t2', 'book', 1]], []]);
  });
});

const failed = { status: 'failed', error: 'It never happened.' } as const;

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
