import { tool } from 'ai';
import {
  type Agent,
  type AgentOptions,
  type AgentStreamEvent,
  createAgent,
  memoryStore,
  type ThreadStore,
} from 'holdpoint';
import { scriptedModel } from 'holdpoint/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  finishPart,
  type StreamPart,
  streamedModel,
  textParts,
} from '../support/streamed-model.ts';
import { book, memoryWorld, travelTools } from '../support/travel-world.ts';

/** An answer that says a few words and then nothing more. */
async function* falteringAnswer(): AsyncGenerator<StreamPart> {
  yield { type: 'text-start', id: '0' };
  yield { type: 'text-delta', id: '0', delta: 'Once upon ' };
  yield { type: 'text-delta', id: '0', delta: 'a time' };
  await new Promise(() => {});
}

/** An answer that begins and says nothing. */
async function* silence(): AsyncGenerator<StreamPart> {
  yield { type: 'text-start', id: '0' };
  await new Promise(() => {});
}

const isBegun = ({ type }: AgentStreamEvent): boolean => type === 'text-start';

/** Reads a stream until `isReached`, does `then`, and reads on to the end. */
async function readUntil(
  stream: AsyncIterable<AgentStreamEvent>,
  isReached: (event: AgentStreamEvent) => boolean,
  then: () => Promise<unknown>,
): Promise<AgentStreamEvent[]> {
  const events: AgentStreamEvent[] = [];
  let doing: Promise<unknown> | undefined;
  for await (const event of stream) {
    events.push(event);
    if (doing === undefined && isReached(event)) doing = then();
  }
  await doing;
  return events;
}

const saidTime = (event: AgentStreamEvent): boolean =>
  event.type === 'text-delta' && event.text === 'a time';

test('a stopped stream ends, keeps what was said, and the next message is accepted', async () => {
  const again = [...textParts('0', 'They slept.'), finishPart()];
  const { model, heard } = streamedModel(falteringAnswer(), again);
  const agent = createAgent({ model, store: memoryStore() });
  const thread = await agent.thread('t');
  const events = await readUntil(agent.stream('Tell me a story', thread), saidTime, async () =>
    agent.stop(thread, { principal: 'ann', channel: 'web' }),
  );
  expect(events.at(-1)).toMatchObject({
    type: 'finish',
    response: { status: 'cancelled', text: 'Once upon a time', finishReason: 'interrupted' },
  });
  expect(events.filter(({ type }) => type === 'step-finished')).toHaveLength(1);
  expect(heard.cancelled).toBe(1);
  expect(thread.status).toBe('idle');
  expect(thread.nextDeadline).toBeUndefined();
  expect(thread.messages.at(-1)).toMatchObject({ role: 'assistant' });
  expect(thread.events).toContainEqual(
    expect.objectContaining({ type: 'stop-requested', principal: 'ann', channel: 'web' }),
  );
  expect(await agent.stream('And then?', thread).response).toMatchObject({ text: 'They slept.' });
});

test('a stop before the first word keeps nothing, and no worker asks the model again', async () => {
  const { model, heard } = streamedModel(silence());
  const agent = createAgent({ model, store: memoryStore() });
  const thread = await agent.thread('t');
  await readUntil(agent.stream('Hi', thread), isBegun, async () => agent.stop(thread));
  expect(thread.messages).toHaveLength(1);
  expect(thread).toMatchObject({ status: 'idle', nextDeadline: undefined, failure: undefined });
  expect(await agent.run([], thread)).toMatchObject({ status: 'cancelled', text: '' });
  expect(heard.requests).toBe(1);
});

test('a run in another process ends too, within a second', async () => {
  const store = memoryStore();
  const { model } = streamedModel(falteringAnswer());
  const running = createAgent({ model, store });
  const other = createAgent({ model, store });
  const thread = await running.thread('t');
  const elsewhere = await other.thread('t');
  const events = await readUntil(running.stream('Hi', thread), saidTime, async () => {
    await other.stop(elsewhere);
    expect(elsewhere.status).toBe('idle');
  });
  expect(events.at(-1)).toMatchObject({ response: { status: 'cancelled' } });
});

