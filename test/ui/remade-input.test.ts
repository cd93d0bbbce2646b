import { tool } from 'ai';
import { createAgent, memoryStore } from 'holdpoint';
import { scriptedModel } from 'holdpoint/testing';
import { toUIMessages } from 'holdpoint/ui';
import { expect, test } from 'vitest';
import { z } from 'zod';

test('the part of a call shows what is asked about now, not what its schema made before', async () => {
  const store = memoryStore();
  const calls = [{ id: 'c1', name: 'pay', input: { sum: '5' } }];
  const payIn = (currency: string) => {
    const sum = z.string().transform((text) => `${text} ${currency}`);
    const pay = tool({ inputSchema: z.object({ sum }), execute: async () => 'paid' });
    const { model } = scriptedModel([{ calls }, { text: 'Paid.' }]);
    return createAgent({ model, store, tools: { pay }, toolApproval: { pay: 'user-approval' } });
  };
  const euros = payIn('EUR');
  const asked = await euros.run('Pay.', await euros.thread('t'));
  const dollars = payIn('USD');
  const thread = await dollars.thread('t');
  const answers = asked.approvalRequests.map((request) => request.approve());
  const again = await dollars.run(answers, thread);
  const shown = [];
  for (const message of await toUIMessages(thread)) shown.push(...message.parts);
  const input = { sum: '5 USD' };
  expect(shown).toContainEqual(
    expect.objectContaining({
      type: 'tool-pay',
      state: 'approval-requested',
      input,
      approval: expect.objectContaining({ id: again.approvalRequests[0]?.requestId }),
    }),
  );
  await dollars.run(
    again.approvalRequests.map((request) => request.approve()),
    thread,
  );
  const after = (await toUIMessages(thread)).flatMap(({ parts }) => parts);
  expect(after).toContainEqual(
    expect.objectContaining({ type: 'tool-pay', state: 'output-available', input }),
  );
});
