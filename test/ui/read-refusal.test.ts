import { createAgent, memoryStore } from 'holdpoint';
import { createUiHandler, readRefusal } from 'holdpoint/ui';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { scriptedModel } from '../support/scripted-model.ts';
import { waitUntil } from '../support/waiting.ts';
import { book, travelWorld } from '../support/travel-world.ts';
import { chatPage, type Handler, openApprovals, post } from './chat-page.ts';
import { bookingWorld, fieldOf, openPage, run, say, serve } from './form-pages.ts';

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

/** A route that refuses whatever is posted. */
function serveRefusal(status: number, body: object): Handler {
  const { agent } = bookingWorld(1);
  const handler = serve(agent);
  return async (request) =>
    request.method === 'POST' ? Response.json(body, { status }) : handler(request);
}

describe('what a server says is shown inert', () => {
  const message = 'No\u202eon';

  test('in a refusal of a code that the page does not know', async () => {
    const page = openPage(serveRefusal(409, { error: { code: 'own', message } }), 'ada');
    await page.open();
    await page.chat.sendMessage({ text: 'Book.' });
    await waitUntil(() => page.notice?.type === 'refused');
    expect(page.notice?.text).toBe('No\\u{202e}on');
  });

  test('in the reason why an answer does not fit', async () => {
    const { agent } = bookingWorld(1);
    const handler = serve(agent);
    const page = openPage(async (request) => {
      const body = request.method === 'POST' ? await request.clone().json() : {};
      const [answer] = z.object({ answers: z.array(z.unknown()).default([]) }).parse(body).answers;
      if (answer === undefined) return handler(request);
      const { requestId } = z.looseObject({ requestId: z.string() }).parse(answer);
      const refused = { code: 'invalid-answer', message, requestId };
      const refusedAnswers = [{ ...refused, field: ['price'], reason: message }];
      return Response.json({ error: refused, refusedAnswers }, { status: 400 });
    }, 'ada');
    await say(page, 'Book.');
    run(page.requests[0], 'approve');
    await waitUntil(() => page.state.problem?.type === 'refused');
    expect(fieldOf(page.requests[0], 'price')?.error).toBe('No\\u{202e}on');
    expect(page.state.problem).toMatchObject({ reason: 'No\\u{202e}on' });
  });

  test('in the failure of a run, while it streams and after a reload', async () => {
    const { model } = scriptedModel([]);
    const agent = createAgent({ model, store: memoryStore(), maxRetries: 0 });
    const handler = createUiHandler({
      agent,
      authorize: () => ({ principal: 'ada' }),
      onError: () => message,
    });
    const page = openPage(handler, 'ada');
    await page.open();
    await page.chat.sendMessage({ text: 'Book.' });
    await waitUntil(() => page.notice?.type === 'failed');
    expect(page.notice?.text).toBe('No\\u{202e}on');
    await page.refresh();
    expect(page.notice).toEqual({ type: 'failed', text: 'No\\u{202e}on' });
  });
});
