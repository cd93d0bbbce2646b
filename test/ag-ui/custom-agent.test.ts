import { setImmediate } from 'node:timers/promises';
import type { Agent, AgentStreamEvent } from 'holdpoint';
import { createAgUiHandler } from 'holdpoint/ag-ui';
import { expect, test } from 'vitest';
import { newsroom } from '../support/newsroom.ts';
import { endOf, poster, runInput, user } from './ag-ui-site.ts';

/** The agent, whose streams are read more slowly than its runs proceed. */
function readLate(agent: Agent): Agent {
  const stream: Agent['stream'] = (...input) => {
    const run = agent.stream(...input);
    const late = async function* (): AsyncGenerator<AgentStreamEvent, undefined> {
      for await (const event of run) {
        await setImmediate();
        yield event;
      }
      return undefined;
    };
    return { response: run.response, [Symbol.asyncIterator]: late };
  };
  return new Proxy(agent, {
    get(target, name) {
      const value: unknown = name === 'stream' ? stream : Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

test('a run that is ahead of its reader streams the pieces of a text, and not the recorded text too (regression: both)', async () => {
  const agent = readLate(newsroom());
  const handler = createAgUiHandler({ agent, authorize: () => ({ principal: 'ann' }) });
  const { events } = await poster(handler)(runInput({ messages: [user('u1')] }));
  const texts = events.filter(({ type }) => type.startsWith('TEXT_MESSAGE'));
  expect(texts).toMatchObject([
    { type: 'TEXT_MESSAGE_START' },
    { type: 'TEXT_MESSAGE_CONTENT', delta: 'I have ' },
    { type: 'TEXT_MESSAGE_CONTENT', delta: 'a draft.' },
    { type: 'TEXT_MESSAGE_END' },
  ]);
});

test('an AG-UI client of a custom agent gets its text, and answers what its steps ask', async () => {
  const agent = newsroom();
  const handler = createAgUiHandler({ agent, authorize: () => ({ principal: 'ann' }) });
  const send = poster(handler);
  const first = await send(runInput({ messages: [user('u1')] }));
  expect(first.text).not.toContain('We ship.');
  expect(endOf(first.events)).toMatchObject({
    interrupts: [{ message: 'Which tone?', metadata: { holdpoint: { key: 'tone' } } }],
  });
  const answer = async (payload: object) => {
    const thread = await agent.thread('t');
    const resume = thread.activeRequests.map(({ requestId }) => ({
      interruptId: requestId,
      status: 'resolved',
      payload,
    }));
    return (await send(runInput({ resume }))).events;
  };
  expect(endOf(await answer({ selectedOptionId: 'Formal' }))).toMatchObject({
    interrupts: [
      { reason: 'confirmation', message: 'Publish the Formal text?\nAsked for by: ann' },
    ],
  });
  expect(endOf(await answer({ approved: true }))).toEqual({ type: 'success' });
  const thread = await agent.thread('t');
  expect(thread.messages.at(-1)).toMatchObject({ content: [{ text: 'It was approved.' }] });
  expect(thread.decisions).toMatchObject([
    { status: 'answered', principal: 'ann', channel: 'ag-ui' },
    { status: 'approved', principal: 'ann', channel: 'ag-ui' },
  ]);
});
