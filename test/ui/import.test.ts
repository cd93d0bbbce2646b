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
    ['t:3:user', 'user'],
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
