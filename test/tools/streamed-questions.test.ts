import { askConfirmation } from 'holdpoint/tools';
import { expect, test } from 'vitest';
import { memoryWorld } from '../support/travel-world.ts';

test('S2-08: a question of a streaming run is emitted when it is durable, pauses the run, and is answered in the next', async () => {
  const world = memoryWorld([
    { calls: [{ id: 'q1', name: 'ask_confirmation', input: { question: 'Deploy?' } }] },
    { text: 'Deployed.' },
  ]);
  const agent = world.agent({ tools: { ask_confirmation: askConfirmation() }, toolApproval: {} });
  const thread = await agent.thread('t');
  const told: string[] = [];
  for await (const event of agent.stream('Deploy', thread)) told.push(event.type);
  expect(told).toContain('request-opened');
  expect(told.at(-1)).toBe('finish');
  expect(world.requests()).toBe(1);
  const [request] = thread.activeRequests;
  const stream = agent.stream(
    {
      type: 'question-response',
      requestId: request?.requestId ?? '',
      status: 'answered',
      answers: [{ key: 'answer', optionIds: ['yes'] }],
    },
    thread,
  );
  const texts: string[] = [];
  for await (const event of stream) if (event.type === 'text-delta') texts.push(event.text);
  expect(texts.join('')).toBe('Deployed.');
  expect(await stream.response).toMatchObject({ status: 'completed' });
});
