import { tool } from 'ai';
import { createAgent, memoryStore } from 'holdpoint';
import { auditTrail } from 'holdpoint/audit';
import { scriptedModel } from 'holdpoint/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

test.each([
  ['as it was proposed', undefined],
  ['as a person has edited it', { euros: 7 }],
])(
  'the trail has the input that people were shown of a call made again, %s',
  async (_how, edit) => {
    let fee = 0;
    const pay = tool({
      inputSchema: z
        .object({ euros: z.number() })
        .transform(({ euros }) => ({ euros: fee === 0 ? euros : euros + fee })),
      execute: async () => 'paid',
    });
    const toolApproval = { pay: { type: 'user-approval', editable: true } } as const;
    const calls = [{ id: 'c1', name: 'pay', input: { euros: 5 } }];
    const { model } = scriptedModel([{ calls }, { text: 'Paid.' }]);
    const agent = createAgent({ model, tools: { pay }, toolApproval });
    const thread = await agent.thread('t');
    const first = await agent.run('Pay.', thread);
    const answers = first.approvalRequests.map((request) =>
      edit === undefined ? request.approve() : request.approve({ input: edit }),
    );
    await agent.respond(answers, thread);
    fee = 1000;
    expect(await agent.run([], thread)).toMatchObject({ status: 'waiting' });
    const asked = (await auditTrail(thread)).rows.filter(
      ({ what }) => what === 'approval requested',
    );
    const shown = [first.approvalRequests[0], thread.activeApprovalRequests[0]];
    expect(asked.map(({ details }) => details?.['input'])).toEqual(
      shown.map((request) => request?.toolCall?.input),
    );
  },
);

test('the trail has the edit of a vote where an edited call is asked about again', async () => {
  const inputSchema = z.object({ euros: z.number() });
  const calls = [{ id: 'c1', name: 'pay', input: { euros: 5 } }];
  const { model } = scriptedModel([{ calls }, { text: 'Paid.' }]);
  const store = memoryStore();
  const payer = (description: string) =>
    createAgent({
      model,
      store,
      tools: { pay: tool({ description, inputSchema, execute: async () => 'paid' }) },
      toolApproval: { pay: { type: 'user-approval', editable: true, quorum: 2 } },
      mayAnswer: () => true,
    });
  const before = payer('Pays.');
  const thread = await before.thread('t');
  const { approvalRequests } = await before.run('Pay.', thread);
  const edits = approvalRequests.map((request) => request.approve({ input: { euros: 7 } }));
  await before.respond(edits, thread, { principal: 'ann' });
  const votes = thread.activeApprovalRequests.map((request) => request.approve());
  await before.respond(votes, thread, { principal: 'ben' });
  const after = payer('Pays at once.');
  const again = await after.thread('t');
  await after.run([], again);
  const asked = (await auditTrail(again)).rows.filter(({ what }) => what === 'approval requested');
  expect(again.activeApprovalRequests).toMatchObject([{ toolCall: { input: { euros: 7 } } }]);
  expect(asked.map(({ details }) => details?.['input'])).toEqual([{ euros: 5 }, { euros: 7 }]);
});
