import { createUiHandler, toUIMessages } from 'holdpoint/ui';
import { expect, test } from 'vitest';
import { book, memoryWorld } from '../support/travel-world.ts';
import { post } from './chat-page.ts';

const tool = {
  type: 'tool-book',
  toolCallId: 'c1',
  state: 'output-available',
  input: { city: 'Rome' },
  output: 'ok',
  callProviderMetadata: { p: { itemId: 'stolen' } },
};
const history = [
  { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Book Rome' }] },
  {
    id: 'x1',
    role: 'assistant',
    parts: [
      { type: 'step-start' },
      tool,
      { type: 'step-start' },
      { type: 'text', text: 'Booked.' },
    ],
  },
];
const next = { id: 'u2', role: 'user', parts: [{ type: 'text', text: 'Thanks' }] };
const lostUser = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Lost' }] };
const body = { id: 't', messages: [...history, next] };
const authorize = () => ({ principal: 'ann' });

test('a history for a new thread is refused by default, and the option is named', async () => {
  const world = memoryWorld([{ text: 'Hi.' }]);
  const handler = createUiHandler({ agent: world.agent(), authorize });
  const response = await handler(post(body));
  const text = await response.text();
  expect([response.status, text.includes("history: 'import'")]).toEqual([400, true]);
  expect((await world.agent().thread('t')).revision).toBe(0);
  expect(world.requests()).toBe(0);
});

test('with history: import the thread begins with it, and a reload shows ended calls', async () => {
  const world = memoryWorld([{ text: 'You are welcome.' }, { text: 'Bye.' }]);
  const agent = world.agent();
  const handler = createUiHandler({ agent, authorize, history: 'import' });
  await (await handler(post(body))).text();
  const thread = await agent.thread('t');
  expect(thread.events[1]).toMatchObject({
    type: 'messages-imported',
    principal: 'ann',
    channel: 'ui',
  });
  expect(JSON.stringify(thread)).not.toContain('stolen');
  expect(world.ran).toEqual([]);
  const messages = await toUIMessages(thread);
  expect(messages.map(({ id, role }) => [id, role])).toEqual([
    ['u1', 'user'],
    ['t:imported:1', 'assistant'],
    ['u2', 'user'],
    ['t:3', 'assistant'],
  ]);
  expect(messages[1]?.parts.map((part) => ('state' in part ? part.state : part.type))).toEqual([
    'step-start',
    'output-available',
    'step-start',
    'done',
  ]);
  const { revision } = thread;
  await (await handler(post({ id: 't', messages: [...history].slice(0, 1) }))).text();
  expect((await agent.thread('t')).revision).toBe(revision);
});

test('an approval that the old system asked for runs nothing: the call is proposed and asked about anew', async () => {
  const world = memoryWorld([{ calls: [book('c1', 'Rome')] }]);
  const agent = world.agent();
  const handler = createUiHandler({ agent, authorize, history: 'import' });
  const approved = {
    ...tool,
    output: undefined,
    state: 'approval-responded',
    approval: { id: 'a1', approved: true },
  };
  const messages = [history[0], { id: 'x1', role: 'assistant', parts: [approved] }];
  await (await handler(post({ id: 't', messages }))).text();
  const thread = await agent.thread('t');
  expect([thread.activeApprovalRequests.length, world.ran]).toEqual([1, []]);
});

test('messages of the user alone are no history: a first message that was lost is sent with the next', async () => {
  for (const option of ['refuse', 'import'] as const) {
    const world = memoryWorld([{ text: 'Hi.' }]);
    const agent = world.agent();
    const handler = createUiHandler({ agent, authorize, history: option });
    const sent = { id: 't', messages: [lostUser, next] };
    const response = await handler(post(sent));
    const text = await response.text();
    expect([response.status, /data-(refused-answers|stale)/.test(text)]).toEqual([200, false]);
    const thread = await agent.thread('t');
    expect(thread.messages.map(({ role }) => role)).toEqual(['user', 'user', 'assistant']);
    expect(thread.events.map(({ type }) => type)).not.toContain('messages-imported');
    const { revision } = thread;
    await (await handler(post(sent))).text();
    expect((await agent.thread('t')).revision).toBe(revision);
    expect((await toUIMessages(thread)).map(({ id }) => id)).toEqual(['u1', 'u2', 't:3']);
  }
});

test('what a page can’t bring along is refused with its position, or left out as the guide lists', async () => {
  const world = memoryWorld([]);
  const agent = world.agent();
  const handler = createUiHandler({ agent, authorize, history: 'import' });
  const shown = [
    { type: 'step-start' },
    { type: 'reasoning', text: 'SECRET', providerMetadata: { p: { signature: 'stolen' } } },
    { type: 'source-url', sourceId: 's', url: 'https://example.com/SECRET' },
    { type: 'data-note', data: 'SECRET' },
    { type: 'tool-book', toolCallId: 'c0', state: 'input-streaming', input: { city: 'SECRET' } },
  ];
  const cases: [string, unknown[]][] = [
    ['messages[2].parts[5]: a call that the provider ran', [{ ...tool, providerExecuted: true }]],
    ['messages[2].parts[5]: a provider', [{ type: 'custom', kind: 'p.k' }]],
    [
      'messages[2].parts[5]: The file',
      [{ type: 'file', mediaType: 'a/b', url: 'file:///x', filename: 'x' }],
    ],
    ['messages[2].parts[6]: the call id c1 is repeated', [tool, tool]],
    ['messages[2]: not a valid UI message', [{ type: 'nonsense' }]],
  ];
  const empty = { id: 'e', role: 'assistant', parts: [{ type: 'step-start' }] };
  for (const [place, parts] of cases) {
    const reply = { id: 'x1', role: 'assistant', parts: [...shown, ...parts] };
    const response = await handler(post({ id: 't', messages: [history[0], empty, reply, next] }));
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(place)]);
  }
  expect((await agent.thread('t')).revision).toBe(0);
  const reply = { id: 'x1', role: 'assistant', parts: [...shown, tool] };
  await (await handler(post({ id: 't', messages: [history[0], empty, reply, next] }))).text();
  const thread = await agent.thread('t');
  expect(thread.messages.slice(0, 3).map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
  ]);
  expect(JSON.stringify(thread)).not.toMatch(/SECRET|stolen/);
});

