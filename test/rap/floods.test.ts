import {
  type Agent,
  type AgentThread,
  createAgent,
  memoryStore,
  type ThreadStore,
} from 'holdpoint';
import { createCallbackHandler } from 'holdpoint/rap';
import { expect, test } from 'vitest';
import { eventsIn } from '../support/events-in.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { RemoteWorld, script } from './remote-world.ts';
import type { DiscardedCallback } from '../../src/channels/rap/create-callback-handler.ts';

const turn = async () => new Promise(setImmediate);

/** A memory store that takes a turn of the event loop for each read and write, as one over a network does, and counts them. */
function distantStore() {
  const store = memoryStore();
  const counts = { reads: 0, appends: 0 };
  const distant: ThreadStore = {
    ...store,
    async read(...asked) {
      counts.reads += 1;
      await turn();
      return store.read(...asked);
    },
    async append(...written) {
      counts.appends += 1;
      await turn();
      return store.append(...written);
    },
  };
  return { store: distant, counts };
}

/** A call at a server, in a distant store; what is sent about it goes to the handler at once. */
async function distantCall(maximumQuestions?: number) {
  const world = await RemoteWorld.start();
  const { store, counts } = distantStore();
  const tools = world.tools();
  const reasons: DiscardedCallback['reason'][] = [];
  const newAgent = () => createAgent({ model: scriptedModel(script).model, tools, store });
  const handlerOf = (each: Agent) =>
    createCallbackHandler({
      agent: each,
      tools,
      ...(maximumQuestions === undefined ? {} : { maximumQuestions }),
      onDiscarded: ({ reason }) => reasons.push(reason),
    });
  const agent = newAgent();
  const handler = handlerOf(agent);
  await agent.run('Write.', await agent.thread('t'));
  const { last, responseUrl } = world.server;
  const tell = async (message: object, by = handler): Promise<number> => {
    const body = JSON.stringify({ group_id: 't', id: 'call_abc123', ...message });
    const headers = { 'content-type': 'application/json' };
    return (await by(new Request(last.callback_url, { method: 'POST', headers, body }))).status;
  };
  const ask = async (prompt: string): Promise<number> =>
    tell({
      type: 'user_choice',
      prompt,
      choices: ['Yes', 'No'],
      default: 1,
      response_url: responseUrl,
    });
  const end = async () => world[Symbol.asyncDispose]();
  const process = () => handlerOf(newAgent());
  return { agent, ask, tell, process, counts, reasons, [Symbol.asyncDispose]: end };
}

test('96: of two results that two processes take at once the first stands, and both senders see the same', async () => {
  await using made = await distantCall();
  const other = made.process();
  const result = { type: 'tool_result', text: 'Written.' };
  const statuses = await Promise.all([
    made.tell(result),
    made.tell({ ...result, text: 'Error: not written' }, other),
  ]);
  expect(statuses).toEqual([200, 200]);
  const { events } = await made.agent.thread('t');
  expect(events.filter(({ type }) => type === 'call-ended')).toHaveLength(1);
  expect(made.reasons).toEqual(['ended']);
});

function opened({ events }: AgentThread): number {
  return events.filter(({ type }) => type === 'request-opened').length;
}

const numbers = (length: number) => Array.from({ length }, (_, index) => index);

test('34: questions that come at once are no more than one call may ask', async () => {
  await using made = await distantCall(3);
  const statuses = await Promise.all(numbers(20).map(async (index) => made.ask(`Sure ${index}?`)));
  expect(new Set(statuses)).toEqual(new Set([200]));
  const thread = await made.agent.thread('t');
  expect(opened(thread)).toBe(3);
  expect(thread.activeRequests).toHaveLength(1);
  expect(made.reasons).toEqual(Array(17).fill('too-many'));
});

test('104: of 1,000 messages at once 32 are taken in, the others are 503, and none keeps the store busy', async () => {
  await using made = await distantCall();
  const before = { ...made.counts };
  const statuses = await Promise.all(numbers(1_000).map(async (index) => made.ask(`${index}?`)));
  expect(statuses.filter((status) => status === 503)).toHaveLength(968);
  expect(statuses.filter((status) => status === 200)).toHaveLength(32);
  expect(opened(await made.agent.thread('t'))).toBe(20);
  expect(made.counts.appends - before.appends).toBe(20);
  expect(made.counts.reads - before.reads).toBeLessThan(32 * 3);
});

test('104: after a flood there is room again: the result is taken', async () => {
  await using made = await distantCall();
  await Promise.all(numbers(100).map(async (index) => made.ask(`${index}?`)));
  expect(await made.tell({ type: 'tool_result', text: 'Written.' })).toBe(200);
  expect((await made.agent.thread('t')).calls).toMatchObject([{ status: 'succeeded' }]);
});

test('104: one call that floods does not keep another waiting', async () => {
  await using world = await RemoteWorld.start({
    script: [{ calls: ['a', 'b'].map((id) => ({ id, name: 'write', input: { path: id } })) }],
  });
  await world.called();
  const [flooding, quiet] = world.server.invocations;
  if (flooding === undefined || quiet === undefined) throw new Error('There are two calls.');
  const bodies = numbers(32).map(() => new TransformStream<Uint8Array, Uint8Array>());
  const held = bodies.map(async ({ readable }) => {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: readable, duplex: 'half' as const };
    return world.site.handler?.(new Request(flooding.callback_url, init));
  });
  while (!world.discarded.some(({ reason }) => reason === 'too-many')) {
    await world.server.finish(flooding, {});
  }
  expect(await world.server.finish(quiet)).toBe(200);
  expect(
    (await eventsIn(world.open(), 't')).filter(({ type }) => type === 'call-ended'),
  ).toHaveLength(1);
  for (const { writable } of bodies) await writable.close();
  await Promise.all(held);
  expect(await world.server.finish(flooding)).toBe(200);
});

test.each([
  [
    'choices',
    { type: 'user_choice', prompt: 'Sure?', choices: Array(300_000).fill(1), default: 0 },
  ],
  ['choices', { type: 'user_choice', prompt: 'Sure?', choices: Array(9_999).fill(1), default: 0 }],
  ['content', { type: 'tool_result', content: Array(300_000).fill(1) }],
])(
  '105: what is wrong with a message of many faulty %s is said in short',
  async (_what, message) => {
    await using world = await RemoteWorld.start();
    await world.called();
    const { callback_url, group_id, id } = world.server.last;
    const response = await fetch(callback_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ group_id, id, response_url: world.server.responseUrl, ...message }),
    });
    expect(response.status).toBe(400);
    expect((await response.text()).length).toBeLessThan(2_000);
    expect(world.discarded[0]?.detail?.length).toBeLessThan(2_000);
  },
);
