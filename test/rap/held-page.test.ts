import { createUiHandler } from 'holdpoint/ui';
import { expect, test } from 'vitest';
import { chatPage } from '../ui/chat-page.ts';
import { pick, questionOf, RemoteWorld } from './remote-world.ts';

const day = 86_400_000;

test('a page that is connected is shown what a tool asks later, and its result, without asking again', async () => {
  await using world = await RemoteWorld.start();
  const agent = world.process();
  const turns = [
    async () => world.server.ask(world.server.last),
    async () => world.server.finish(world.server.last),
  ];
  const handler = createUiHandler({
    agent,
    authorize: () => ({ principal: 'ann' }),
    holdOpenMs: day,
    wait: async (milliseconds) =>
      milliseconds === day ? new Promise(() => {}) : turns.shift()?.(),
  });
  const page = chatPage(handler);
  await page.chat.sendMessage({ text: 'Write.' });
  await page.quiet();
  const thread = await agent.thread('t');
  const request = questionOf(thread);
  expect(page.chat.messages.at(-1)?.parts.at(-1)).toEqual({
    type: 'data-question-request',
    id: request.requestId,
    data: request,
  });
  await page.chat.sendMessage(undefined, { body: { answers: [pick(thread, 1)] } });
  await page.quiet();
  expect(world.server.answers).toEqual([{ id: 'call_abc123', selected: 1 }]);
  expect(page.chat.messages.at(-1)?.parts).toMatchObject([
    { type: 'step-start' },
    { type: 'tool-write', state: 'output-available', output: 'Written.' },
    { type: 'data-question-request' },
    { type: 'step-start' },
    { type: 'text', text: 'It is written.' },
  ]);
  expect(page.sent.map(({ method }) => method)).toEqual(['POST', 'POST']);
  expect(page.errors).toEqual([]);
});
