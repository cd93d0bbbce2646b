import { type Agent, type AgentThread, memoryStore } from 'holdpoint';
import { runWorker } from 'holdpoint/worker';
import { describe, expect, test } from 'vitest';
import { aroundAgent } from '../support/around-agent.ts';
import { errorCode } from '../support/error-code.ts';
import { eventsIn } from '../support/events-in.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, travelWorld } from '../support/travel-world.ts';
import { waitUntil } from '../support/waiting.ts';

/** A store in which agent `sales` waits for a person, and agents of any name on it. */
async function sharedStore() {
  const store = memoryStore();
  const script = [{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }];
  const world = travelWorld(scriptedModel(script), () => store);
  const sales = world.agent({ name: 'sales' });
  const { thread, approvalRequests } = await sales.run('Book', await sales.thread('t'));
  const answers = approvalRequests.map((request) => request.approve());
  const others = travelWorld(scriptedModel([{ text: 'Mine.' }], { repeat: true }), () => store);
  const agent = (name?: string): Agent =>
    others.agent({ ...(name === undefined ? {} : { name }), tools: {}, toolApproval: {} });
  return { store, world, sales, thread, answers, agent, others };
}

test('the name of the agent is in the first event, in the summary, and in the filter of the list', async () => {
  const { store, agent } = await sharedStore();
  const unnamed = agent();
  await unnamed.run('Hi', await unnamed.thread('u'));
  expect((await eventsIn(store, 't'))[0]).toMatchObject({ type: 'thread-created', agent: 'sales' });
  expect(await store.head('t')).toMatchObject({ agent: 'sales' });
  expect(await store.head('u')).not.toHaveProperty('agent');
  const ids = async (name: string | null) =>
    (await store.list({ agent: name })).map(({ threadId }) => threadId);
  expect([await ids('sales'), await ids('support'), await ids(null)]).toEqual([['t'], [], ['u']]);
});

describe.each([
  ['an agent of another name', 'support'],
  ['an agent without a name', undefined],
])('%s', (_who, name) => {
  type Work = (agent: Agent, thread: AgentThread) => Promise<unknown>;
  test.each<[string, Work]>([
    ['run', async (agent, thread) => agent.run([], thread)],
    ['respond', async (agent, thread) => agent.respond([], thread)],
    ['cancel', async (agent, thread) => agent.cancel(thread)],
    [
      'settle',
      async (agent, thread) => agent.settle(thread, 'c1', { status: 'failed', error: 'x' }),
    ],
    [
      'deliver',
      async (agent, thread) => agent.deliver(thread, 'c1', { status: 'failed', error: 'x' }),
    ],
    ['requestApproval', async (agent, thread) => agent.requestApproval(thread, { text: 'x' })],
    ['delete', async (agent, thread) => agent.delete(thread)],
  ])('is refused %s, and nothing is recorded', async (_what, work) => {
    const { store, agent } = await sharedStore();
    const other = agent(name);
    const thread = await other.thread('t');
    const before = await store.head('t');
    expect(await errorCode(work(other, thread))).toBe('wrong-agent');
    await expect(work(other, thread)).rejects.toThrow(/name: 'sales'.*agent\.adopt\(thread\)/);
    expect(await store.head('t')).toEqual(before);
  });

  test('can read the thread, and is refused to restore it elsewhere', async () => {
    const { thread, agent } = await sharedStore();
    const other = agent(name);
    const seen = await other.thread('t');
    expect([seen.agent, seen.activeApprovalRequests.length]).toEqual(['sales', 1]);
    const empty = memoryStore();
    const elsewhere = travelWorld(scriptedModel([]), () => empty);
    const restoring = elsewhere.agent(name === undefined ? {} : { name });
    expect(await errorCode(restoring.restore(JSON.stringify(thread)))).toBe('wrong-agent');
    expect(await empty.list({})).toEqual([]);
  });
});

test('a worker leaves the approved call of another agent to its own worker', async () => {
  const { store, world, sales, thread, answers, agent, others } = await sharedStore();
  await sales.respond(answers, thread);
  const stopping = new AbortController();
  const errors: unknown[] = [];
  let claims = 0;
  const counted = {
    ...store,
    claim: async (...input: Parameters<typeof store.claim>) => {
      claims += 1;
      return store.claim(...input);
    },
  };
  const onError = (error: unknown) => errors.push(error);
  const { signal } = stopping;
  const working = [agent('support'), agent()].map(async (own) =>
    runWorker({ agent: aroundAgent(own), store: counted, signal, pollMs: 1, onError }),
  );
  await waitUntil(() => claims > 20);
  expect(thread.calls).toMatchObject([{ status: 'approved' }]);
  expect([others.requests(), errors]).toEqual([0, []]);
  const own = runWorker({ agent: sales, store, signal, pollMs: 1 });
  await waitUntil(async () => (await store.head('t'))?.status === 'idle');
  stopping.abort();
  await Promise.all([...working, own]);
  expect(world.ran).toHaveLength(1);
});

test('an agent that was renamed adopts its threads; the old name has them no more', async () => {
  const { store, sales, thread, answers, world } = await sharedStore();
  const renamed = world.agent({ name: 'bookings' });
  for (const { threadId } of await store.list({ agent: 'sales' })) {
    await renamed.adopt(await renamed.thread(threadId));
  }
  expect(await store.list({ agent: 'bookings' })).toMatchObject([{ threadId: 't' }]);
  expect(await errorCode(sales.run(answers, thread))).toBe('wrong-agent');
  const own = await renamed.thread('t');
  const { revision } = own;
  await renamed.adopt(own);
  expect(own.revision).toBe(revision);
  expect(await renamed.run(answers, own)).toMatchObject({ status: 'completed' });
  expect(world.ran).toHaveLength(1);
});

test('a thread that is being run can not be adopted', async () => {
  const { sales, thread, answers, agent } = await sharedStore();
  const other = agent('support');
  const found = await other.thread('t');
  const refused: unknown[] = [];
  sales.on('call-started', async () => refused.push(await errorCode(other.adopt(found))));
  await sales.run(answers, thread);
  expect(refused).toEqual(['thread-busy']);
});

test.each(['', 'x'.repeat(101), 'a\0b', '\uD800'])('%j is not a name', (name) => {
  const world = travelWorld(scriptedModel([]), memoryStore);
  expect(() => world.agent({ name })).toThrow(TypeError);
});
