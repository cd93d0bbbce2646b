import { memoryStore, type AgentOptions } from 'holdpoint';
import { questionRequestSchema } from 'holdpoint/schemas';
import { questionTools } from 'holdpoint/tools';
import {
  createUiHandler,
  lastAssistantMessageHasApprovalResponses,
  toUIMessages,
} from 'holdpoint/ui';
import { describe, expect, test } from 'vitest';
import type { ScriptedStep } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, travelTools, travelWorld } from '../support/travel-world.ts';
import {
  chatPage,
  chunksOf,
  comparable,
  openApprovals,
  type PageOptions,
  post,
  toolParts,
} from './chat-page.ts';

/** A thread with pages that answer each request as soon as it is answered. */
function site(script: ScriptedStep[], agentOptions: Partial<AgentOptions> = {}) {
  const kept = memoryStore();
  let appends = 0;
  const store = {
    ...kept,
    append: async (...append: Parameters<typeof kept.append>) => {
      appends += 1;
      return kept.append(...append);
    },
  };
  const world = travelWorld(scriptedModel(script), () => store);
  const agent = world.agent(agentOptions);
  const handler = createUiHandler({ agent, authorize: () => ({ principal: 'ann' }) });
  const tab = async (options: PageOptions = {}) =>
    chatPage(handler, {
      messages: await toUIMessages(await agent.thread('t')),
      sendAutomaticallyWhen: lastAssistantMessageHasApprovalResponses,
      ...options,
    });
  const answered = async () =>
    (await agent.thread('t')).events
      .filter((event) => event.type === 'request-answered')
      .map(({ response }) => response);
  return { agent, handler, world, tab, answered, appends: () => appends };
}

const two = [{ calls: [book('c1', 'Paris'), book('c2', 'Rome')] }, { text: 'Done.' }];
const one = [{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }];
const approvalOf = (requestId: string, approved = true) => ({
  type: 'approval-response',
  requestId,
  approved,
});

describe('a text that is refused while a request is open', () => {
  test.each([{ sendsHistory: false }, { sendsHistory: true }])(
    'does not keep Reject from being posted and recorded: %o',
    async (options) => {
      const at = site(one);
      const page = await at.tab(options);
      await page.chat.sendMessage({ text: 'Book' });
      await page.chat.sendMessage({ text: 'Hurry' });
      expect(page.sent.at(-1)?.status).toBe(409);
      const [id = ''] = openApprovals(page.chat.messages);
      await page.respond(id, false, 'too dear');
      expect(page.sent.at(-1)?.status).toBe(200);
      expect(await at.answered()).toMatchObject([{ requestId: id, approved: false }]);
      expect(toolParts(page.chat.messages)).toMatchObject([{ state: 'output-denied' }]);
    },
  );

  test('does not keep the answer to a question from being recorded, and is not said by it', async () => {
    const question = { question: 'Which?', options: ['a', 'b'] };
    const asks = { id: 'q', name: 'user_choice', input: question };
    const at = site([{ calls: [asks] }, { text: 'Done.' }], {
      tools: { ...travelTools([]), ...questionTools() },
    });
    const page = await at.tab();
    await page.chat.sendMessage({ text: 'Ask' });
    await page.chat.sendMessage({ text: 'Hurry' });
    const [part] = toolParts(page.chat.messages);
    const request = questionRequestSchema.parse(part?.approval?.descriptor);
    const [field] = request.fields;
    const answer = {
      type: 'question-response',
      requestId: request.requestId,
      status: 'answered',
      answers: [{ key: field?.key, optionIds: [field?.options[0]?.id] }],
    };
    await page.chat.sendMessage(undefined, { body: { answers: [answer] } });
    await page.quiet();
    expect(page.sent.at(-1)?.status).toBe(200);
    expect(await at.answered()).toMatchObject([{ requestId: request.requestId }]);
    expect(toolParts(page.chat.messages)).toMatchObject([{ state: 'output-available' }]);
    expect(JSON.stringify((await at.agent.thread('t')).messages)).not.toContain('Hurry');
  });
});

