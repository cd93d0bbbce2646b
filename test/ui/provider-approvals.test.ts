import { isToolUIPart } from 'ai';
import { createUiHandler, toUIMessages } from 'holdpoint/ui';
import { expect, test } from 'vitest';
import { askingProvider, opened, opens } from '../support/asking-provider.ts';
import { chatPage } from './chat-page.ts';

const script = [
  { calls: [opens('p1', 'Bug')] },
  { calls: [opened('p2', 'Bug')], text: 'I went on.' },
];

async function pageOf() {
  const world = await askingProvider(script);
  const handler = createUiHandler({
    agent: world.agent,
    authorize: () => ({ principal: 'ada' }),
  });
  const page = chatPage(handler);
  await page.chat.sendMessage({ text: 'Open an issue.' });
  const parts = () => (page.chat.messages.at(-1)?.parts ?? []).filter(isToolUIPart);
  return { ...world, page, parts };
}

test.each([
  { approved: true, states: ['p1 output-available', 'p2 output-available'] },
  { approved: false, states: ['p1 output-denied', 'p2 output-available'] },
])('what the provider asks is answered on the page: $approved', async ({ approved, states }) => {
  const { page, parts, prompts, agent, ran } = await pageOf();
  const [asked] = parts();
  expect(asked).toMatchObject({ state: 'approval-requested', providerExecuted: true });
  await page.respond(asked?.approval?.id ?? '', approved);
  expect(parts().map(({ toolCallId, state }) => `${toolCallId} ${state}`)).toEqual(states);
  expect(page.sent).toHaveLength(2);
  const told = prompts[1]?.at(-1)?.content;
  expect(told).toMatchObject([{ approvalId: 'ask-p1', approved }, ...(approved ? [] : [{}])]);
  expect(ran).toEqual([]);
  const reloaded = await toUIMessages(await agent.thread('t'));
  expect(reloaded.at(-1)).toEqual(page.chat.messages.at(-1));
});
