import { createAgUiHandler } from 'holdpoint/ag-ui';
import { expect, test } from 'vitest';
import { newsroom } from '../support/newsroom.ts';
import { endOf, poster, runInput, user } from './ag-ui-site.ts';

test('an AG-UI client of a custom agent gets its text, and answers what its steps ask', async () => {
  const agent = newsroom();
  const handler = createAgUiHandler({ agent, authorize: () => ({ principal: 'ann' }) });
  const send = poster(handler);
  const first = await send(runInput({ messages: [user('u1')] }));
  expect(first.text).toContain('I have ');
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