/** An agent whose tool says when it begins, and ends with its signal. */
function slowLook(): { agent: Agent; begun: Promise<void>; ran: string[] } {
  const begun = Promise.withResolvers<void>();
  const ran: string[] = [];
  const look = tool({
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }, { abortSignal }) => {
      ran.push(city);
      begun.resolve();
      return new Promise((_resolve, reject) => {
        abortSignal?.addEventListener('abort', () => reject(new Error('No time for that.')));
      });
    },
  });
  const calls = [{ id: 'c1', name: 'look', input: { city: 'Paris' } }];
  const { model } = scriptedModel([{ calls }, { text: 'Never said.' }]);
  const agent = createAgent({ model, tools: { look }, store: memoryStore() });
  return { agent, begun: begun.promise, ran };
}

test('a tool that is running gets the signal, its result is recorded, and the model is not asked again', async () => {
  const { agent, begun } = slowLook();
  const thread = await agent.thread('t');
  const running = agent.run('Look', thread);
  await begun;
  await agent.stop(thread);
  expect(await running).toMatchObject({ status: 'cancelled', text: '' });
  expect(thread.calls).toMatchObject([
    { status: 'failed', outcome: { error: 'No time for that.' } },
  ]);
  expect(thread.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  expect(thread).toMatchObject({ status: 'idle', nextDeadline: undefined });
});

test('what people are asked stays open, and an answer goes on as ever', async () => {
  const begun = Promise.withResolvers<void>();
  const world = memoryWorld([
    { calls: [book('c1', 'Paris'), { id: 'c2', name: 'slow', input: {} }] },
    { text: 'Booked.' },
  ]);
  const slow = tool({
    inputSchema: z.object({}),
    execute: async (_input, { abortSignal }) =>
      new Promise((_resolve, reject) => {
        begun.resolve();
        abortSignal?.addEventListener('abort', () => reject(new Error('Stopped.')));
      }),
  });
  const agent = world.agent({ tools: { ...travelTools(world.ran), slow } });
  const thread = await agent.thread('t');
  const running = agent.run('Book', thread);
  await begun.promise;
  await agent.stop(thread);
  const { status, approvalRequests } = await running;
  expect(status).toBe('waiting');
  const done = await agent.run(
    approvalRequests.map((request) => request.approve()),
    thread,
  );
  expect(done).toMatchObject({ status: 'completed', text: 'Booked.' });
  expect(world.ran).toHaveLength(1);
});

test('where no run is at work, a turn that is due ends, so that no worker takes it up', async () => {
  const world = memoryWorld([{ fail: 'overloaded' }, { text: 'Late.' }]);
  const agent = world.agent();
  const thread = await agent.thread('t');
  await expect(agent.run('Hi', thread)).rejects.toThrow('overloaded');
  expect(thread.nextDeadline).toBeDefined();
  await agent.stop(thread);
  expect(thread).toMatchObject({ status: 'idle', nextDeadline: undefined, failure: undefined });
  await agent.run([], thread);
  expect(world.requests()).toBe(1);
});

test('an approved call that has not begun is held: the decision stays, and nothing starts it', async () => {
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Never said.' }]);
  const agent = world.agent();
  const thread = await agent.thread('t');
  const { approvalRequests } = await agent.run('Book', thread);
  await agent.respond(
    approvalRequests.map((request) => request.approve()),
    thread,
  );
  await agent.stop(thread);
  expect(thread.calls).toMatchObject([{ status: 'approved', held: true }]);
  expect(thread.decisions).toMatchObject([{ status: 'approved' }]);
  expect(thread.decisions[0]).not.toHaveProperty('closedBy');
  expect(await agent.run([], thread)).toMatchObject({ status: 'waiting' });
  expect(thread).toMatchObject({ status: 'waiting', nextDeadline: undefined });
  expect(world.ran).toEqual([]);
});

test('the wish outlives the process: a run that died before it could stop is not resumed', async () => {
  const store = memoryStore();
  let time = 0;
  let isAlive = true;
  const { model } = streamedModel(falteringAnswer());
  const append: ThreadStore['append'] = async (...entry) =>
    isAlive ? store.append(...entry) : Promise.reject(new Error('The process is gone.'));
  const options = { model, now: () => time, leaseMs: 1_000 };
  const dying = createAgent({ ...options, store: { ...store, append } });
  const other = createAgent({ ...options, store });
  other.on('stop-requested', () => {
    isAlive = false;
    time = 5_000;
  });
  const thread = await other.thread('t');
  const stream = dying.stream('Hi', await dying.thread('t'));
  await readUntil(stream, saidTime, async () => other.stop(thread));
  const { status } = await other.run([], thread);
  expect(status).toBe('cancelled');
  expect(thread).toMatchObject({ status: 'idle', nextDeadline: undefined });
});

test('nothing happens to a thread that nothing is due in', async () => {
  const world = memoryWorld([{ text: 'Hello.' }]);
  const agent = world.agent();
  const thread = await agent.thread('t');
  await agent.run('Hi', thread);
  const { revision } = thread;
  await agent.stop(thread);
  expect(thread.revision).toBe(revision);
});

/** An agent whose tool ignores its signal, and returns when it is released. */
function deafLook(options: Partial<AgentOptions> = {}) {
  const begun = Promise.withResolvers<void>();
  const released = Promise.withResolvers<string>();
  const look = tool({
    inputSchema: z.object({}),
    execute: async () => {
      begun.resolve();
      return released.promise;
    },
  });
  const { model, requests } = scriptedModel([
    { calls: [{ id: 'c1', name: 'look', input: {} }] },
    { text: 'Said to the next message.' },
  ]);
  const settings = { model, tools: { look }, abortGraceMs: 5, ...options };
  return { settings, begun: begun.promise, release: released.resolve, requests };
}

test('the result of a tool that ignores its signal comes later, and the model is not asked for it', async () => {
  const { settings, begun, release } = deafLook();
  const agent = createAgent({ ...settings, store: memoryStore() });
  const thread = await agent.thread('t');
  const recorded = Promise.withResolvers<void>();
  agent.on('call-ended', () => recorded.resolve());
  const running = agent.run('Look', thread);
  await begun;
  await agent.stop(thread);
  expect(await running).toMatchObject({ status: 'indeterminate' });
  release('Rain.');
  await recorded.promise;
  expect([thread.status, thread.nextDeadline]).toEqual(['idle', undefined]);
  expect(await agent.run([], thread)).toMatchObject({ status: 'cancelled', text: '' });
  expect(await agent.run('And now?', thread)).toMatchObject({ text: 'Said to the next message.' });
});

test('a turn whose process died in a call ends too, and what the call came to is found out without the model', async () => {
  let time = 0;
  const store = memoryStore();
  const toolRecovery = {
    look: { reconcile: async () => ({ status: 'succeeded', output: 'Rain.' }) as const },
  };
  const { settings, begun } = deafLook({ now: () => time, leaseMs: 1_000, toolRecovery });
  const append: ThreadStore['append'] = async (...entry) =>
    time === 0 ? store.append(...entry) : Promise.reject(new Error('The process is gone.'));
  const dying = createAgent({ ...settings, store: { ...store, append } });
  const agent = createAgent({ ...settings, store });
  const lost = dying.run('Look', await dying.thread('t')).catch(() => {});
  await begun;
  const thread = await agent.thread('t');
  time = 5_000;
  await agent.stop(thread);
  const { revision } = thread;
  await agent.stop(thread);
  expect(thread.revision).toBe(revision);
  expect(thread.nextDeadline).toBeDefined();
  expect(await agent.run([], thread)).toMatchObject({ status: 'cancelled', text: '' });
  expect(thread).toMatchObject({ status: 'idle', nextDeadline: undefined });
  expect(thread.calls).toMatchObject([{ status: 'succeeded' }]);
  await lost;
});

test('a second stop, after the process died that the first one asked to stop, ends the turn once', async () => {
  let time = 0;
  const store = memoryStore();
  const { settings, begun } = deafLook({ now: () => time, leaseMs: 1_000, toolCallConcurrency: 1 });
  const calls = ['c1', 'c2'].map((id) => ({ id, name: 'look', input: {} }));
  const { model } = scriptedModel([{ calls }]);
  const append: ThreadStore['append'] = async (...entry) =>
    time === 0 ? store.append(...entry) : Promise.reject(new Error('The process is gone.'));
  const dying = createAgent({ ...settings, model, store: { ...store, append } });
  const agent = createAgent({ ...settings, model, store });
  void dying.run('Look', await dying.thread('t')).catch(() => {});
  await begun;
  const thread = await agent.thread('t');
  agent.on('stop-requested', () => {
    time = 5_000;
  });
  await agent.stop(thread);
  await agent.stop(thread);
  const ends = thread.events.filter(({ type }) => type === 'run-ended');
  expect(ends).toMatchObject([{ stopped: true }]);
  expect(thread.calls).toMatchObject([{ status: 'indeterminate' }, { status: 'denied' }]);
});

test('what people are asked may expire after a stop, and the model is not asked for that', async () => {
  let time = 0;
  const { settings, begun, release } = deafLook({ now: () => time });
  const { model } = scriptedModel([
    { calls: [{ id: 'c1', name: 'look', input: {} }, book('c2', 'Paris')] },
    { text: 'Never said.' },
  ]);
  const agent = createAgent({
    ...settings,
    model,
    tools: { ...travelTools([]), ...settings.tools },
    toolApproval: { book: { type: 'user-approval', expiresAfterMs: 1_000 } },
    store: memoryStore(),
    abortGraceMs: 60_000,
  });
  const thread = await agent.thread('t');
  const running = agent.run('Go', thread);
  await begun;
  const stopping = agent.stop(thread);
  release('Rain.');
  await stopping;
  expect(await running).toMatchObject({ status: 'waiting' });
  time = 2_000;
  expect(await agent.run([], thread)).toMatchObject({ status: 'cancelled', text: '' });
  expect(thread).toMatchObject({ status: 'idle', nextDeadline: undefined });
});

test('withdrawing the last message of a stopped turn does not bring the turn back', async () => {
  const world = memoryWorld([{ fail: 'overloaded' }, { fail: 'overloaded' }, { text: 'Never.' }]);
  const agent = world.agent();
  const thread = await agent.thread('t');
  await expect(agent.run('One', thread)).rejects.toThrow('overloaded');
  await expect(agent.run('Two', thread)).rejects.toThrow('overloaded');
  await agent.stop(thread);
  await agent.retract(thread);
  expect(thread).toMatchObject({ status: 'idle', nextDeadline: undefined });
  expect(await agent.run([], thread)).toMatchObject({ status: 'cancelled' });
});

/** A store of one process before whose append of an event of this type somebody stops the thread in another one. */
function stoppedJustBefore(type: string) {
  const shared = memoryStore();
  const other = createAgent({ model: scriptedModel([]).model, store: shared });
  const recorded = Promise.withResolvers<void>();
  other.on('stop-requested', () => recorded.resolve());
  let stopping: Promise<void> | undefined;
  const store: ThreadStore = {
    ...shared,
    async append(...append) {
      const isMeant = append[2].some(({ text }) => text.includes(`"${type}"`));
      if (isMeant && stopping === undefined) {
        stopping = other.stop(await other.thread('t'));
        await recorded.promise;
      }
      return shared.append(...append);
    },
  };
  return {
    store,
    /** The thread once it is stopped. */
    stopped: async () => {
      expect(stopping).toBeDefined();
      await stopping;
      return other.thread('t');
    },
  };
}

test('a stop that comes just before the last append of a run ends it, and the thread is free at once', async () => {
  const { store, stopped } = stoppedJustBefore('run-ended');
  const agent = createAgent({ model: scriptedModel([{ text: 'Hello.' }]).model, store });
  await agent.run('Hi', await agent.thread('t'));
  expect((await stopped()).status).toBe('idle');
});

test('a stop that comes just before the start of a call keeps it from starting', async () => {
  const { store, stopped } = stoppedJustBefore('call-started');
  const ran: string[] = [];
  const look = tool({ inputSchema: z.object({}), execute: async () => void ran.push('look') });
  const calls = [{ id: 'c1', name: 'look', input: {} }];
  const { model } = scriptedModel([{ calls }, { text: 'Done.' }]);
  const agent = createAgent({ model, store, tools: { look } });
  await agent.run('Hi', await agent.thread('t'));
  const thread = await stopped();
  expect(ran).toEqual([]);
  expect(thread.events.map(({ type }) => type)).not.toContain('call-started');
  expect(thread.status).toBe('idle');
});

test('a turn that was stopped before its reply is resumed also after an answer to a request of the app', async () => {
  const asked = Promise.withResolvers<unknown>();
  let steps = 0;
  const { model } = scriptedModel(async () => {
    steps += 1;
    asked.resolve(undefined);
    if (steps === 1) await new Promise(() => {});
    return { text: 'Hello.' };
  });
  const agent = createAgent({ model, store: memoryStore() });
  const thread = await agent.thread('t');
  const running = agent.run('Hi', thread);
  await asked.promise;
  await agent.stop(thread);
  await running;
  const request = await agent.requestApproval(thread, { key: 'k', text: 'May I?' });
  await agent.respond(request.approve(), thread);
  expect(await agent.run([], thread)).toMatchObject({ text: '' });
  expect(await agent.run([], thread, { resumeStopped: true })).toMatchObject({ text: 'Hello.' });
});
