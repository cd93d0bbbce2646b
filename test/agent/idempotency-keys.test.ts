import { memoryStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, look, travelWorld } from '../support/travel-world.ts';

/** An agent in a database of its own, and what its tools were given. */
function database(script = [{ text: 'Done.' }]) {
  const store = memoryStore();
  return travelWorld(scriptedModel(script, { repeat: true }), () => store);
}

test('every copy of a thread gives a call the same key: four effects, one key', async () => {
  const first = travelWorld(
    scriptedModel([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]),
    memoryStore,
  );
  const agent = first.agent();
  const { thread, approvalRequests } = await agent.run('Book', await agent.thread('t'));
  const backup = JSON.stringify(thread);
  const answers = approvalRequests.map((request) => request.approve());
  await agent.run(answers, thread);
  const keys = first.ran.map(({ idempotencyKey }) => idempotencyKey);
  for (const copy of [database(), database(), database()]) {
    const restoring = copy.agent();
    await restoring.run(answers, await restoring.restore(backup));
    keys.push(...copy.ran.map(({ idempotencyKey }) => idempotencyKey));
  }
  expect(keys).toHaveLength(4);
  expect(new Set(keys).size).toBe(1);
});

test('the key is there as soon as the call is, and stays when a person has it tried again', async () => {
  const store = memoryStore();
  const clock = { now: 0 };
  const script = [{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }];
  const world = travelWorld(scriptedModel(script), () => store);
  const agent = world.agent({ now: () => clock.now, leaseMs: 1_000, abortGraceMs: 0 });
  const { thread, approvalRequests } = await agent.run('Book', await agent.thread('t'));
  const [waiting] = thread.calls;
  expect(waiting?.idempotencyKey).toMatch(/^[\w-]{43}\.0\.0$/);
  await agent.run(
    approvalRequests.map((request) => request.approve()),
    thread,
  );
  expect(world.ran).toMatchObject([{ idempotencyKey: waiting?.idempotencyKey }]);
});

test('two calls never share a key: in one step, in two steps, in two threads that look alike', async () => {
  const calls = [look('c1', 'Rome'), look('c2', 'Rome')];
  const worlds = ['a', 'b'].map((id) => ({
    id,
    world: travelWorld(scriptedModel([{ calls }, { calls }, { text: '' }]), memoryStore),
  }));
  for (const { id, world } of worlds) {
    const agent = world.agent({ now: () => 7 });
    await agent.run('Look', await agent.thread(id));
  }
  const ran = worlds.map(({ world }) => world);
  const keys = ran.flatMap((each) => each.ran.map(({ idempotencyKey }) => idempotencyKey));
  expect(keys).toHaveLength(8);
  expect(new Set(keys).size).toBe(8);
});
