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
const posted = (sent: unknown = messages) =>
  new Request('http://localhost/run', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      threadId: 't',
      runId: 'r',
      messages: sent,
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
  const snapshot = text.split('\n').findLast((line) => line.includes('MESSAGES_SNAPSHOT'));
  expect(snapshot).toContain('t:imported:1');
  expect(snapshot).toContain('"toolCallId":"c1"');
});

test('messages of the user alone are no history', async () => {
  const world = memoryWorld([{ text: 'Hi.' }]);
  const handler = createAgUiHandler({ agent: world.agent(), authorize });
  const users = [messages[0], { id: 'u2', role: 'user', content: 'Hello?' }];
  expect((await (await handler(posted(users))).text()).includes('RUN_ERROR')).toBe(false);
  const thread = await world.agent().thread('t');
  expect(thread.messages.map(({ role }) => role)).toEqual(['user', 'user', 'assistant']);
});

test('what a client can’t bring along is refused with its position, or left out as the guide lists', async () => {
  const world = memoryWorld([]);
  const agent = world.agent();
  const handler = createAgUiHandler({ agent, authorize, history: 'import' });
  const shown = ['system', 'developer', 'reasoning', 'activity'].map((role) => ({
    id: role,
    role,
    content: 'SECRET',
  }));
  const last = messages.slice(-2);
  const cases: [string, unknown[]][] = [
    ['messages[4]: the role', [{ id: 'm', role: 'nonsense', content: '' }]],
    ['messages[4]: no call above', [messages[2]]],
    ['messages[4]: its content', [{ id: 'u', role: 'user', content: [{ type: 'nonsense' }] }]],
    [
      'messages[4].toolCalls[1]: the call id c1 is repeated',
      [{ ...messages[1], toolCalls: [call, call] }],
    ],
    [
      'messages[4].toolCalls[0]: its arguments',
      [{ ...messages[1], toolCalls: [{ ...call, function: { name: 'book', arguments: '{' } }] }],
    ],
  ];
  for (const [place, more] of cases) {
    const response = await handler(posted([...shown, ...more, ...last]));
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(place)]);
  }
  expect((await agent.thread('t')).revision).toBe(0);
  await (await handler(posted([...shown, ...messages]))).text();
  const thread = await agent.thread('t');
  expect(thread.messages.slice(0, 4).map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
  ]);
  expect(JSON.stringify(thread)).not.toContain('SECRET');
});

test('a client’s id that can’t be kept is left out of the thread', async () => {
  for (const id of ['', 'x'.repeat(257), 't:3:user', '\uD800']) {
    const world = memoryWorld([{ text: 'Ok.' }]);
    const agent = world.agent();
    const handler = createAgUiHandler({ agent, authorize, history: 'import' });
    const sent = [{ id, role: 'user', content: 'Book Rome' }, ...messages.slice(1)];
    expect((await (await handler(posted(sent))).text()).includes('RUN_ERROR')).toBe(false);
    const [first] = (await agent.thread('t')).messages;
    expect(first).toEqual({ role: 'user', content: 'Book Rome' });
  }
});

test('two requests that import different histories at once share the thread of the first', async () => {
  const world = memoryWorld([{ text: 'One.' }, { text: 'Two.' }]);
  const agent = world.agent();
  const handler = createAgUiHandler({ agent, authorize, history: 'import' });
  const other = [{ ...messages[0], content: 'Book Oslo' }, ...messages.slice(1)];
  const responses = await Promise.all([handler(posted()), handler(posted(other))]);
  expect(responses.map(({ status }) => status)).toEqual([200, 200]);
  await Promise.all(responses.map(async (response) => response.text()));
  const { events } = await agent.thread('t');
  expect(events.filter(({ type }) => type === 'messages-imported')).toHaveLength(1);
});

test('an invalid history option is refused when the handler is created', () => {
  const agent = memoryWorld([]).agent();
  // @ts-expect-error -- JavaScript may pass anything.
  expect(() => createAgUiHandler({ agent, authorize, history: 'keep' })).toThrow(TypeError);
});
