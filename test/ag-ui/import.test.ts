import { createAgUiHandler } from 'holdpoint/ag-ui';
import { expect, test } from 'vitest';
import { memoryWorld } from '../support/travel-world.ts';

const call = {
  id: 'c1',
  type: 'function',
  function: { name: 'book', arguments: '{"city":"Rome"}' },
};
const messages = [
  { id: 'u1', role: 'user', content: 'Book Rome' },
  { id: 'x1', role: 'assistant', content: 'On it.', toolCalls: [call] },
  { id: 'r1', role: 'tool', toolCallId: 'c1', content: 'ok' },
  { id: 'x2', role: 'assistant', content: 'Booked.' },
  { id: 'u2', role: 'user', content: 'Thanks' },
];
const posted = () =>
  new Request('http://localhost/run', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      threadId: 't',
      runId: 'r',
      messages,
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
      protocolVersion: '1.0',
    }),
  });
const authorize = () => ({ principal: 'ann' });

test('a history for a new thread is refused by default, and the option is named', async () => {
  const world = memoryWorld([{ text: 'Hi.' }]);
  const response = await createAgUiHandler({ agent: world.agent(), authorize })(posted());
  expect([response.status, (await response.text()).includes("history: 'import'")]).toEqual([
    400,
    true,
  ]);
  expect((await world.agent().thread('t')).revision).toBe(0);
});

test('with history: import the thread begins with it, runs nothing of it, and the snapshot has it', async () => {
  const world = memoryWorld([{ text: 'Welcome.' }]);
  const agent = world.agent();
  const handler = createAgUiHandler({ agent, authorize, history: 'import' });
  const text = await (await handler(posted())).text();
  const thread = await agent.thread('t');
  expect(thread.messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
    'user',
    'assistant',
  ]);
  expect([thread.calls, world.ran]).toEqual([[], []]);
  const snapshot = text.split('\n').find((line) => line.includes('MESSAGES_SNAPSHOT'));
  expect(snapshot).toContain('t:imported:1');
  expect(snapshot).toContain('"toolCallId":"c1"');
});
