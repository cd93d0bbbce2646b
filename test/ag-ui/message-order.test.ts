import { describe, expect, test } from 'vitest';
import { client, type Handler, ofType, poster, runInput, site, user } from './ag-ui-site.ts';
import { olderClient } from './older-client.ts';

const clients = [
  ["the protocol's own client", (handler: Handler) => client(handler)],
  ['the client package that CopilotKit pins', (handler: Handler) => olderClient(handler)],
] as const;

const textsOf = ({ messages }: { messages: readonly { content?: unknown }[] }): unknown[] =>
  messages.map(({ content }) => content);

describe.each(clients)('%s', (_name, open) => {
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
