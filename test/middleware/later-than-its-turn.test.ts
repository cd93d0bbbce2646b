import { expect, test } from 'vitest';
import { book } from '../support/travel-world.ts';
import { ofThread, scriptedWorld, ways } from './held-world.ts';

test.each(ways)(
  '$name returns the result of a call that ran after the next message',
  async (way) => {
    const { model, agent } = scriptedWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }]);
    const call = { model, ...ofThread() };
    await way.ask({ ...call, messages: [{ role: 'user', content: 'Book' }] });
    const thread = await agent.thread('t');
    await agent.respond(
      thread.activeApprovalRequests.map((request) => request.approve()),
      thread,
    );
    const { content, text } = await way.ask({
      ...call,
      messages: [{ role: 'user', content: 'And?' }],
    });
    expect(text).toBe('Booked.');
    expect(content.filter(({ type }) => type === 'tool-result')).toMatchObject([
      { toolCallId: 'c1' },
    ]);
  },
);
