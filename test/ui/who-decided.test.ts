import { Chat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import { type AgentOptions, approve, reject } from 'holdpoint';
import { questionTools } from 'holdpoint/tools';
import { createUiHandler, type ShownRequest, ThreadChat, toUIMessages } from 'holdpoint/ui';
import { describe, expect, test } from 'vitest';
import type { ScriptedStep } from '../support/script.ts';
import { book, memoryWorld, travelTools } from '../support/travel-world.ts';
import { waitUntil } from '../support/waiting.ts';
import { comparable, origin, urlOf } from './chat-page.ts';

const secret = 'secret-of-somebody';
const ask = { id: 'q', name: 'ask_question', input: { question: 'Window or aisle?' } };

/** A thread of ada's that waits, and a page of it for each person; each has a token in their principal. */
async function site(
  options: Partial<AgentOptions> = {},
  calls: ScriptedStep['calls'] = [book('c', 'Paris')],
) {
  const world = memoryWorld([{ calls }, { text: 'Done.' }]);
  const tools = { ...travelTools(world.ran), ...questionTools() };
  const agent = world.agent({ tools, toolApproval: { book: 'user-approval' }, ...options });
  const sent: string[] = [];
  const handler = createUiHandler({
    agent,
    authorize: ({ request }) => ({ principal: { id: request.headers.get('x-person'), secret } }),
  });
  const visit = async (person: string) => {
    const page = new ThreadChat((init) => new Chat<UIMessage>(init), {
      id: 't',
      api: '/chat',
      headers: { 'x-person': person },
      fetch: async (input, init) => {
        const response = await handler(new Request(new URL(urlOf(input), origin), init));
        sent.push(await response.clone().text());
        return response;
      },
      wait: async () => {},
    });
    await page.open();
    return page;
  };
  const [ada, ben] = [await visit('ada'), await visit('ben')];
  await ada.chat.sendMessage({ text: 'Book.' });
  await ben.refresh();
  const asked = (page = ben): ShownRequest['request'] => {
    const [open] = page.requests;
    if (open === undefined) throw new Error('Nothing is asked.');
    return open.request;
  };
  return { world, agent, ada, ben, visit, asked, sent };
}

type Site = Awaited<ReturnType<typeof site>>;
type Page = Site['ada'];

/** What a page says of the call besides its request: the lines that name somebody or say why. */
function linesOf(page: Page): string[] {
  return page.chat.messages
    .flatMap(({ parts }) => parts.flatMap((part) => page.show(part) ?? []))
    .flatMap((part) => (part.type === 'call' ? part.lines : []))
    .filter((line) => !line.startsWith('Asked for by'));
}

/** What each page says once the log has the decision: where it was given, the other one, and one that is opened then. */
async function linesEverywhere(at: Site): Promise<string[][]> {
  await waitUntil(() => at.ben.state.sending.size === 0 && at.ben.chat.status === 'ready');
  await at.ada.refresh();
  const reloaded = await at.visit('cy');
  expect(comparable(at.ben.chat.messages)).toEqual(
    comparable(await toUIMessages(await at.agent.thread('t'))),
  );
  return [at.ben, at.ada, reloaded].map(linesOf);
}

const approvalOf = (request: ShownRequest['request']) => {
  if (request.type !== 'approval-request') throw new Error('This is a question.');
  return request;
};

describe('every page says who decided', () => {
  test.each<[string, (at: Site) => Promise<unknown>, string]>([
    [
      'a rejection, and why',
      async ({ ben, asked }) => ben.answer(reject(approvalOf(asked()), 'Too expensive')),
      'Rejected by ben: Too expensive',
    ],
    [
      'a rejection without a word',
      async ({ ben, asked }) => ben.answer(reject(approvalOf(asked()))),
      'Rejected by ben',
    ],
    [
      'an approval',
      async ({ ben, asked }) => ben.answer(approve(approvalOf(asked()))),
      'Approved by ben',
    ],
    [
      'an approval, and why',
      async ({ ben, asked }) => ben.answer(approve(approvalOf(asked()), { reason: 'Cheap' })),
      'Approved by ben: Cheap',
    ],
    [
      'an end without an answer',
      async ({ agent, ben }) => {
        await agent.cancel(await agent.thread('t'), 'Not today', { principal: { id: 'ben' } });
        await ben.refresh();
      },
      'Cancelled by ben: Not today',
    ],
  ])('%s', async (_, decide, line) => {
    const at = await site();
    await decide(at);
    expect(await linesEverywhere(at)).toEqual([[line], [line], [line]]);
    expect(at.sent.join()).toMatch(/"data-request-decision".*"person":"ben"/);
  });

  test('an approval of several people names them all', async () => {
    const at = await site({ toolApproval: { book: { type: 'user-approval', quorum: 2 } } });
    await at.ada.answer(approve(approvalOf(at.asked(at.ada))));
    await waitUntil(() => at.ada.state.sending.size === 0);
    await at.ben.refresh();
    await at.ben.answer(approve(approvalOf(at.asked())));
    const line = 'Approved by ada, ben';
    expect(await linesEverywhere(at)).toEqual([[line], [line], [line]]);
  });

  test('a rejection of what others had approved names the one who rejected it', async () => {
    const at = await site({ toolApproval: { book: { type: 'user-approval', quorum: 2 } } });
    await at.ada.answer(approve(approvalOf(at.asked(at.ada))));
    await waitUntil(() => at.ada.state.sending.size === 0);
    await at.ben.refresh();
    await at.ben.answer(reject(approvalOf(at.asked()), 'No'));
    const line = 'Rejected by ben: No';
    expect(await linesEverywhere(at)).toEqual([[line], [line], [line]]);
  });

  test.each(['Answered', 'Skipped'])('a question that was %s', async (how) => {
    const at = await site({}, [ask]);
    const [open] = at.ben.requests;
    if (open?.request.type !== 'question-request') throw new Error('No question.');
    const { request } = open;
    const { requestId } = request;
    const key = request.fields[0]?.key ?? '';
    const answers = [{ key, optionIds: [], text: 'Aisle' }];
    await at.ben.answer(
      how === 'Skipped'
        ? { type: 'question-response', requestId, status: 'dismissed' }
        : { type: 'question-response', requestId, status: 'answered', answers },
    );
    const line = `${how} by ben`;
    expect(await linesEverywhere(at)).toEqual([[line], [line], [line]]);
  });
});

test('an approval that no longer counts is not shown as the decision, whoever has ended it', async () => {
  const at = await site();
  const thread = await at.agent.thread('t');
  await at.agent.respond(approve(approvalOf(at.asked())), thread, { principal: 'ben' });
  await at.agent.cancel(thread, 'Too late', { principal: 'ben' });
  await at.ben.refresh();
  expect(await linesEverywhere(at)).toEqual(
    Array.from({ length: 3 }, () => ['Cancelled by ben: Too late']),
  );
});

test('an approval that nobody in particular has ended is not shown as the decision', async () => {
  const at = await site();
  const thread = await at.agent.thread('t');
  await at.agent.respond(approve(approvalOf(at.asked())), thread, { principal: 'ben' });
  const { ask_question: asking } = questionTools();
  const later = at.world.agent({ tools: { book: asking } });
  await later.run([], await later.thread('t'));
  await at.ben.refresh();
  expect((await linesEverywhere(at)).join()).not.toContain('Approved by');
  expect(at.world.ran).toEqual([]);
});

test('whom nothing names decides nothing, and their principal stays on the server', async () => {
  const at = await site();
  const thread = await at.agent.thread('t');
  const answer = reject(approvalOf(at.asked()), 'No');
  const answering = at.agent.respond(answer, thread, { principal: { token: secret } });
  await expect(answering).rejects.toMatchObject({ code: 'invalid-input' });
  expect(JSON.stringify(thread.events)).not.toContain('"token"');
  await at.ben.refresh();
  expect(at.sent.join()).not.toContain('token');
});

test('an answer that is being sent is not shown as given', async () => {
  const at = await site();
  const before = linesOf(at.ben);
  const seen = new Set<string>();
  at.ben.subscribe(() => {
    if (at.ben.state.sending.size > 0) seen.add(linesOf(at.ben).join());
  });
  await at.ben.answer(reject(approvalOf(at.asked()), 'No'));
  await waitUntil(() => linesOf(at.ben).includes('Rejected by ben: No'));
  expect([...seen]).toEqual([before.join()]);
});

test('a request that is about no call of the thread says who answered it', async () => {
  const world = memoryWorld([{ text: 'Hello.' }]);
  const agent = world.agent();
  const { thread } = await agent.run('Hi', await agent.thread('t'));
  const request = await agent.requestApproval(thread, { text: 'Publish?' });
  await agent.respond(request.reject('No'), thread, { principal: { id: 'ben', secret } });
  const messages = JSON.stringify(await toUIMessages(thread));
  expect(messages).toContain('"answeredBy":"ben"');
  expect(messages).not.toContain(secret);
});