test('an answer that could not be sent goes out with the next message', async () => {
  const at = site([...one, { text: 'Later.' }]);
  const data: string[] = [];
  const page = await at.tab({
    sendAutomaticallyWhen: () => false,
    onData: ({ type }) => void data.push(type),
  });
  await page.chat.sendMessage({ text: 'Book' });
  expect(data.splice(0)).toEqual(['data-request-rights']);
  const [id = ''] = openApprovals(page.chat.messages);
  await page.respond(id, true);
  expect(page.sent).toHaveLength(1);
  await page.chat.sendMessage({ text: 'And?' });
  expect(page.errors).toEqual([]);
  /* The stream has the turn of the message. The end of the other one is for the page to read. */
  expect(data).toEqual(['data-stale']);
  expect(await at.answered()).toMatchObject([{ requestId: id, approved: true }]);
  expect(JSON.stringify((await at.agent.thread('t')).messages)).toContain('And?');
});

describe('of several answers', () => {
  test('one that was given otherwise in another tab is refused, and the other counts', async () => {
    const at = site(two);
    const first = await at.tab();
    await first.chat.sendMessage({ text: 'Book' });
    const [paris = '', rome = ''] = openApprovals(first.chat.messages);
    await first.respond(paris, false);
    const answers = [approvalOf(paris), approvalOf(rome)];
    const response = await at.handler(post({ id: 't', answers }));
    expect(response.status).toBe(200);
    const chunks = await chunksOf(response);
    expect(chunks).toContainEqual({
      type: 'data-refused-answers',
      transient: true,
      data: [{ requestId: paris, code: 'already-answered', message: expect.any(String) }],
    });
    expect(at.world.ran).toMatchObject([{ input: { city: 'Rome' } }]);
  });

  test('one that has expired is refused, and the other counts', async () => {
    let time = 0;
    const at = site(two, {
      now: () => time,
      toolApproval: {
        book: ({ city }: { city: string }) => ({
          type: 'user-approval',
          ...(city === 'Paris' ? { expiresAfterMs: 1_000 } : {}),
        }),
      },
    });
    const page = await at.tab({ sendAutomaticallyWhen: () => false });
    await page.chat.sendMessage({ text: 'Book' });
    const [paris = '', rome = ''] = openApprovals(page.chat.messages);
    time = 5_000;
    await page.respond(paris, true);
    await page.respond(rome, true);
    await page.chat.sendMessage();
    expect(page.errors).toEqual([]);
    expect(at.world.ran).toMatchObject([{ input: { city: 'Rome' } }]);
    expect(toolParts(page.chat.messages)).toMatchObject([
      { state: 'output-denied' },
      { state: 'output-available' },
    ]);
  });

  test('one that the person may not give is refused, stays open on the page, and the other counts', async () => {
    const at = site(two, {
      mayAnswer: ({ request }) => !JSON.stringify(request).includes('Paris'),
    });
    const page = await at.tab({ sendAutomaticallyWhen: () => false });
    await page.chat.sendMessage({ text: 'Book' });
    const [paris = '', rome = ''] = openApprovals(page.chat.messages);
    await page.respond(paris, true);
    await page.respond(rome, true);
    await page.chat.sendMessage();
    expect(await at.answered()).toMatchObject([{ requestId: rome }]);
    expect(openApprovals(page.chat.messages)).toEqual([paris]);
    expect(comparable(page.chat.messages)).toEqual(
      comparable(await toUIMessages(await at.agent.thread('t'))),
    );
  });

  test('all refused give one refusal that names each, and change nothing', async () => {
    const at = site(two, { mayAnswer: () => false });
    const page = await at.tab();
    await page.chat.sendMessage({ text: 'Book' });
    const { revision } = await at.agent.thread('t');
    const [paris = '', rome = ''] = openApprovals(page.chat.messages);
    const answers = [approvalOf(paris), approvalOf(rome, false)];
    const response = await at.handler(post({ id: 't', answers }));
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      error: { code: 'not-allowed' },
      refusedAnswers: [
        { requestId: paris, code: 'not-allowed' },
        { requestId: rome, code: 'not-allowed' },
      ],
    });
    expect((await at.agent.thread('t')).revision).toBe(revision);
  });

  test('all are recorded with one append, as many as they are', async () => {
    const at = site(two);
    const page = await at.tab();
    await page.chat.sendMessage({ text: 'Book' });
    const before = at.appends();
    const answers = openApprovals(page.chat.messages).map((id) => approvalOf(id));
    await (await at.handler(post({ id: 't', answers }))).text();
    expect(at.appends() - before).toBeLessThanOrEqual(4);
    const { events } = await at.agent.thread('t');
    const given = events.flatMap(({ type }, index) => (type === 'request-answered' ? [index] : []));
    expect(given).toHaveLength(2);
    expect(events.slice(given[0], (given[0] ?? 0) + 3).map(({ type }) => type)).toEqual([
      'request-answered',
      'request-answered',
      'run-started',
    ]);
  });

  test('the refused ones are not sent for ever by a page of the AI SDK alone', async () => {
    const at = site(two, {
      mayAnswer: ({ response }) => JSON.stringify(response).includes('true'),
    });
    const page = await at.tab();
    await page.chat.sendMessage({ text: 'Book' });
    const [paris = '', rome = ''] = openApprovals(page.chat.messages);
    await page.respond(paris, false);
    await page.respond(rome, true);
    expect(page.sent.length).toBeLessThan(6);
    expect(await at.answered()).toMatchObject([{ requestId: rome, approved: true }]);
  });
});

