import { describe, expect, test } from 'vitest';
import { client, type Handler, ofType, poster, runInput, site, user } from './ag-ui-site.ts';
import { olderClient } from './older-client.ts';
import { pickCases } from '../support/sampling.ts';

const clients = [
  ["the protocol's own client", (handler: Handler) => client(handler)],
  ['the client package that CopilotKit pins', (handler: Handler) => olderClient(handler)],
] as const;

const textsOf = ({ messages }: { messages: readonly { content?: unknown }[] }): unknown[] =>
  messages.map(({ content }) => content);

describe.each(pickCases(clients))('%s', (_name, open) => {
  test('has what others have said meanwhile in its place', async () => {
    const at = site([{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }]);
    const ann = open(at.handler);
    await ann.say('First');
    const another = { messages: [user('b1', 'Second')] };
    await poster(at.handler)(runInput(another));
    await ann.say('Third');
    expect(textsOf(ann.agent)).toEqual(['First', 'One.', 'Second', 'Two.', 'Third', 'Three.']);
  });

  test('has the conversation that it brought along in its order', async () => {
    const at = site([{ text: 'Yes.' }]);
    const ann = open(at.worker({ history: 'import' }).handler);
    ann.agent.setMessages([
      { id: 'u1', role: 'user', content: 'One?' },
      { id: 'x1', role: 'assistant', content: 'One.' },
      { id: 'u2', role: 'user', content: 'Two?' },
      { id: 'x2', role: 'assistant', content: 'Two.' },
    ]);
    await ann.say('Three?');
    expect(textsOf(ann.agent)).toEqual(['One?', 'One.', 'Two?', 'Two.', 'Three?', 'Yes.']);
  });
});

test('a client that lacks only the end of the conversation gets one snapshot', async () => {
  const at = site([{ text: 'One.' }, { text: 'Two.' }]);
  await at.post(runInput({ messages: [user('u1')] }));
  const { events } = await at.post(runInput({ messages: [user('u1')] }));
  expect(ofType(events, 'MESSAGES_SNAPSHOT')).toHaveLength(1);
});

test("a client can't edit a message of the thread, and gets an error", async () => {
  const at = site([{ text: 'One.' }, { text: 'Two.' }]);
  await at.post(runInput({ messages: [user('u1', 'Pay Ben')] }));
  const { revision } = await at.agent.thread('t');
  for (const messages of [[user('u1', 'Pay Eve')], [user('u1', 'Pay Eve'), user('u2', 'Hello?')]]) {
    const { events } = await at.post(runInput({ messages }));
    const refused = { type: 'RUN_ERROR', code: 'invalid-input' };
    expect(events).toMatchObject([refused]);
    expect(JSON.stringify(events)).toContain("Messages can't be edited");
  }
  expect((await at.agent.thread('t')).revision).toBe(revision);
});

test("Ben's client goes on with a list that ends with Ada's unanswered message, which stays hers", async () => {
  const at = site([{ fail: 'The line is dead.' }, { text: 'One.' }, { text: 'Two.' }]);
  const asBen = at.worker({ authorize: () => ({ principal: 'ben' }) });
  await at.post(runInput({ messages: [user('u1', 'Hi')] }));
  const resumed = await asBen.post(runInput({ messages: [user('u1', 'Hi')] }));
  expect(ofType(resumed.events, 'RUN_ERROR')).toEqual([]);
  await asBen.post(runInput({ messages: [user('u1', 'Hi'), user('u2', 'And I?')] }));
  const { events } = await at.agent.thread('t');
  const added = events.filter((event) => event.type === 'message-added');
  expect(added.map(({ principal, message }) => [principal, message.content])).toEqual([
    ['ann', 'Hi'],
    ['ben', 'And I?'],
  ]);
});
