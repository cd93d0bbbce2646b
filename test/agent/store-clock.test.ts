import { tool } from 'ai';
import { memoryStore, type ThreadStore } from 'holdpoint';
import { expect, test, vi } from 'vitest';
import { scriptedModel } from '../support/scripted-model.ts';
import { cityInput, look, travelWorld } from '../support/travel-world.ts';

function trueTime(): number {
  return performance.timeOrigin + performance.now();
}

/** A call that runs on a machine whose clock is right, as a machine whose clock is five minutes ahead sees it. */
async function seenAhead(shared: ThreadStore): Promise<string> {
  const begun = Promise.withResolvers<void>();
  const found = Promise.withResolvers<string>();
  const execute = async () => {
    begun.resolve();
    return found.promise;
  };
  const world = travelWorld(
    scriptedModel([{ calls: [look('c1', 'Rome')] }, { text: 'Done.' }]),
    () => shared,
  );
  const tools = { look: tool({ inputSchema: cityInput, execute }) };
  const right = world.agent({ tools, toolApproval: {}, now: trueTime });
  const running = right.run('Look', await right.thread('t'));
  await begun.promise;
  vi.useFakeTimers({ toFake: ['Date'], now: trueTime() + 300_000 });
  try {
    const ahead = world.agent();
    return (await ahead.thread('t')).status;
  } finally {
    vi.useRealTimers();
    found.resolve('a flight');
    await running;
  }
}

test('where the store has a clock, a machine whose own is ahead takes no call for lost', async () => {
  const store = memoryStore();
  expect(await seenAhead({ ...store, now: async () => trueTime() })).toBe('running');
});

test('where it has none, that machine takes the call for lost; the result is recorded all the same', async () => {
  const store = memoryStore();
  expect(await seenAhead(store)).toBe('indeterminate');
  const { calls } = await travelWorld(scriptedModel([]), () => store)
    .agent()
    .thread('t');
  expect(calls).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
});

test('the store’s clock is read once a minute, however often threads are opened', async () => {
  let readings = 0;
  const now = async () => {
    readings += 1;
    return 1_000_000;
  };
  const store = { ...memoryStore(), now };
  const agent = travelWorld(
    scriptedModel([{ text: 'Hello.' }], { repeat: true }),
    () => store,
  ).agent();
  for (const id of ['a', 'b', 'c']) await agent.run('Hi', await agent.thread(id));
  expect(readings).toBe(1);
  const [created] = (await agent.thread('a')).events;
  expect(created?.at).toBeGreaterThanOrEqual(1_000_000);
  expect(created?.at).toBeLessThan(1_060_000);
});
