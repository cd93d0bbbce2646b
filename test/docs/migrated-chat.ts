import { compileFunction } from 'node:vm';
import { Chat } from '@ai-sdk/react';
import { isStepCount, isToolUIPart, type UIMessage } from 'ai';
import type { Agent, ThreadStore } from 'holdpoint';
import { ThreadChat } from 'holdpoint/ui';
import { expect } from 'vitest';
import { instructions, lastWords, question } from '../support/bakery.ts';
import { waitFor } from '../support/waiting.ts';
import { chatPage, type Handler, openApprovals, origin, urlOf } from '../ui/chat-page.ts';
import { afterOf, guide, opened, storeFile } from './guide-steps.ts';
import { runBlock } from './run-block.ts';

/* A chat, and the steps of the guide for its route and its page. */

/** What a page shows of its messages, without the ids that each server makes. */
function shownOn(messages: readonly UIMessage[]): unknown[] {
  return messages.map(({ role, parts }) => ({
    role,
    parts: parts
      .filter(({ type }) => !type.startsWith('data-'))
      .map((part) => {
        if (!isToolUIPart(part)) return part.type === 'text' ? part.text : part.type;
        const { type, state, input, output, title, toolMetadata, approval } = part;
        const { approved, reason, requestReason } = approval ?? {};
        const decided = { approved, reason, requestReason };
        return { type, state, input, output, title, toolMetadata, decided };
      }),
  }));
}

/** What an app has, whether it is migrated or not. */
export type Settings = Record<'model' | 'tools' | 'toolApproval', unknown>;

const beforeRoute = `${guide}: From a \`useChat\` route, 1`;
const afterRoute = `${guide}: From a \`useChat\` route, 2`;
const authorize = () => ({ principal: 'ada' });

/** The route of an app before: the guide's, with the app's own settings. */
export async function makeUnheldRoute(settings: Settings): Promise<Handler> {
  const { names } = await runBlock<{ reply: (messages: UIMessage[]) => Promise<Response> }>(
    beforeRoute,
    { ...settings, stopWhen: isStepCount(5), instructions },
    [['    toolApproval,', '    toolApproval, stopWhen, instructions,']],
  );
  return async (request) => {
    const { messages }: { messages: UIMessage[] } = JSON.parse(await request.text());
    return names.reply(messages);
  };
}

/** The route after, as the guide makes it of the same settings. */
export async function makeHeldRoute(settings: Settings, store: ThreadStore) {
  const { names } = await runBlock<{ agent: Agent; handler: Handler }>(
    afterRoute,
    { ...settings, store, authorize, stopWhen: isStepCount(5), instructions },
    [['createAgent({', 'createAgent({ stopWhen, instructions,']],
  );
  return names;
}

/** A page of the AI SDK alone, whose person says yes to each request. Returns what it showed meanwhile and in the end. */
async function useUnheldPage(handler: Handler) {
  const { chat, quiet, respond, errors } = chatPage(handler, { sendsHistory: true });
  await chat.sendMessage({ text: question });
  await quiet();
  const asked = shownOn(chat.messages);
  const open = openApprovals(chat.messages);
  expect(open).toHaveLength(1);
  for (const id of open) await respond(id, true);
  expect(errors).toEqual([]);
  return { asked, paid: shownOn(chat.messages) };
}

/** A page as the guide has it after: `useThreadChat` without React. */
export async function openHeldPage(handler: Handler) {
  const thread = new ThreadChat((init) => new Chat<UIMessage>(init), {
    id: 't',
    fetch: async (url, init) => handler(new Request(new URL(urlOf(url), origin), init)),
  });
  opened.push(thread);
  await thread.open();
  return thread;
}

/** Answers as the guide says, in its own words. */
export async function answerOnPage(thread: ThreadChat<Chat<UIMessage>>): Promise<void> {
  const after = afterOf(guide, 'From a `useChat` page', 'addToolApprovalResponse(');
  const answer = compileFunction(`return ${after};`, ['answer', 'requestId', 'approved', 'reason']);
  expect(thread.requests).toHaveLength(1);
  for (const { requestId } of thread.requests)
    await Reflect.apply(answer, undefined, [thread.answer, requestId, true]);
  await waitFor(() => expect(thread.requests).toEqual([]));
  await waitFor(() => expect(thread.chat.status).toBe('ready'));
}

/** Migrates a chat: first its route, then its page, and then it is opened by another process. */
export async function migrateChat(
  settings: () => Promise<Settings>,
  paid: string[],
): Promise<void> {
  const before = await useUnheldPage(await makeUnheldRoute(await settings()));
  expect(before.paid.at(-1)).toMatchObject({ parts: expect.arrayContaining([lastWords]) });
  expect(paid.splice(0)).toEqual(['M-77']);

  const route = await makeHeldRoute(await settings(), storeFile()());
  expect(await useUnheldPage(route.handler)).toEqual(before);
  expect(paid.splice(0)).toEqual(['M-77']);

  const after = afterOf(guide, 'From a `useChat` page', 'useChat({');
  expect(after).toBe('useThreadChat({ id })');
  const open = storeFile();
  const page = await openHeldPage((await makeHeldRoute(await settings(), open())).handler);
  await page.chat.sendMessage({ text: question });
  expect(shownOn(page.chat.messages)).toEqual(before.asked);
  expect(paid).toEqual([]);

  const { handler, agent } = await makeHeldRoute(await settings(), open());
  const reloaded = await openHeldPage(handler);
  expect(shownOn(reloaded.chat.messages)).toEqual(before.asked);
  await answerOnPage(reloaded);
  expect(shownOn(reloaded.chat.messages)).toEqual(before.paid);
  const again = await openHeldPage(handler);
  expect(shownOn(again.chat.messages)).toEqual(shownOn(reloaded.chat.messages));
  expect(paid).toEqual(['M-77']);
  const { decisions } = await agent.thread('t');
  expect(decisions).toMatchObject([{ status: 'approved', principal: 'ada' }]);
}
