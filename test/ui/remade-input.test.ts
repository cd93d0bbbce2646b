import { isToolUIPart, tool } from 'ai';
import { createAgent, memoryStore } from 'holdpoint';
import { scriptedModel } from 'holdpoint/testing';
import { createUiHandler, toUIMessages } from 'holdpoint/ui';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { chunksOf, post } from './chat-page.ts';

const asAnn = () => ({ principal: 'ann' });
const said = (id: string) => ({ id, role: 'user', parts: [{ type: 'text', text: id }] });

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

test('a page is shown and sent the value that runs, also where an edited input was made again', async () => {
  const store = memoryStore();
  const ran: unknown[] = [];
  const calls = [{ id: 'c1', name: 'pay', input: { sum: '5' } }];
  const payIn = (sum: z.ZodType<string, string>) => {
    const pay = tool({
      inputSchema: z.object({ sum }),
      execute: async (input) => ran.push(input),
    });
    const { model } = scriptedModel([{ calls }, { text: 'Paid.' }]);
    const toolApproval = { pay: { type: 'user-approval', editable: true } } as const;
    return createAgent({ model, store, tools: { pay }, toolApproval });
  };
  const plain = payIn(z.string());
  const asked = await plain.run('Pay.', await plain.thread('t'));
  const edits = asked.approvalRequests.map((request) => request.approve({ input: { sum: '7' } }));
  await plain.respond(edits, await plain.thread('t'));
  const thousands = payIn(z.string().transform((text) => `${text}000`));
  const handler = createUiHandler({ agent: thousands, authorize: asAnn });
  const input = { sum: '7000' };
  const live = await chunksOf(await handler(post({ id: 't' })));
  expect(live.filter(({ type }) => type.startsWith('tool-'))).toMatchObject([
    { type: 'tool-input-available', toolCallId: 'c1', input },
    { type: 'tool-approval-request', approvalDescriptor: { toolCall: { input } } },
  ]);
  const thread = await thousands.thread('t');
  const [part] = (await toUIMessages(thread)).flatMap(({ parts }) => parts).filter(isToolUIPart);
  expect(part).toMatchObject({ input, approval: { descriptor: { toolCall: { input } } } });
  await thousands.run(
    thread.activeApprovalRequests.map((request) => request.approve()),
    thread,
  );
  expect(ran).toEqual([input]);
});

test('a page that is shown open calls again is sent the input of each that was approved', async () => {
  const inputSchema = z.object({ sum: z.string() });
  const tools = {
    pay: tool({ inputSchema }),
    book: tool({ inputSchema, execute: async () => 'x' }),
  };
  const calls = ['pay', 'book'].map((name) => ({ id: name, name, input: { sum: '5' } }));
  const { model } = scriptedModel([{ calls }]);
  const toolApproval = {
    pay: { type: 'user-approval', editable: true },
    book: 'user-approval',
  } as const;
  const agent = createAgent({ model, tools, toolApproval });
  const handler = createUiHandler({ agent, clientTools: ['pay'], authorize: asAnn });
  const send = async (body: object) => chunksOf(await handler(post({ id: 't', ...body })));
  await send({ message: said('Go.') });
  const [paying, booking] = (await agent.thread('t')).activeApprovalRequests;
  await send({ answers: [paying?.approve({ input: { sum: '7' } })] });
  const approval = { id: booking?.requestId, approved: true };
  const shown = await toUIMessages(await agent.thread('t'));
  const messages = shown.map(({ parts, ...message }) => ({
    ...message,
    parts: parts.map((part) =>
      isToolUIPart(part) && part.toolCallId === 'book'
        ? { ...part, state: 'approval-responded', approval }
        : part,
    ),
  }));
  const unsaid = await send({ messages, message: said('More.') });
  const available = unsaid.filter(({ type }) => type === 'tool-input-available');
  expect(available).toMatchObject([
    { toolCallId: 'pay', input: { sum: '7' } },
    { toolCallId: 'book', input: { sum: '5' } },
  ]);
});

test('the part of a call that nobody was asked about shows the value that ran', async () => {
  const store = memoryStore();
  let suffix = '';
  const sum = z.string().transform((text) => `${text}${suffix}`);
  const stopping = new AbortController();
  const tools = {
    wait: tool({
      inputSchema: z.object({}),
      execute: async () => {
        stopping.abort();
        return 'aborted';
      },
    }),
    pay: tool({ inputSchema: z.object({ sum }), execute: async () => 'paid' }),
  };
  const calls = [
    { id: 'w1', name: 'wait', input: {} },
    { id: 'c1', name: 'pay', input: { sum: '5' } },
  ];
  const { model } = scriptedModel([{ calls }, { text: 'Paid.' }]);
  const agent = createAgent({ model, store, tools, toolCallConcurrency: 1 });
  const thread = await agent.thread('t');
  await agent.run('Pay.', thread, { abortSignal: stopping.signal }).catch(() => {});
  suffix = '000';
  await agent.run([], thread);
  const parts = (await toUIMessages(thread)).flatMap((message) => message.parts);
  expect(parts.filter(isToolUIPart)).toMatchObject([
    { type: 'tool-wait' },
    { type: 'tool-pay', state: 'output-available', input: { sum: '5000' } },
  ]);
});
