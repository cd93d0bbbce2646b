import { memoryStore, type ThreadEvent, type ThreadStore, type ToolCall } from 'holdpoint';
import { toolCallRecordSchema } from 'holdpoint/schemas';
import { expect, expectTypeOf, test } from 'vitest';
import { eventsIn } from '../support/events-in.ts';
import { book, look, memoryWorld } from '../support/travel-world.ts';

const script = [{ calls: [book('c1', 'Paris'), look('c2', 'Rome')] }, { text: 'Done.' }];

test('listeners get typed events after they are durable, in order', async () => {
  const world = memoryWorld(script);
  const agent = world.agent();
  const heard: string[] = [];
  const durable: boolean[] = [];
  agent.on('request-opened', ({ threadId, event }) => {
    expectTypeOf(event.request.requestId).toBeString();
    heard.push(`${threadId} ${event.type} ${event.request.text}`);
  });
  for (const type of ['call-started', 'call-ended', 'run-ended'] as const) {
    agent.on(type, async ({ event }) => {
      heard.push(event.type);
      const stored = await eventsIn(world.store, 't');
      durable.push(stored.some((other) => JSON.stringify(other) === JSON.stringify(event)));
    });
  }
  await agent.run('Book', await agent.thread('t'));
  expect(heard).toEqual([
    't request-opened The agent wants to call book.',
    'call-started',
    'call-ended',
    'run-ended',
  ]);
  await Promise.resolve();
  expect(durable).toEqual([true, true, true]);
});

test('an event of a call comes with the call: its id, its tool and its input', async () => {
  const agent = memoryWorld(script).agent();
  const heard: unknown[] = [];
  agent.on('call-started', ({ toolCall }) => {
    expectTypeOf(toolCall).toEqualTypeOf<ToolCall>();
    heard.push(toolCall);
  });
  agent.on('call-ended', ({ toolCall }) => heard.push(toolCall.toolName));
  agent.on('request-opened', ({ toolCall }) => {
    expectTypeOf(toolCall).toEqualTypeOf<ToolCall | undefined>();
    heard.push(toolCall?.toolName);
  });
  agent.on('run-ended', ({ toolCall }) => heard.push(toolCall));
  await agent.run('Book', await agent.thread('t'));
  const lookedUp = { toolCallId: 'c2', toolName: 'look', input: { city: 'Rome' } };
  expect(heard).toEqual(['book', lookedUp, 'look', undefined]);
});

test('a listener that throws or rejects changes nothing, and the others still hear', async () => {
  const world = memoryWorld(script);
  const agent = world.agent();
  const heard: string[] = [];
  agent.on('run-started', () => {
    throw new Error('broken listener');
  });
  agent.on('run-started', async () => Promise.reject(new Error('broken listener')));
  agent.on('run-started', ({ event }) => heard.push(event.type));
  expect(await agent.run('Book', await agent.thread('t'))).toMatchObject({ status: 'waiting' });
  expect(heard).toEqual(['run-started']);
});

test('listeners that are added or taken off while an event is emitted count from the next event', async () => {
  const agent = memoryWorld([{ text: 'One.' }, { text: 'Two.' }]).agent();
  const thread = await agent.thread('t');
  const heard: string[] = [];
  let isFirst = true;
  agent.on('run-started', () => {
    if (!isFirst) return;
    isFirst = false;
    off();
    agent.on('run-started', () => heard.push('added'));
  });
  const off = agent.on('run-started', () => heard.push('taken off'));
  await agent.run('Hello', thread);
  expect(heard).toEqual(['taken off']);
  await agent.run('Hello', thread);
  expect(heard).toEqual(['taken off', 'added']);
});

test('a listener that was taken off hears nothing', async () => {
  const world = memoryWorld([{ text: 'Hi.' }]);
  const agent = world.agent();
  const heard: ThreadEvent[] = [];
  const off = agent.on('run-started', ({ event }) => heard.push(event));
  off();
  await agent.run('Hi', await agent.thread('t'));
  expect(heard).toEqual([]);
});