test('two requests that import different histories at once share the thread of the first', async () => {
  const world = memoryWorld([{ text: 'One.' }, { text: 'Two.' }]);
  const agent = world.agent();
  const handler = createUiHandler({ agent, authorize, history: 'import' });
  const other = [{ ...history[0], id: 'o' }, history[1], next];
  const responses = await Promise.all([
    handler(post(body)),
    handler(post({ id: 't', messages: other })),
  ]);
  for (const response of responses) {
    await response.text();
    expect([200, 409]).toContain(response.status);
  }
  const { events } = await agent.thread('t');
  expect(events.filter(({ type }) => type === 'messages-imported')).toHaveLength(1);
});

test('after a death between the import and the run, the page can send again', async () => {
  const world = memoryWorld([{ calls: [book('c1', 'Rome')] }]);
  const agent = world.agent();
  const handler = createUiHandler({ agent, authorize, history: 'import' });
  const approved = {
    ...tool,
    output: undefined,
    state: 'approval-responded',
    approval: { id: 'a1', approved: true },
  };
  const messages = [history[0], { id: 'x1', role: 'assistant', parts: [approved] }];
  const stream = agent.stream.bind(agent);
  agent.stream = () => {
    throw new Error('killed');
  };
  expect((await handler(post({ id: 't', messages }))).status).toBe(500);
  agent.stream = stream;
  const again = await handler(post({ id: 't', messages }));
  await again.text();
  const thread = await agent.thread('t');
  expect([again.status, thread.activeApprovalRequests.length, world.ran]).toEqual([200, 1, []]);
});

test('an invalid history option is refused when the handler is created', () => {
  const agent = memoryWorld([]).agent();
  // @ts-expect-error -- JavaScript may pass anything.
  expect(() => createUiHandler({ agent, authorize, history: 'keep' })).toThrow(TypeError);
});
