import { tool, type ToolSet } from 'ai';
import { later } from 'holdpoint';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { errorCode } from '../support/error-code.ts';
import { book, cityInput, look, memoryWorld, travelTools } from '../support/travel-world.ts';

const script = [{ calls: [look('c0', 'Rome'), book('c1', 'Paris')] }, { text: 'Done.' }];

/** A world whose `book` goes on outside. */
function deferringWorld(made: ToolSet[string]) {
  const world = memoryWorld(script);
  const tools = { ...travelTools(world.ran), book: made };
  return { ...world, agent: () => world.agent({ tools, toolApproval: {} }) };
}

const queued = tool({ description: 'book', inputSchema: cityInput, execute: async () => later });
const clientSide = tool({
  description: 'book',
  inputSchema: cityInput,
  outputSchema: z.object({ booked: z.string() }),
});

test.each([
  ['whose execute returns later', queued],
  ['without execute', clientSide],
])(
  'a call of a tool %s waits for its result, which any process delivers, once',
  async (_what, made) => {
    const world = deferringWorld(made);
    const agent = world.agent();
    const response = await agent.run('Book', await agent.thread('t'));
    expect(response).toMatchObject({ status: 'waiting', approvalRequests: [] });
    expect(response.thread.calls).toMatchObject([{ status: 'succeeded' }, { status: 'deferred' }]);
    expect(await world.store.list({ status: 'waiting' })).toMatchObject([{ threadId: 't' }]);
    expect(await agent.run([], response.thread)).toMatchObject({ status: 'waiting' });

    const elsewhere = world.agent();
    const thread = await elsewhere.thread('t');
    const outcome = { status: 'succeeded', output: { booked: 'Paris' } } as const;
    await elsewhere.deliver(thread, 'c1', outcome, {
      principal: 'airline',
      channel: 'queue',
    });
    await elsewhere.deliver(thread, 'c1', outcome);
    expect(thread.events.at(-1)).toMatchObject({
      type: 'call-ended',
      source: 'delivered',
      principal: 'airline',
      channel: 'queue',
    });
    const other = elsewhere.deliver(thread, 'c1', { status: 'failed', error: 'no' });
    expect(await errorCode(other)).toBe('already-answered');
    expect(await elsewhere.run([], thread)).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(thread.messages.at(-2)).toMatchObject({
      content: [{ toolCallId: 'c0' }, { toolCallId: 'c1', output: { value: { booked: 'Paris' } } }],
    });
  },
);

test('a client-side tool may need approval first', async () => {
  const world = memoryWorld(script);
  const agent = world.agent({ tools: { ...travelTools(world.ran), book: clientSide } });
  const waiting = await agent.run('Book', await agent.thread('t'));
  expect(
    await errorCode(agent.deliver(waiting.thread, 'c1', { status: 'failed', error: 'x' })),
  ).toBe('not-allowed');
  const answers = waiting.approvalRequests.map((request) => request.approve());
  const deferred = await agent.run(answers, waiting.thread);
  expect(deferred).toMatchObject({ status: 'waiting', approvalRequests: [] });
  await agent.deliver(deferred.thread, 'c1', { status: 'failed', error: 'sold out' });
  expect(await agent.run([], deferred.thread)).toMatchObject({ status: 'completed' });
  expect(deferred.thread.calls[1]).toMatchObject({
    status: 'failed',
    outcome: { error: 'sold out' },
  });
});

test('a result that is faster than the note that its call is deferred is taken', async () => {
  const world = memoryWorld(script);
  const eager = tool({
    description: 'book',
    inputSchema: cityInput,
    execute: async (_input, { toolCallId }) => {
      const agent = world.agent({ toolApproval: {} });
      await agent.deliver(await agent.thread('t'), toolCallId, {
        status: 'succeeded',
        output: 'fast',
      });
      return later;
    },
  });
  const agent = world.agent({
    tools: { ...travelTools(world.ran), book: eager },
    toolApproval: {},
  });
  const response = await agent.run('Book', await agent.thread('t'));
  expect(response).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(response.thread.calls[1]?.outcome).toMatchObject({ output: 'fast' });
});

test('a message while a result is awaited is refused, or gives the call up', async () => {
  const world = deferringWorld(queued);
  const agent = world.agent();
  const { thread } = await agent.run('Book', await agent.thread('t'));
  expect(await errorCode(agent.run('Hello?', thread))).toBe('requests-open');
  expect(await agent.run('Forget it', thread, { whilePending: 'cancel' })).toMatchObject({
    status: 'completed',
  });
  expect(thread.calls[1]).toMatchObject({ status: 'failed' });
  const late = agent.deliver(thread, 'c1', { status: 'succeeded', output: 1 });
  expect(await errorCode(late)).toBe('already-answered');
});

test('what toModelOutput makes of a delivered output is what the model sees', async () => {
  const viewed: ToolSet[string] = Object.assign({}, queued, {
    toModelOutput: ({ output }: { output: { booked: string } }) => ({
      type: 'text',
      value: `to ${output.booked}`,
    }),
  });
  const world = deferringWorld(viewed);
  const agent = world.agent();
  const { thread } = await agent.run('Book', await agent.thread('t'));
  await agent.deliver(thread, 'c1', { status: 'succeeded', output: { booked: 'Paris' } });
  expect(thread.messages.at(-1)).toMatchObject({
    content: [{}, { output: { type: 'text', value: 'to Paris' } }],
  });
});

test('the same result again is harmless, though its tool shows the model something else each time', async () => {
  let shown = 0;
  const toModelOutput = () => ({ type: 'text' as const, value: `seen ${(shown += 1)} times` });
  const world = deferringWorld(Object.assign({}, queued, { toModelOutput }));
  const agent = world.agent();
  const { thread } = await agent.run('Book', await agent.thread('t'));
  const outcome = { status: 'succeeded', output: 'booked' } as const;
  await agent.deliver(thread, 'c1', outcome);
  await agent.deliver(thread, 'c1', outcome);
  expect(thread.calls[1]?.outcome).toMatchObject({ modelOutput: { value: 'seen 1 times' } });
});

test('a result with half of a surrogate pair is told apart from another', async () => {
  const world = deferringWorld(queued);
  const agent = world.agent();
  const { thread } = await agent.run('Book', await agent.thread('t'));
  await agent.deliver(thread, 'c1', { status: 'succeeded', output: '\uD800' });
  await agent.deliver(thread, 'c1', { status: 'succeeded', output: '\uD800' });
  const other = agent.deliver(thread, 'c1', { status: 'succeeded', output: '?' });
  expect(await errorCode(other)).toBe('already-answered');
});
