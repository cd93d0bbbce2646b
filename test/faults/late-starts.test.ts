import { memoryStore, type ThreadStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { eventsIn } from '../support/events-in.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, look, travelWorld } from '../support/travel-world.ts';

const leaseMs = 1_000;
type Calls = ReturnType<typeof book>[];
type World = ReturnType<typeof stalledWorld>;

/** Agents with idempotent tools on one store; and one whose store takes as long as `meanwhile` does to say that a start is durable. */
function stalledWorld(script: { calls: Calls }[], meanwhile: (world: World) => Promise<void>) {
  const store = memoryStore();
  const clock = { now: 0 };
  const played = scriptedModel([...script, { text: 'Done.' }], { repeat: true });
  const world = travelWorld(played, () => store);
  const toolRecovery = { book: { idempotent: true }, look: { idempotent: true } };
  const agent = (over: ThreadStore = store) =>
    world.agent({ store: over, leaseMs, now: () => clock.now, toolRecovery });
  let isStalled = false;
  const stalling: ThreadStore = {
    ...store,
    async append(...input) {
      await store.append(...input);
      if (isStalled || !input[2].some(({ text }) => text.includes('"call-started"'))) return;
      isStalled = true;
      clock.now += leaseMs;
      await meanwhile(all);
    },
  };
  const all = { store, clock, ran: world.ran, agent, stalled: agent(stalling) };
  return all;
}

/** Another process takes the thread over, and brings it to its end. */
async function takeOver({ agent }: World): Promise<void> {
  const other = agent();
  await other.run([], await other.thread('t'));
}

test('a start that is durable too late says nothing of the later attempt of another process', async () => {
  /* The other process is in the middle of its attempt when the first hears of its own. */
  const inside = Promise.withResolvers<void>();
  const outside = Promise.withResolvers<void>();
  const taking: Promise<unknown>[] = [];
  const world = stalledWorld([{ calls: [look('c1', 'Oslo')] }], async (own) => {
    const busy = own.agent({
      ...own.store,
      async append(...input) {
        await own.store.append(...input);
        if (!input[2].some(({ text }) => text.includes('"call-started"'))) return;
        inside.resolve();
        await outside.promise;
      },
    });
    taking.push(busy.run([], await busy.thread('t')));
    await inside.promise;
  });
  const running = world.stalled.run('Look', await world.stalled.thread('t'));
  await inside.promise;
  /* Time for the first to say what it knows. */
  await new Promise((resolve) => setTimeout(resolve, 50));
  outside.resolve();
  await Promise.all([running, ...taking]);
  const ends = (await eventsIn(world.store, 't')).filter(({ type }) => type === 'call-ended');
  expect(world.ran).toHaveLength(1);
  expect(ends).toMatchObject([{ outcome: { status: 'succeeded' } }]);
});

test('a start that is durable too late says nothing of the call that has its place in a later step', async () => {
  const script = [{ calls: [look('c1', 'Oslo')] }, { calls: [book('c2', 'Rome')] }];
  const world = stalledWorld(script, takeOver);
  await world.stalled.run('Look', await world.stalled.thread('t'));
  const events = await eventsIn(world.store, 't');
  expect(events.filter(({ type }) => type === 'late-result')).toMatchObject([
    { step: 0, index: 0, attempt: 1 },
  ]);
});
