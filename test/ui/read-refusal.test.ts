import { memoryStore } from 'holdpoint';
import { createUiHandler, readRefusal } from 'holdpoint/ui';
import { describe, expect, test } from 'vitest';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, travelWorld } from '../support/travel-world.ts';
import { chatPage, openApprovals, post } from './chat-page.ts';

function site() {
  const kept = memoryStore();
  const script = [{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }];
  const agent = travelWorld(scriptedModel(script), () => kept).agent();
  return createUiHandler({ agent, authorize: () => ({ principal: 'ann' }) });
}

describe('a person at a page with useChat alone reads', () => {
  test('why a message was refused', async () => {
    const page = chatPage(site());
    await page.chat.sendMessage({ text: 'Book' });
    await page.chat.sendMessage({ text: 'Hurry' });
    expect(readRefusal(page.chat.error)).toEqual({
      code: 'requests-open',
      text: 'Answer what is open first, then send your message again.',
      refusedAnswers: [],
    });
  });

  test('which answer was refused, and why', async () => {
    const handler = site();
    const page = chatPage(handler);
    await page.chat.sendMessage({ text: 'Book' });
    const [requestId = ''] = openApprovals(page.chat.messages);
    await page.respond(requestId, true);
    const answers = [{ type: 'approval-response', requestId, approved: false }];
    const response = await handler(post({ id: 't', answers }));
    expect(readRefusal(await response.text())).toMatchObject({
      code: 'already-answered',
      text: 'This was answered before. The first answer counts.',
      refusedAnswers: [{ requestId, code: 'already-answered' }],
    });
  });

  test('the sentence of the server where there is no other', () => {
    const error = { code: 'max-steps', message: 'Enough for today.' };
    expect(readRefusal(JSON.stringify({ error }))?.text).toBe('Enough for today.');
  });

  test('nothing of JSON that is not ours, or of an error that is no refusal', () => {
    for (const error of [new TypeError('Failed to fetch'), '<html>', '{}', undefined, 7]) {
      expect(readRefusal(error)).toBeUndefined();
    }
  });
});