test('the same listener added twice is called twice, and each is taken off by itself', async () => {
  const agent = memoryWorld([{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }]).agent();
  const thread = await agent.thread('t');
  let calls = 0;
  const listener = () => (calls += 1);
  const first = agent.on('run-ended', listener);
  const second = agent.on('run-ended', listener);
  await agent.run('Hello', thread);
  expect(calls).toBe(2);
  first();
  first();
  await agent.run('Hello', thread);
  expect(calls).toBe(3);
  second();
  await agent.run('Hello', thread);
  expect(calls).toBe(3);
});

test('a listener that adds or takes off others changes who gets the next event, not this one', async () => {
  const agent = memoryWorld([{ text: 'One.' }, { text: 'Two.' }]).agent();
  const thread = await agent.thread('t');
  const heard: string[] = [];
  const ends: (() => void)[] = [];
  agent.on('run-ended', () => {
    heard.push('first');
    for (const end of ends.splice(0)) end();
    if (heard.length === 1) agent.on('run-ended', () => heard.push('added'));
  });
  ends.push(agent.on('run-ended', () => heard.push('taken off')));
  await agent.run('Hello', thread);
  expect(heard).toEqual(['first', 'taken off']);
  await agent.run('Hello', thread);
  expect(heard.slice(2)).toEqual(['first', 'added']);
});

test('thread.events is the audit trail: who was asked what, who answered, what ran and what came out', async () => {
  const world = memoryWorld(script);
  const agent = world.agent();
  const waiting = await agent.run('Book', await agent.thread('t'));
  const by = { principal: { subject: 'ann@example.com' }, channel: 'web' };
  const answers = waiting.approvalRequests.map((request) => request.approve({ reason: 'fine' }));
  const { thread } = await agent.run(answers, waiting.thread, by);
  expect(thread.events.map(({ type }) => type)).toEqual([
    'thread-created',
    'message-added',
    'run-started',
    'step-finished',
    'request-opened',
    'call-started',
    'call-ended',
    'run-ended',
    'request-answered',
    'run-started',
    'call-started',
    'call-ended',
    'step-finished',
    'run-ended',
  ]);
  expect(thread.events.find(({ type }) => type === 'request-answered')).toMatchObject({
    ...by,
    response: { approved: true, reason: 'fine', digest: answers[0]?.digest },
  });
});

test('who answered is recorded as they were then, and stays the app’s own to change', async () => {
  const world = memoryWorld(script);
  const agent = world.agent();
  const { approvalRequests, thread } = await agent.run('Book', await agent.thread('t'));
  const session = { subject: 'ann', seen: { pages: 1 } };
  const [answer] = approvalRequests.map((request) => request.approve());
  if (answer === undefined) throw new Error('A request was expected.');
  const run = agent.run(answer, thread, { principal: session });
  session.seen.pages = 2;
  await run;
  expect(thread.events.find(({ type }) => type === 'request-answered')).toMatchObject({
    principal: { subject: 'ann', seen: { pages: 1 } },
  });
  session.seen.pages = 3;
  const reread = await world.agent().restore(JSON.stringify(thread));
  expect(JSON.stringify(reread)).toBe(JSON.stringify(thread));
});

test('every call of a thread is a tool call record, as its schema says', async () => {
  const world = memoryWorld(script);
  const agent = world.agent();
  const { thread } = await agent.run('Book', await agent.thread('t'));
  for (const call of JSON.parse(JSON.stringify(thread.calls))) {
    expect(toolCallRecordSchema.parse(call)).toEqual(call);
  }
  expect(thread.calls.map(({ status }) => status)).toEqual(['waiting', 'succeeded']);
});

test('an approval cycle is five appends, whatever the batch', async () => {
  const store = memoryStore();
  let appends = 0;
  const counting: ThreadStore = {
    ...store,
    async append(...input) {
      appends += 1;
      return store.append(...input);
    },
  };
  const calls = Array.from({ length: 50 }, (_, index) => book(`c${index}`, `City ${index}`));
  const world = memoryWorld([{ calls }, { text: 'Done.' }]);
  const agent = world.agent({ store: counting });
  const waiting = await agent.run('Book', await agent.thread('t'));
  const answers = waiting.approvalRequests.map((request) => request.approve());
  expect(await agent.run(answers, waiting.thread)).toMatchObject({ status: 'completed' });
  expect(world.ran).toHaveLength(50);
  expect(appends).toBe(5);
});
