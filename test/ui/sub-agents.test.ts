import { Chat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import { type AgentOptions, approve, reject } from 'holdpoint';
import { approvalRequestSchema, questionRequestSchema } from 'holdpoint/schemas';
import { questionTools } from 'holdpoint/tools';
import { createUiHandler, ThreadChat, toUIMessages } from 'holdpoint/ui';
import { expect, test } from 'vitest';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';
import type { ScriptedStep } from '../support/script.ts';
import { comparable, lastText, origin, toolParts, urlOf } from './chat-page.ts';
import { waitFor } from '../support/waiting.ts';

const both = [ask('c1', 'one', 'Ann, please.'), ask('c2', 'two', 'Bob, please.')];

/** A thread whose agent has two others work for it, and pages on it. */
function site(
  calls = both,
  one: ScriptedStep[] = [{ calls: [pay('p', 'Ann')] }, { text: 'Ann paid.' }],
  options: Partial<AgentOptions> = {},
) {
  const office = new AgentOffice();
  const two = [{ calls: [pay('p', 'Bob')] }, { text: 'Bob not paid.' }];
  const tools = { pay: office.pay, ...questionTools() };
  const manager = office.agent('manager', [{ calls }, { text: 'Done.' }], {
    tools: {
      one: office.tool(office.payer('one', one, { tools })),
      two: office.tool(office.payer('two', two)),
    },
    ...options,
  });
  const handler = createUiHandler({ agent: manager, authorize: () => ({ principal: 'ann' }) });
  const page = async () => {
    const thread = new ThreadChat((init) => new Chat<UIMessage>(init), {
      id: 't',
      api: '/chat',
      fetch: async (input, init) => handler(new Request(new URL(urlOf(input), origin), init)),
    });
    await thread.open();
    return thread;
  };
  const stored = async () => comparable(await toUIMessages(await manager.thread('t')));
  return { office, manager, page, stored };
}

type Page = Awaited<ReturnType<ReturnType<typeof site>['page']>>;

/** The requests that a page shows in data parts, with their ends; siblings ask in any order. */
function shown({ chat }: Page, type = 'data-approval-request') {
  return chat.messages
    .flatMap(({ parts }) => parts)
    .flatMap((part) => (part.type === type && 'data' in part ? [part.data] : []))
    .toSorted((first, second) =>
      JSON.stringify(Object(first).path) < JSON.stringify(Object(second).path) ? -1 : 1,
    );
}

/** What a page has to answer. */
function requestOf(data: unknown) {
  const { answer: _answer, closed: _closed, ...request } = Object(data);
  return approvalRequestSchema.parse(request);
}

test('a page shows what a sub-agent asks: its own call and the path to it, live and loaded', async () => {
  const { page, stored } = site();
  const live = await page();
  await live.chat.sendMessage({ text: 'Pay both.' });
  expect(shown(live)).toMatchObject([
    {
      toolCall: { toolCallId: 'p', toolName: 'pay', input: { to: 'Ann' } },
      path: [{ agent: 'one', toolCallId: 'c1', toolName: 'one' }],
      threadId: 't',
      requestedBy: 'ann',
    },
    { toolCall: { toolName: 'pay', input: { to: 'Bob' } }, path: [{ agent: 'two' }] },
  ]);
  expect(comparable(live.chat.messages)).toEqual(await stored());
  const second = await page();
  expect(comparable(second.chat.messages)).toEqual(await stored());
});

test('the calls on which agents work are shown as in progress, and never with a result', async () => {
  const { page } = site();
  const live = await page();
  await live.chat.sendMessage({ text: 'Pay both.' });
  expect(toolParts(live.chat.messages)).toMatchObject([
    { toolCallId: 'c1', state: 'input-available' },
    { toolCallId: 'c2', state: 'input-available' },
  ]);
  expect(live.chat.messages.at(-1)?.metadata).toMatchObject({ status: 'waiting' });
});

test('a call that was approved itself, and on which an agent works, has a preliminary output until that has replied', async () => {
  const { manager, page, stored } = site([ask('c1', 'one', 'Ann, please.')], undefined, {
    toolApproval: { one: 'user-approval' },
  });
  const live = await page();
  await live.chat.sendMessage({ text: 'Pay Ann.' });
  const [outer] = (await manager.thread('t')).activeApprovalRequests;
  if (outer === undefined) throw new Error('A request was expected.');
  await live.answer(outer.approve());
  await waitFor(() => expect(shown(live)).toHaveLength(1), 5_000);
  await waitFor(
    () =>
      expect(toolParts(live.chat.messages)).toMatchObject([
        { state: 'output-available', preliminary: true, output: { status: 'deferred' } },
      ]),
    5_000,
  );
  expect(comparable(live.chat.messages)).toEqual(await stored());
  const [inner] = shown(live).map(requestOf);
  if (inner === undefined) throw new Error('A request was expected.');
  await live.answer(approve(inner));
  await waitFor(() => expect(lastText(live.chat.messages)).toBe('Done.'), 5_000);
  expect(toolParts(live.chat.messages)).toMatchObject([{ output: 'Ann paid.' }]);
});

test('several are answered at once from two pages, and each answer reaches its own agent', async () => {
  const { office, page, stored } = site();
  const live = await page();
  await live.chat.sendMessage({ text: 'Pay both.' });
  const second = await page();
  const [ofOne, ofTwo] = shown(second).map(requestOf);
  if (ofOne === undefined || ofTwo === undefined) throw new Error('Two requests were expected.');
  await Promise.all([second.answer(approve(ofOne)), second.answer(reject(ofTwo, 'Not Bob.'))]);
  await waitFor(() => expect(lastText(second.chat.messages)).toBe('Done.'), 5_000);
  expect(office.payments).toMatchObject([{ to: 'Ann' }]);
  expect(toolParts(second.chat.messages)).toMatchObject([
    { state: 'output-available', output: 'Ann paid.' },
    { state: 'output-available', output: 'Bob not paid.' },
  ]);
  expect(shown(second)).toMatchObject([
    { toolCall: { input: { to: 'Ann' } }, answer: { approved: true } },
    { toolCall: { input: { to: 'Bob' } }, answer: { approved: false } },
  ]);
  await live.refresh();
  for (const each of [live, second]) expect(comparable(each.chat.messages)).toEqual(await stored());
});

test('an answer to something else than the page showed is refused', async () => {
  const { office, page } = site();
  const live = await page();
  await live.chat.sendMessage({ text: 'Pay both.' });
  const [request] = shown(live).map(requestOf);
  if (request === undefined) throw new Error('A request was expected.');
  await live.answer({ ...approve(request), digest: 'another' });
  expect(live.state.problem).toMatchObject({ type: 'refused', code: 'answer-mismatch' });
  expect(office.payments).toEqual([]);
});

test('a question of a sub-agent is asked and answered on the page', async () => {
  const input = { question: 'Which Ann?', options: '["Ann B.", "Ann C."]' };
  const asks = [{ calls: [{ id: 'q', name: 'user_choice', input }] }, { text: 'It is Ann B.' }];
  const { page } = site([ask('c1', 'one', 'Find her.')], asks);
  const live = await page();
  await live.chat.sendMessage({ text: 'Find Ann.' });
  const [request] = shown(live, 'data-question-request').map((data) =>
    questionRequestSchema.parse(data),
  );
  expect(request).toMatchObject({
    text: 'Which Ann?',
    path: [{ agent: 'one' }],
    toolCall: { toolName: 'user_choice', input },
  });
  const { requestId = '', fields: [field] = [] } = request ?? {};
  const answers = [{ key: field?.key ?? '', optionIds: [field?.options[0]?.id ?? ''] }];
  await live.answer({ type: 'question-response', requestId, status: 'answered', answers });
  await waitFor(() => expect(lastText(live.chat.messages)).toBe('Done.'), 5_000);
  expect(toolParts(live.chat.messages)).toMatchObject([{ output: 'It is Ann B.' }]);
});
