import { reject } from 'holdpoint';
import { approvalRequestSchema, questionRequestSchema } from 'holdpoint/schemas';
import { createUiHandler, toUIMessages } from 'holdpoint/ui';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { newsroom } from '../support/newsroom.ts';
import { chatPage, comparable } from './chat-page.ts';

test('a page of a custom agent streams its text, shows what its steps ask, and answers it; progress stays behind', async () => {
  const agent = newsroom();
  const handler = createUiHandler({ agent, authorize: () => ({ principal: 'ann' }) });
  const page = chatPage(handler);
  const shown = async () => {
    const loaded = await toUIMessages(await agent.thread('t'));
    expect(comparable(page.chat.messages)).toEqual(comparable(loaded));
    expect(JSON.stringify(page.chat.messages)).not.toContain('We ship.');
    return page.chat.messages.flatMap(({ parts }) => parts);
  };
  await page.chat.sendMessage({ text: 'Announce it.' });
  const first = await shown();
  expect(first).toMatchObject([
    { type: 'text', text: 'Announce it.' },
    { type: 'step-start' },
    { type: 'text', text: 'I have a draft.' },
    { type: 'data-question-request', data: { key: 'tone', text: 'Which tone?' } },
  ]);
  const { requestId } = z.object({ data: questionRequestSchema }).parse(first.at(-1)).data;
  const answers = [{ key: 'answer', optionIds: ['Friendly'] }];
  const answered = { type: 'question-response', requestId, status: 'answered', answers };
  await page.chat.sendMessage(undefined, { body: { answers: [answered] } });
  const second = await shown();
  const { data } = z.object({ data: approvalRequestSchema }).parse(second.at(-1));
  expect(data).toMatchObject({ key: 'publish', text: 'Publish the Friendly text?' });
  await page.chat.sendMessage(undefined, { body: { answers: [reject(data, 'Too soon.')] } });
  expect((await shown()).at(-1)).toMatchObject({
    type: 'text',
    text: 'It was rejected (Too soon.).',
  });
  expect((await agent.thread('t')).decisions).toMatchObject([
    { status: 'answered', principal: 'ann', channel: 'ui' },
    { status: 'rejected', principal: 'ann', channel: 'ui' },
  ]);
});
