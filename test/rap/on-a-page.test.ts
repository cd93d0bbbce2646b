import { createUiHandler, toUIMessages } from 'holdpoint/ui';
import { expect, test } from 'vitest';
import { chatPage, comparable } from '../ui/chat-page.ts';
import { pick, questionOf, RemoteWorld } from './remote-world.ts';

test('S0-30, S0-35: a page with useChat shows what a tool asks, and its answer goes to the tool', async () => {
  await using world = await RemoteWorld.start();
  const agent = world.process();
  const handler = createUiHandler({ agent, authorize: () => ({ principal: 'ann' }) });
  const page = chatPage(handler);
  const reloaded = async () => comparable(await toUIMessages(await agent.thread('t')));
  const dataPart = () =>
    page.chat.messages.at(-1)?.parts.find(({ type }) => type.startsWith('data-'));

  await page.chat.sendMessage({ text: 'Write.' });
  expect(world.server.last.user_id).toBe('ann');
  await world.server.ask(world.server.last);
  await page.chat.sendMessage();
  await page.quiet();
  const thread = await agent.thread('t');
  const request = questionOf(thread);
  const { requestId: id } = request;
  expect(dataPart()).toEqual({ type: 'data-question-request', id, data: request });
  expect(comparable(page.chat.messages)).toEqual(await reloaded());

  const answer = pick(thread, 1);
  await page.chat.sendMessage(undefined, { body: { answers: [answer] } });
  await page.quiet();
  expect(world.server.answers).toEqual([{ id: 'call_abc123', selected: 1 }]);
  expect(dataPart()).toMatchObject({ id, data: { answer } });
  expect(comparable(page.chat.messages)).toEqual(await reloaded());

  await world.server.finish(world.server.last);
  await page.chat.sendMessage();
  await page.quiet();
  expect(page.chat.messages.at(-1)?.parts).toMatchObject([
    { type: 'step-start' },
    { type: 'tool-write', state: 'output-available', output: 'Written.' },
    { type: 'data-question-request' },
    { type: 'step-start' },
    { type: 'text', text: 'It is written.' },
  ]);
  expect(comparable(page.chat.messages)).toEqual(await reloaded());
  expect(page.errors).toEqual([]);
});
