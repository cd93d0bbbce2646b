import { expect, test } from 'vitest';
import { book } from '../support/travel-world.ts';
import { endOf, ofType, runInput, site, user } from './ag-ui-site.ts';

test('a call that runs after the next message has its result in the run, and after a reload', async () => {
  const at = site([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }]);
  await at.post(runInput({ messages: [user('u1', 'Book')] }));
  const thread = await at.agent.thread('t');
  await at.agent.respond(
    thread.activeApprovalRequests.map((request) => request.approve()),
    thread,
  );
  const { events } = await at.post(runInput({ messages: [user('u2', 'And?')] }));
  expect(endOf(events)).toEqual({ type: 'success' });
  expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([{ toolCallId: 'c1' }]);
  const reloaded = await at.post(runInput({ messages: [user('u1', 'Book')] }));
  expect(ofType(reloaded.events, 'MESSAGES_SNAPSHOT').at(-1)).toMatchObject({
    messages: [
      { id: 'u1' },
      { role: 'assistant', toolCalls: [{ id: 'c1' }] },
      { role: 'tool', toolCallId: 'c1' },
      { id: 'u2' },
      { role: 'assistant', content: 'Booked.' },
    ],
  });
});
