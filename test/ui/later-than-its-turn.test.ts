import { tool } from 'ai';
import { createUiHandler, toUIMessages } from 'holdpoint/ui';
import { expect, test } from 'vitest';
import { book, cityInput, memoryWorld } from '../support/travel-world.ts';
import { chatPage, chunksOf, openApprovals, post, toolParts } from './chat-page.ts';

/** A thread whose call is approved and has not run yet. */
async function approvedWorld(execute: () => Promise<void> = async () => {}) {
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }]);
  const agent = world.agent({
    tools: {
      book: tool({ inputSchema: cityInput, execute: async () => execute().then(() => 'booked') }),
    },
  });
  const handler = createUiHandler({ agent, authorize: () => ({ principal: 'ann' }) });
  const message = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Book' }] };
  await chunksOf(await handler(post({ id: 't', message })));
  const thread = await agent.thread('t');
  const answers = thread.activeApprovalRequests.map((request) => request.approve());
  return { world, agent, handler, thread, answers, message };
}

const ended = [{ toolCallId: 'c1', state: 'output-available', output: 'booked' }];

test('a call that was approved together with a message shows its output on the page', async () => {
  const { agent, handler, thread, answers } = await approvedWorld();
  await agent.run([...answers, 'And?'], thread);
  expect(toolParts(await toUIMessages(thread))).toMatchObject(ended);
  const stored = await handler(new Request('http://localhost/chat?id=t'));
  expect(await stored.json()).toMatchObject({
    messages: [
      { role: 'user' },
      { role: 'assistant', parts: [{ type: 'step-start' }, ...ended] },
      { role: 'user' },
      { role: 'assistant' },
    ],
  });
});

test('a call that runs after the next message shows its output in the message that made it', async () => {
  const { agent, handler, thread, answers, message } = await approvedWorld();
  await agent.respond(answers, thread);
  const data: string[] = [];
  const page = chatPage(handler, {
    messages: await toUIMessages(thread),
    onData: ({ type }) => void data.push(type),
  });
  await page.chat.sendMessage({ text: 'And?' });
  expect([page.errors, data]).toEqual([[], ['data-stale']]);
  expect(toolParts(await toUIMessages(await agent.thread('t')))).toMatchObject([
    { ...ended[0], preliminary: undefined },
  ]);
  const again = await chunksOf(await handler(post({ id: 't', message })));
  expect(again.filter(({ type }) => type.startsWith('tool-output'))).toMatchObject([
    { toolCallId: 'c1', type: 'tool-output-available' },
  ]);
  const last = await handler(new Request('http://localhost/chat?id=t&stream'));
  expect((await chunksOf(last)).map(({ type }) => type)).toContain('data-stale');
});

test('a call is in progress in the message that made it while it waits behind the next message', async () => {
  const runs = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const { agent, thread, answers } = await approvedWorld(async () => {
    runs.resolve();
    await gate.promise;
  });
  const run = agent.run([...answers, 'And?'], thread);
  await runs.promise;
  expect(toolParts(await toUIMessages(await agent.thread('t')))).toMatchObject([
    { toolCallId: 'c1', state: 'output-available', preliminary: true },
  ]);
  gate.resolve();
  await run;
});

test('a call that is asked about again after the next message asks in the message that made it', async () => {
  const { world, agent, thread, answers } = await approvedWorld();
  await agent.respond(answers, thread);
  const changed = tool({ description: 'New', inputSchema: cityInput, execute: () => 'booked' });
  const other = world.agent({ tools: { book: changed } });
  const opened = await other.thread('t');
  const { status, approvalRequests } = await other.run('And?', opened);
  const messages = await toUIMessages(opened);
  expect([status, openApprovals(messages.slice(0, 2))]).toEqual([
    'waiting',
    approvalRequests.map(({ requestId }) => requestId),
  ]);
  expect(approvalRequests).toHaveLength(1);
});
