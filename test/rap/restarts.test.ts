import type { Agent, AgentThread, ThreadEvent, ThreadStore } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { Died, dyingStore } from '../tools/dying-store.ts';
import { eventsIn } from '../support/events-in.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { pick, RemoteWorld, script } from './remote-world.ts';
import { signedHeaders } from './standard-webhooks.ts';
import { post, type ToolServer } from './tool-server.ts';
import { pickCases } from '../support/sampling.ts';

/** When the first process dies, and how people answer. */
interface Death {
  point: number;
  when: 'before' | 'after';
  how: 'run' | 'respond';
}

/**
 * A tool server that goes on by itself: it asks once it is called, ends the call once it is answered, and repeats what was not taken
 * with HTTP 200.
 */
class BusyServer {
  readonly #server: ToolServer;
  #isAsked = false;
  #isFinished = false;

  constructor(server: ToolServer) {
    this.#server = server;
  }

  async goOn(): Promise<void> {
    const { invocations, answers } = this.#server;
    const [invocation] = invocations;
    if (invocation === undefined) return;
    if (!this.#isAsked) this.#isAsked = (await this.#server.ask(invocation)) === 200;
    if (answers.length === 0 || this.#isFinished) return;
    this.#isFinished = (await this.#server.finish(invocation)) === 200;
  }
}

/** The whole conversation, by as many processes as it takes; the first may die at one of its appends. */
async function converse(world: RemoteWorld, { point, when, how }: Death) {
  const shared = world.open();
  const mortal = dyingStore(shared, point, when);
  const server = new BusyServer(world.server);
  const clock = { now: Date.now() };
  for (let turn = 0; turn < 20; turn += 1) {
    const store = mortal.isDead ? shared : mortal.store;
    const agent = await nextProcess(world, store, () => clock.now);
    try {
      await server.goOn();
      const thread = await agent.thread('t');
      if (thread.revision > 0 && thread.status === 'idle' && isAnswered(thread)) {
        return { thread, isDead: mortal.isDead };
      }
      await goOn(agent, thread, { how, isInvoked: world.server.invocations.length > 0 });
    } catch (error) {
      if (!(error instanceof Died)) throw error;
      clock.now += 100_000;
    }
  }
  throw new Error('The conversation never came to its end.');
}

async function nextProcess(world: RemoteWorld, store: ThreadStore, now: () => number) {
  /* The model is as far as the log: what it said and nobody recorded, it says again. */
  const events = await eventsIn(world.open(), 't');
  const said = events.filter(({ type }) => type === 'step-finished').length;
  const { model } = scriptedModel(script.slice(said));
  return world.process({ store, model, now });
}

async function goOn(
  agent: Agent,
  thread: AgentThread,
  { how, isInvoked }: { how: Death['how']; isInvoked: boolean },
): Promise<void> {
  if (thread.revision === 0) {
    await agent.run('Write.', thread);
  } else if (thread.activeRequests.length > 0) {
    await agent[how](pick(thread, 1), thread);
  } else if (thread.status === 'indeterminate' && !isInvoked) {
    /* A person has looked: the server knows nothing of it. */
    await agent.settle(thread, 'call_abc123', { status: 'failed', error: 'It never went out.' });
  } else {
    await agent.run([], thread);
  }
}

function isAnswered({ messages }: AgentThread): boolean {
  const last = messages.at(-1);
  return last?.role === 'assistant' && JSON.stringify(last.content).includes('It is written.');
}

function positions(events: readonly ThreadEvent[], type: ThreadEvent['type']): number[] {
  return events.flatMap((event, index) => (event.type === type ? [index] : []));
}

describe.each(['run', 'respond'] as const)('people answer by %s, and a process dies', (how) => {
  const deaths = Array.from({ length: 9 }, (_, index) => index + 1).flatMap((point) =>
    (['before', 'after'] as const).map((when) => ({ point, when })),
  );
  test.each(pickCases(deaths, 3))(
    'S0-36, S0-39, S0-55: $when its append $point: one call, one choice, one result',
    async ({ point, when }) => {
      await using world = await RemoteWorld.start({ storeName: 'sqliteStore' });
      const { thread } = await converse(world, { point, when, how });
      const { invocations, answers } = world.server;
      expect(invocations.length).toBeLessThanOrEqual(1);
      for (const answer of answers) expect(answer).toEqual({ id: 'call_abc123', selected: 1 });
      const { events } = thread;
      expect(positions(events, 'call-ended')).toHaveLength(1);
      expect(positions(events, 'request-answered')).toHaveLength(invocations.length);
      if (invocations.length === 0) return;
      expect(answers.length).toBeGreaterThanOrEqual(1);
      expect(answers.length).toBeLessThanOrEqual(2);
      expect(thread.calls).toMatchObject([
        { status: 'succeeded', outcome: { output: 'Written.' } },
      ]);
    },
  );
});

test('these deaths are at every append of the conversation', async () => {
  await using world = await RemoteWorld.start({ storeName: 'sqliteStore' });
  const { isDead } = await converse(world, { point: 10, when: 'before', how: 'run' });
  expect(isDead).toBe(false);
});

/** The question of a server that signs. */
async function askSigned({ server }: RemoteWorld): Promise<void> {
  const { group_id, id, callback_url } = server.last;
  const choice = { prompt: 'Sure?', choices: ['Yes', 'No'], default: 1 };
  const message = { type: 'user_choice', group_id, id, ...choice };
  const body = JSON.stringify({ ...message, response_url: server.responseUrl });
  const key = Buffer.from('a key that both sides have, 32 b');
  expect(await post(callback_url, body, signedHeaders(key, body))).toBe(200);
}

test('S0-22: an answer that was sent, and not known to be when the process died, is sent again by the next: the same one, under the same id', async () => {
  const signing = { secret: btoa('a key that both sides have, 32 b') };
  await using world = await RemoteWorld.start({ storeName: 'sqliteStore', tool: { signing } });
  const { thread: called } = await world.called();
  await askSigned(world);
  const clock = { now: Date.now() };
  const now = () => clock.now;
  /* Its first append is the answer, and its second would be that the answer has arrived. */
  const { store } = dyingStore(world.open(), 2, 'before');
  const mortal = world.process({ store, now });
  const thread = await mortal.thread(called.id);
  await expect(mortal.run(pick(thread, 1), thread)).rejects.toThrow(Died);
  expect(world.server.answers).toEqual([{ id: 'call_abc123', selected: 1 }]);

  const agent = world.process({ now });
  const found = await agent.thread(called.id);
  expect(await agent.run([], found)).toMatchObject({ status: 'running' });
  expect(world.server.answers).toHaveLength(1);
  clock.now += 100_000;
  expect(await agent.run([], found)).toMatchObject({ status: 'waiting' });
  const answer = { id: 'call_abc123', selected: 1 };
  expect(world.server.answers).toEqual([answer, answer]);
  const [first, second] = world.server.received.slice(-2).map(({ headers }) => headers);
  expect(first?.['webhook-id']).toBe(second?.['webhook-id']);
  await agent.run([], found);
  expect(world.server.answers).toHaveLength(2);
});

test('an answer that another process recorded is sent by the one that runs the thread, once', async () => {
  await using world = await RemoteWorld.start({ storeName: 'sqliteStore' });
  const { agent, thread } = await world.asked();
  const inbox = world.process();
  const found = await inbox.thread('t');
  await inbox.respond(pick(found, 2), found, { principal: 'ann', channel: 'mail' });
  expect(world.server.answers).toEqual([]);
  await Promise.all([agent.run([], thread), inbox.run([], found)]);
  expect(world.server.answers).toEqual([{ id: 'call_abc123', selected: 2 }]);
});
