import type { Chat } from '@ai-sdk/react';
import { convertToModelMessages, generateText, type UIMessage } from 'ai';
import { inertTools, plainMessages } from 'holdpoint/middleware';
import { questionTools } from 'holdpoint/tools';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { book, look } from '../support/travel-world.ts';
import { providerKits } from '../providers/model-kits.ts';
import { inMemoryKit } from '../support/scripted-model.ts';
import { chatServer, toolParts } from './chat-world.ts';
import { heldWorld, scriptedWorld } from './held-world.ts';
import { waitFor } from '../support/waiting.ts';
import { pickCases } from '../support/sampling.ts';

/* Where a test wants an error, the AI SDK would print it. */
beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
});

/** What a page shows of the calls: their ids and states. */
function shown(chat: Chat<UIMessage>): string[] {
  return toolParts(chat).map(({ toolCallId, state }) => `${toolCallId} ${state}`);
}

function openRequests(chat: Chat<UIMessage>): string[] {
  return toolParts(chat).flatMap(({ state, approval }) =>
    state === 'approval-requested' && approval !== undefined ? [approval.id] : [],
  );
}

function textOf({ messages }: Chat<UIMessage>): string {
  const parts = messages.at(-1)?.parts ?? [];
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** Decides on every open request, as clicks do; the chat sends by itself when all are decided. */
async function decide(chat: Chat<UIMessage>, ...approvals: boolean[]): Promise<void> {
  for (const [index, id] of openRequests(chat).entries()) {
    await chat.addToolApprovalResponse({
      id,
      approved: approvals[index] === true,
      ...(approvals[index] === true ? {} : { reason: 'too far' }),
    });
  }
  await waitFor(() => expect(chat.status).toBe('ready'));
}

const booked = { text: 'All done.' };

describe.each(['none', 'inert'])('useChat over a ToolLoopAgent, tools of the call: %s', (kind) => {
  const serve = ({ model, tools }: ReturnType<typeof scriptedWorld>) =>
    chatServer(model, kind === 'inert' ? inertTools(tools) : {});

  test('lost replies are sent again on retry: nothing is written, asked or run twice', async () => {
    const world = scriptedWorld([
      { text: 'I look. ', calls: [look('c1', 'Rome')] },
      { text: 'I book. ', calls: [book('c2', 'Paris')] },
      booked,
    ]);
    const server = serve(world);
    const chat = server.chat();
    server.loseReply();
    await chat.sendMessage({ text: 'Book' });
    expect([chat.status, chat.messages.length]).toEqual(['error', 1]);
    await chat.regenerate();
    expect(textOf(chat)).toBe('I look. I book. ');
    expect(shown(chat)).toEqual(['c1 output-available', 'c2 approval-requested']);
    server.loseReply();
    const [id = ''] = openRequests(chat);
    await chat.addToolApprovalResponse({ id, approved: true });
    await waitFor(() => expect(chat.status).toBe('error'));
    await chat.sendMessage();
    expect(textOf(chat)).toBe('I look. I book. All done.');
    expect(shown(chat)).toEqual(['c1 output-available', 'c2 output-available']);
    expect(world.ran.map(({ name }) => name)).toEqual(['look', 'book']);
    expect(world.played.requests).toBe(3);
  });

  test('a request is approved on the page: one card, from asking to its result', async () => {
    const world = scriptedWorld([{ text: 'One moment.', calls: [book('c1', 'Paris')] }, booked]);
    const server = serve(world);
    const chat = server.chat();
    await chat.sendMessage({ text: 'Book' });
    expect(shown(chat)).toEqual(['c1 approval-requested']);
    await decide(chat, true);
    expect(shown(chat)).toEqual(['c1 output-available']);
    expect(textOf(chat)).toBe('One moment.All done.');
    expect(world.ran).toHaveLength(1);
    expect(server.bodies).toHaveLength(2);
  });

  test('two requests and a call without approval: one approved, one rejected with a reason', async () => {
    const calls = [book('c1', 'Paris'), look('c2', 'Rome'), book('c3', 'Oslo')];
    const world = scriptedWorld([{ calls }, booked]);
    const chat = serve(world).chat();
    await chat.sendMessage({ text: 'Book' });
    expect(shown(chat)).toEqual([
      'c1 approval-requested',
      'c2 output-available',
      'c3 approval-requested',
    ]);
    await decide(chat, true, false);
    expect(shown(chat)).toEqual(['c1 output-available', 'c2 output-available', 'c3 output-denied']);
    expect(world.ran.map(({ name }) => name)).toEqual(['look', 'book']);
    expect(JSON.stringify(world.played.prompts[1])).toContain('too far');
  });

  test('a reloaded page continues from the messages it kept', async () => {
    const world = scriptedWorld([{ calls: [book('c1', 'Paris')] }, booked, { text: 'Welcome.' }]);
    const server = serve(world);
    const before = server.chat();
    await before.sendMessage({ text: 'Book' });
    const after = server.chat(JSON.parse(JSON.stringify(before.messages)));
    await decide(after, true);
    expect(shown(after)).toEqual(['c1 output-available']);
    await after.sendMessage({ text: 'Thanks' });
    expect(textOf(after)).toBe('Welcome.');
    expect(world.ran).toHaveLength(1);
  });

  test('a page that lost the reply asks again, and gets what happened', async () => {
    const world = scriptedWorld([{ calls: [book('c1', 'Paris')] }, booked]);
    const server = serve(world);
    const chat = server.chat();
    await chat.sendMessage({ text: 'Book' });
    const kept: UIMessage[] = JSON.parse(JSON.stringify(chat.messages));
    await decide(chat, true);
    const reloaded = server.chat(kept);
    await decide(reloaded, true);
    expect(shown(reloaded)).toEqual(['c1 output-available']);
    expect(textOf(reloaded)).toBe('All done.');
    expect(world.ran).toHaveLength(1);
  });

  test('two tabs that contradict each other: the first answer stands, and the other tab can continue', async () => {
    const world = scriptedWorld([{ calls: [book('c1', 'Paris')] }, booked, { text: 'Yes?' }]);
    const server = serve(world);
    const chat = server.chat();
    await chat.sendMessage({ text: 'Book' });
    const other = server.chat(JSON.parse(JSON.stringify(chat.messages)));
    await decide(chat, false);
    const [id = ''] = openRequests(other);
    await other.addToolApprovalResponse({ id, approved: true });
    await waitFor(() => expect(other.error?.message).toContain('the first answer stands'));
    await other.sendMessage({ text: 'Hello?' });
    expect(textOf(other)).toBe('Yes?');
    expect(world.ran).toEqual([]);
  });

  test('a message instead of an answer is an error on the page, and the request stays', async () => {
    const world = scriptedWorld([{ calls: [book('c1', 'Paris')] }, booked]);
    const chat = serve(world).chat();
    await chat.sendMessage({ text: 'Book' });
    await chat.sendMessage({ text: 'And Rome' });
    expect(chat.error?.message).toContain('waits for 1 answer');
    expect((await world.agent.thread('chat-1')).activeRequests).toHaveLength(1);
  });
});

test('a question waits on the page; its answer is in the body of the next request', async () => {
  const ask = { id: 'q1', name: 'ask_question', input: { question: 'Which day?' } };
  const options = { tools: questionTools(), toolApproval: {} };
  const world = scriptedWorld([{ calls: [ask] }, { text: 'Friday it is.' }], options);
  const chat = chatServer(world.model).chat();
  await chat.sendMessage({ text: 'Book' });
  expect(shown(chat)).toEqual(['q1 input-available']);
  const { requests } = Object(chat.messages.at(-1)?.metadata);
  const [{ requestId, fields }] = requests;
  const answer = { type: 'question-response', requestId, status: 'answered' };
  const answers = [{ ...answer, answers: [{ key: fields[0].key, optionIds: [], text: 'Friday' }] }];
  await chat.sendMessage(undefined, { body: { answers } });
  expect(shown(chat)).toEqual(['q1 output-available']);
  expect(textOf(chat)).toBe('Friday it is.');
});

describe.each([inMemoryKit, ...pickCases(providerKits)])('with $name', (kit) => {
  test('a chat with two approvals, and a word afterwards', async () => {
    await using played = await kit.play([
      { reasoning: 'Two.', text: 'One moment.', calls: [book('c1', 'Paris'), book('c2', 'Oslo')] },
      booked,
      { text: 'You are welcome.' },
    ]);
    const { model, ran } = heldWorld(played);
    const chat = chatServer(model).chat();
    await chat.sendMessage({ text: 'Book' });
    expect(openRequests(chat)).toHaveLength(2);
    await decide(chat, true, false);
    expect(textOf(chat)).toBe('One moment.All done.');
    await chat.sendMessage({ text: 'Thanks' });
    expect(textOf(chat)).toBe('You are welcome.');
    expect(ran).toMatchObject([{ name: 'book', input: { city: 'Paris' } }]);
    expect(played.violations ?? []).toEqual([]);
  });
});

test.each([true, false])(
  'the messages of a page are for a model without holdPoint too, after an answer of: %s',
  async (approved) => {
    const calls = [look('c1', 'Rome'), book('c2', 'Paris')];
    const world = scriptedWorld([{ text: 'I look. ', calls }, booked]);
    const chat = chatServer(world.model, inertTools(world.tools)).chat();
    await chat.sendMessage({ text: 'Book' });
    const open = await convertToModelMessages(chat.messages);
    await decide(chat, approved);
    const done = await convertToModelMessages(chat.messages);
    for (const kit of providerKits) {
      await using served = await kit.play([{ text: 'One.' }, { text: 'Two.' }]);
      for (const messages of [open, done]) {
        const title = { role: 'user', content: 'Write a title.' } as const;
        const { model } = served;
        await generateText({ model, messages: [...plainMessages(messages), title], maxRetries: 0 });
      }
      expect(served.violations).toEqual([]);
    }
  },
);
