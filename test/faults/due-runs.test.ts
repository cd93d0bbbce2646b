import { type Agent, memoryStore, type ThreadStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { eventsIn } from '../support/events-in.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { look, travelWorld } from '../support/travel-world.ts';

/** A thread whose run has failed, and agents that a scheduler wakes at the time of the next attempt. */
async function failedThread(maxAttempts: number) {
  const store = memoryStore();
  const clock = { now: 1_000 };
  const played = scriptedModel([{ fail: 'overloaded' }], { repeat: true });
  const world = travelWorld(played, () => store);
  const agent = (over: ThreadStore = store) =>
    world.agent({ store: over, now: () => clock.now, retry: { maxAttempts } });
  const first = agent();
  const thread = await first.thread('t');
  await expect(first.run('Hi', thread)).rejects.toThrow('overloaded');
  clock.now = thread.nextDeadline ?? 0;
  return { store, played, agent };
}

test.each([
  ['waits for the next time', 10, 'waiting'],
  ['finds it stuck', 2, 'stuck'],
])(
  'of two that are woken for one time, the second %s when the first has failed',
  async (_what, maxAttempts, status) => {
    const { store, played, agent } = await failedThread(maxAttempts);
    const early = agent();
    let isFirst = true;
    /* Both have found the thread due when one of them appends. */
    const late = agent({
      ...store,
      async append(...input) {
        if (isFirst) {
          isFirst = false;
          const run = early.run([], await early.thread('t'), { onlyWhenDue: true });
          await expect(run).rejects.toThrow('overloaded');
        }
        return store.append(...input);
      },
    });
    const thread = await late.thread('t');
    const { revision } = thread;
    expect(await late.run([], thread, { onlyWhenDue: true })).toMatchObject({ status });
    expect([played.requests, thread.failure?.failures]).toEqual([2, 2]);
    expect(thread.events.slice(revision).map(({ type }) => type)).toEqual([
      'run-started',
      'run-ended',
    ]);
  },
);

/** A thread whose first run stalls past its lease when its tool has done its work, and before it knows that this is recorded. */
async function stalledRun(meanwhile: (agent: Agent) => Promise<void>) {
  const store = memoryStore();
  const clock = { now: 1_000 };
  const leaseMs = 1_000;
  const found = { calls: [look('c1', 'Oslo')] };
  const world = travelWorld(scriptedModel([found, { fail: 'overloaded' }]), () => store);
  const agent = (over: ThreadStore = store) =>
    world.agent({ store: over, leaseMs, now: () => clock.now });
  let hasStalled = false;
  const stalling: ThreadStore = {
    ...store,
    async append(...input) {
      /* And when it takes the thread again, another is faster. */
      if (hasStalled && input[2].some(({ text }) => text.includes('"run-started"')))
        await runAndFail(agent());
      await store.append(...input);
      if (hasStalled || !input[2].some(({ text }) => text.includes('"call-ended"'))) return;
      hasStalled = true;
      clock.now += leaseMs;
      await meanwhile(agent());
    },
  };
  const stalled = agent(stalling);
  const { status } = await stalled.run('Look', await stalled.thread('t'));
  const runs = (await eventsIn(store, 't')).filter(({ type }) => type === 'run-started');
  return { status, runs: runs.length, requests: world.requests() };
}

async function runAndFail(agent: Agent): Promise<void> {
  await expect(agent.run([], await agent.thread('t'))).rejects.toThrow('overloaded');
}

test('a run that stalled does not take the thread again where another has run it, and failed, meanwhile', async () => {
  const { runs, requests, status } = await stalledRun(runAndFail);
  expect([runs, requests, status]).toEqual([2, 2, 'running']);
});

test('nor where another has done so while it was taking the thread again', async () => {
  const { runs, requests } = await stalledRun(async (agent) => {
    const thread = await agent.thread('t');
    expect(await agent.run([], thread, { onlyWhenDue: true })).toMatchObject({
      status: 'waiting',
      approvalRequests: [],
      nextDeadline: expect.any(Number),
    });
    expect(thread.failure).toBeDefined();
  });
  expect([runs, requests]).toEqual([2, 2]);
});
