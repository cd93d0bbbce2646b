import { describe, expect, test } from 'vitest';
import { client, endOf, ofType, runInput, site, typesOf, user } from './ag-ui-site.ts';

const success = { type: 'success' };

describe('a message that was withdrawn', () => {
  test('is not in the conversation that a client loads', async () => {
    const { agent, post } = site([{ fail: 'bad file' }, { text: 'Hello.' }]);
    await post(runInput({ messages: [user('m1', 'Bad.')] }));
    await agent.retract(await agent.thread('t'));
    await post(runInput({ messages: [user('m2', 'Good.')] }));
    const { events } = await post(runInput());
    const [snapshot] = ofType(events, 'MESSAGES_SNAPSHOT');
    expect(snapshot?.messages).toMatchObject([{ content: 'Good.' }, { content: 'Hello.' }]);
  });

  test('leaves the page of a client that still shows it, and is not said again by it', async () => {
    const { agent, handler, played } = site([{ fail: 'bad file' }, { text: 'Hello.' }]);
    const visitor = client(handler);
    await visitor.say('Bad.');
    const thread = await agent.thread('t');
    await agent.retract(thread);
    const events = await visitor.say('Good.');
    expect(typesOf(events).slice(0, 2)).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT']);
    expect(endOf(events)).toEqual(success);
    expect(JSON.stringify(played.prompts.at(-1))).not.toContain('Bad.');
    expect(visitor.agent.messages).toMatchObject([{ content: 'Good.' }, { content: 'Hello.' }]);
  });

  test('does not come back when such a client runs again with nothing new', async () => {
    const { agent, handler, world } = site([{ fail: 'bad file' }, { text: 'Never said.' }]);
    const visitor = client(handler);
    await visitor.say('Bad.');
    const thread = await agent.thread('t');
    await agent.retract(thread);
    expect(endOf(await visitor.run())).toEqual(success);
    expect(visitor.agent.messages).toEqual([]);
    expect(world.requests()).toBe(1);
  });

  test('may be said anew as a message of its own', async () => {
    const { agent, handler } = site([{ fail: 'overloaded' }, { text: 'Hello.' }]);
    const visitor = client(handler);
    await visitor.say('Hi');
    await agent.retract(await agent.thread('t'));
    await visitor.say('Hi');
    expect(visitor.agent.messages).toMatchObject([{ content: 'Hi' }, { content: 'Hello.' }]);
  });
});
