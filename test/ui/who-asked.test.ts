import { createAgent, memoryStore } from 'holdpoint';
import { createUiHandler, toUIMessages } from 'holdpoint/ui';
import { askConfirmation } from 'holdpoint/tools';
import { expect, test } from 'vitest';
import type { ScriptedCall } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, travelTools } from '../support/travel-world.ts';
import { chatPage, comparable, toolParts } from './chat-page.ts';

const ann = { id: 'u1', name: 'Ann' };

/** A page of Ann's, whose agent makes one call. */
async function asked(call: ScriptedCall) {
  const { model } = scriptedModel([{ calls: [call] }]);
  const agent = createAgent({
    model,
    store: memoryStore(),
    tools: { ...travelTools([]), ask: askConfirmation() },
    toolApproval: { book: 'user-approval' },
  });
  const handler = createUiHandler({ agent, authorize: () => ({ principal: ann }) });
  const page = chatPage(handler);
  await page.chat.sendMessage({ text: 'Go' });
  const loaded = await toUIMessages(await agent.thread('t'));
  expect(comparable(page.chat.messages)).toEqual(comparable(loaded));
  return { agent, page };
}

test('a page that shows an approval has who asked for it, live and loaded', async () => {
  const { page } = await asked(book('c1', 'Paris'));
  expect(toolParts(page.chat.messages)).toMatchObject([
    { state: 'approval-requested', approval: { descriptor: { requestedBy: ann } } },
  ]);
});

test('a page that shows a question has it too', async () => {
  const { page } = await asked({ id: 'c1', name: 'ask', input: { question: 'Sure?' } });
  expect(toolParts(page.chat.messages)).toMatchObject([
    { approval: { descriptor: { type: 'question-request', requestedBy: ann } } },
  ]);
});

test('so has one that shows a request about no call', async () => {
  const { agent } = await asked(book('c1', 'Paris'));
  const thread = await agent.thread('t');
  await agent.requestApproval(thread, { text: 'Send the report?' });
  const parts = (await toUIMessages(thread)).flatMap((message) => message.parts);
  expect(parts.find(({ type }) => type === 'data-approval-request')).toMatchObject({
    data: { text: 'Send the report?', requestedBy: ann },
  });
});
