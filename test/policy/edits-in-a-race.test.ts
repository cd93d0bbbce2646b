import { tool } from 'ai';
import { createAgent, type MayAnswer, type ThreadStore } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { errorCode } from '../support/error-code.ts';
import { everyStore } from '../support/every-store.ts';
import { scriptedModel } from '../support/scripted-model.ts';

const refundInput = z.object({ euros: z.number() });
const limits: Record<string, number> = { ben: 50, ada: 10_000, cleo: 10_000 };
const withinLimit: MayAnswer = ({ principal, request }) =>
  request.type === 'approval-request' &&
  refundInput.parse(request.toolCall?.input).euros <= (limits[String(principal)] ?? 0);

/** Eve's refund of 50, in a store that each process opens for itself. */
async function refunding(open: () => ThreadStore) {
  const ran: unknown[] = [];
  const refund = tool({
    description: 'Refunds.',
    inputSchema: refundInput,
    execute: (input) => {
      ran.push(input);
      return 'Refunded.';
    },
  });
  const { model } = scriptedModel([
    { calls: [{ id: 'c1', name: 'refund', input: { euros: 50 } }] },
    { text: 'Done.' },
  ]);
  const processWith = async (mayAnswer: MayAnswer) => {
    const agent = createAgent({
      model,
      tools: { refund },
      toolApproval: { refund: { type: 'user-approval', quorum: 2, editable: true } },
      mayAnswer,
      store: open(),
    });
    return { agent, thread: await agent.thread('t') };
  };
  const ada = await processWith(withinLimit);
  await ada.agent.run('Refund it.', ada.thread, { principal: 'eve' });
  return { ran, ada, processWith };
}

describe.each(everyStore())('$name: an answer that was checked', ({ start }) => {
  test.each([
    ['as a plain yes', {}],
    ['with an edit', { input: { euros: 40 } }],
  ])('%s before another process recorded an edit does not count for it', async (_how, more) => {
    using kept = await start();
    const { ran, ada, processWith } = await refunding(() => kept.open());
    const asked = Promise.withResolvers<void>();
    const isEdited = Promise.withResolvers<void>();
    const ben = await processWith(async (about) => {
      asked.resolve();
      await isEdited.promise;
      return withinLimit(about);
    });
    const [request] = ada.thread.activeApprovalRequests;
    if (request === undefined) throw new Error('Nothing is asked.');
    const { requestId } = request;
    const yes = { type: 'approval-response', requestId, approved: true, ...more } as const;
    const answering = errorCode(ben.agent.run(yes, ben.thread, { principal: 'ben' }));
    await asked.promise;
    const edit = request.approve({ input: { euros: 5_000 } });
    await ada.agent.respond(edit, ada.thread, { principal: 'ada' });
    isEdited.resolve();
    /* It is asked again who may answer what is shown now. */
    expect(await answering).toBe('not-allowed');
    const { agent, thread } = await processWith(withinLimit);
    const [shown] = thread.activeApprovalRequests;
    expect(shown).toMatchObject({
      toolCall: { input: { euros: 5_000 } },
      votes: [{ person: 'ada' }],
    });
    expect(ran).toEqual([]);
    if (shown === undefined) throw new Error('Nothing is asked.');
    await agent.run(shown.approve(), thread, { principal: 'cleo' });
    expect(ran).toEqual([{ euros: 5_000 }]);
  });
});