describe('a person who may chat and may not answer', () => {
  const asks = {
    id: 'q',
    name: 'user_choice',
    input: { question: 'Which?', options: ['a', 'b'] },
  };
  const asking = async () => {
    const tools = { ...travelTools([]), ...questionTools() };
    const at = site([{ calls: [asks] }, { text: 'Done.' }], { tools, mayAnswer: () => false });
    const page = await at.tab();
    await page.chat.sendMessage({ text: 'Ask' });
    const [part] = toolParts(page.chat.messages);
    const request = questionRequestSchema.parse(part?.approval?.descriptor);
    const { revision } = await at.agent.thread('t');
    return { at, request, revision };
  };

  test('gets 403 for an answer, for closing a question, and for a custom answer; nothing changes', async () => {
    const { at, request, revision } = await asking();
    const { requestId, fields } = request;
    const type = 'question-response';
    const [{ key, options } = { key: '', options: [] }] = fields;
    const answers = [{ key, optionIds: options.slice(0, 1).map(({ id }) => id) }];
    const data = { interaction_id: requestId, selected_option_id: 'a' };
    const bodies = [
      { answers: [{ type, requestId, status: 'answered', answers }] },
      { answers: [{ type, requestId, status: 'dismissed' }] },
      {
        message: { id: 'm', role: 'user', parts: [{ type: 'data-interaction_response', data }] },
      },
    ];
    for (const body of bodies) {
      const response = await at.handler(post({ id: 't', ...body }));
      expect(await response.json()).toMatchObject({
        error: { code: 'not-allowed' },
        refusedAnswers: [{ requestId, code: 'not-allowed' }],
      });
      expect(response.status).toBe(403);
    }
    expect((await at.agent.thread('t')).revision).toBe(revision);
  });
});

describe('a page that is behind', () => {
  test('is told so when it posts, and only then', async () => {
    const at = site([{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }]);
    const page = await at.tab();
    const data: string[] = [];
    const other = await at.tab({ onData: ({ type }) => void data.push(type) });
    await page.chat.sendMessage({ text: 'First' });
    await other.chat.sendMessage({ text: 'Second' });
    expect(data).toEqual(['data-stale']);
    await other.chat.sendMessage({ text: 'Third' });
    expect(data).toEqual(['data-stale']);
  });

  test('is told so when it answers in a turn that is over', async () => {
    const at = site([...one, { text: 'Later.' }]);
    const page = await at.tab();
    await page.chat.sendMessage({ text: 'Book' });
    const data: string[] = [];
    const other = await at.tab({ onData: ({ type }) => void data.push(type) });
    const [id = ''] = openApprovals(page.chat.messages);
    await page.respond(id, true);
    await page.chat.sendMessage({ text: 'And?' });
    await other.respond(id, true);
    expect(data).toEqual(['data-stale', 'data-request-rights', 'data-request-decision']);
  });
});
