import type { UIMessage } from 'ai';
import type { MayAnswer, ToolApprovalStatus } from 'holdpoint';
import { createUiHandler, toUIMessages } from 'holdpoint/ui';
import { describe, expect, test } from 'vitest';
import { book, memoryWorld } from '../support/travel-world.ts';
import { chatPage, chunksOf, lastText, openApprovals, post, toolParts } from './chat-page.ts';

const notEve: MayAnswer = ({ principal }) => principal !== 'Eve';

/** An agent whose chat Ada, Ben and Eve share: each has a page of the AI SDK. */
function office(status: ToolApprovalStatus, calls = [book('c1', 'Paris')]) {
  const world = memoryWorld([{ calls }, { text: 'Booked.' }, { text: 'All is well.' }]);
  const agent = world.agent({ toolApproval: { book: status }, mayAnswer: notEve });
  const handlerOf = (principal: string) =>
    createUiHandler({ agent, authorize: () => ({ principal }) });
  const page = (person: string, sendsHistory: boolean, messages: UIMessage[] = []) =>
    chatPage(handlerOf(person), { sendsHistory, messages });
  const thread = async () => agent.thread('t');
  const answeredBy = async () =>
    (await thread()).events.flatMap((event) =>
      event.type === 'request-answered' || event.type === 'request-voted' ? [event.principal] : [],
    );
  return { world, agent, handlerOf, page, thread, answeredBy };
}

type Page = ReturnType<ReturnType<typeof office>['page']>;

/** The messages as an app keeps them for everybody. */
function kept({ chat }: Page): UIMessage[] {
  return JSON.parse(JSON.stringify(chat.messages));
}

/** What Eve's browser has kept: her click, and nothing that came after it. */
function withClicks(messages: UIMessage[], reason?: string): UIMessage[] {
  return messages.map((message) => ({
    ...message,
    parts: message.parts.map((part) => {
      if (!('approval' in part) || part.state !== 'approval-requested') return part;
      const why = reason === undefined ? {} : { reason };
      const approval = { ...part.approval, approved: true as const, ...why };
      return { ...part, state: 'approval-responded' as const, approval };
    }),
  }));
}

describe.each([
  ['plain useChat', true],
  ['our transport', false],
])('people who share one history on the page’s route, with %s', (_name, sendsHistory) => {
  test('Eve is refused, sees the request open again and why, and her yes is not Ada’s', async () => {
    const at = office('user-approval');
    const ada = at.page('Ada', sendsHistory);
    await ada.chat.sendMessage({ text: 'Book' });
    const [id = ''] = openApprovals(ada.chat.messages);
    const eve = at.page('Eve', sendsHistory, kept(ada));
    for (let times = 0; times < 2; times += 1) {
      await eve.respond(id, true);
      expect(openApprovals(eve.chat.messages)).toEqual([id]);
      expect(eve.errors).toHaveLength(times + 1);
      expect(eve.errors[times]?.message).toContain('mayAnswer refused it');
    }
    const shared = at.page('Ada', sendsHistory, withClicks(kept(ada)));
    await shared.chat.sendMessage({ text: 'What is the status?' });
    await shared.quiet();
    expect(at.world.ran).toEqual([]);
    expect(await at.answeredBy()).toEqual([]);
    expect(shared.errors.at(-1)?.message).toContain('waits for 1 answer');
    expect(openApprovals(shared.chat.messages)).toEqual([id]);
    expect(shared.chat.messages.at(-1)?.role).toBe('assistant');
    await shared.respond(id, true);
    expect(lastText(shared.chat.messages)).toBe('Booked.');
    expect(await at.answeredBy()).toEqual(['Ada']);
  });

  test('with a reason, too, a yes that came with the messages is not lifted into the next message', async () => {
    const at = office('user-approval');
    const ada = at.page('Ada', sendsHistory);
    await ada.chat.sendMessage({ text: 'Book' });
    const shared = at.page('Ada', sendsHistory, withClicks(kept(ada), 'Cheap.'));
    await shared.chat.sendMessage({ text: 'What is the status?' });
    expect(shared.sent.at(-1)?.body).not.toHaveProperty('answers');
    expect(at.world.ran).toEqual([]);
    expect(openApprovals(shared.chat.messages)).toHaveLength(1);
  });

  test('Ada votes and sees it open again under another id; Ben’s message is no vote, his click is', async () => {
    const at = office({ type: 'user-approval', quorum: 2 });
    const ada = at.page('Ada', sendsHistory);
    await ada.chat.sendMessage({ text: 'Book' });
    const [id = ''] = openApprovals(ada.chat.messages);
    await ada.respond(id, true);
    const [next = ''] = openApprovals(ada.chat.messages);
    expect(next).not.toBe(id);
    const clicked = withClicks(kept(ada));
    const ben = at.page('Ben', sendsHistory, clicked);
    await ben.chat.sendMessage({ text: 'Hello' });
    expect(await at.answeredBy()).toEqual(['Ada']);
    expect(openApprovals(ben.chat.messages)).toEqual([next]);
    await ben.respond(next, true);
    expect(await at.answeredBy()).toEqual(['Ada', 'Ben']);
    expect(lastText(ben.chat.messages)).toBe('Booked.');
    expect(at.world.ran).toHaveLength(1);
  });

  test('a retry, a regenerated reply and an edited message make no yes of what they carry', async () => {
    const at = office('user-approval');
    const ada = at.page('Ada', sendsHistory);
    await ada.chat.sendMessage({ text: 'Book' });
    const shared = at.page('Ada', sendsHistory, withClicks(kept(ada), 'Cheap.'));
    await shared.chat.regenerate();
    await shared.quiet();
    const [id = ''] = openApprovals(shared.chat.messages);
    const again = at.page('Ada', sendsHistory, withClicks(kept(ada), 'Cheap.'));
    await again.chat.sendMessage({ text: 'Hello' });
    await again.chat.regenerate();
    await again.chat.sendMessage({ text: ' ' });
    await again.quiet();
    expect(await at.answeredBy()).toEqual([]);
    expect(at.world.ran).toEqual([]);
    await shared.respond(id, false, 'too dear');
    expect(await at.answeredBy()).toEqual(['Ada']);
    expect(toolParts(shared.chat.messages).at(-1)?.state).toBe('output-denied');
  });
});

test('a yes in a tab that has not seen a vote changes nothing, and the tab shows what is asked now; a no stops the call', async () => {
  const at = office({ type: 'user-approval', quorum: 2 });
  const ada = at.page('Ada', true);
  await ada.chat.sendMessage({ text: 'Book' });
  const [id = ''] = openApprovals(ada.chat.messages);
  const ben = at.page('Ben', true, kept(ada));
  const cy = at.page('Cy', true, kept(ada));
  await ada.respond(id, true);
  await ben.respond(id, true);
  expect(await at.answeredBy()).toEqual(['Ada']);
  expect(openApprovals(ben.chat.messages)).toEqual(openApprovals(ada.chat.messages));
  expect(ben.errors).toEqual([]);
  await cy.respond(id, false, 'too dear');
  expect(await at.answeredBy()).toEqual(['Ada', 'Cy']);
  expect(cy.errors).toEqual([]);
  expect(at.world.ran).toEqual([]);
});

test('our transport sends Ada’s click, and not the part of Eve that stood beside it', async () => {
  const at = office('user-approval', [book('c1', 'Paris'), book('c2', 'Rome')]);
  const ada = at.page('Ada', false);
  await ada.chat.sendMessage({ text: 'Book' });
  const [paris = '', rome = ''] = openApprovals(ada.chat.messages);
  const open = kept(ada).at(-1)?.parts ?? [];
  const mixed = withClicks(kept(ada)).map((message) => ({
    ...message,
    parts: message.parts.map((part, index) =>
      'approval' in part && part.approval?.id === rome ? (open[index] ?? part) : part,
    ),
  }));
  const shared = at.page('Ada', false, mixed);
  await shared.respond(rome, true);
  expect(shared.sent).toMatchObject([{ body: { answers: [{ requestId: rome }] } }]);
  expect(openApprovals(shared.chat.messages)).toEqual([paris]);
  expect(at.world.ran).toMatchObject([{ input: { city: 'Rome' } }]);
  expect((await at.thread()).activeRequests).toMatchObject([{ requestId: paris }]);
});

test('all parts at the very end are their sender’s, also one that was refused from Eve; earlier ones are nobody’s', async () => {
  const at = office('user-approval', [book('c1', 'Paris'), book('c2', 'Rome')]);
  const ada = at.page('Ada', true);
  await ada.chat.sendMessage({ text: 'Book' });
  const messages = withClicks(kept(ada));
  const body = { id: 't', trigger: 'submit-message' };
  const [asked, reply] = messages;
  const hello = { id: 'h', role: 'user', parts: [{ type: 'text', text: 'Hello' }] };
  const later = { ...reply, parts: [...(reply?.parts ?? []), { type: 'step-start' }] };
  const eve = await at.handlerOf('Eve')(post({ ...body, messages }));
  const chunks = await chunksOf(eve);
  expect(chunks.filter(({ type }) => type === 'tool-approval-request')).toHaveLength(2);
  expect(chunks.at(-1)).toMatchObject({ type: 'error' });
  for (const history of [
    [asked, reply, hello],
    [asked, later],
    [asked, reply, { id: 'x', role: 'assistant', parts: [] }],
  ]) {
    await (await at.handlerOf('Ada')(post({ ...body, messages: history }))).text();
  }
  const named = { ...body, messages: [asked, reply, hello], messageId: reply?.id };
  await (await at.handlerOf('Ada')(post(named))).text();
  expect(await at.answeredBy()).toEqual([]);
  await (await at.handlerOf('Ada')(post({ ...body, messages }))).text();
  expect(await at.answeredBy()).toEqual(['Ada', 'Ada']);
  expect(at.world.ran).toHaveLength(2);
});

test('a page’s own answer is recorded although the message beside it is not, and the rest is asked again', async () => {
  const at = office('user-approval', [book('c1', 'Paris'), book('c2', 'Rome')]);
  const ada = at.page('Ada', true);
  await ada.chat.sendMessage({ text: 'Book' });
  const [, rome = ''] = openApprovals(ada.chat.messages);
  const answers = [{ type: 'approval-response', requestId: rome, approved: true }];
  const hello = { id: 'h', role: 'user', parts: [{ type: 'text', text: 'Hello' }] };
  const messages = [...withClicks(kept(ada)), hello];
  const chunks = await chunksOf(await at.handlerOf('Ada')(post({ id: 't', messages, answers })));
  expect(chunks.map(({ type }) => type)).toEqual([
    'start',
    'data-stale',
    'start-step',
    'tool-input-available',
    'tool-approval-request',
    'finish-step',
    'message-metadata',
    'error',
  ]);
  expect(at.world.ran).toMatchObject([{ input: { city: 'Rome' } }]);
  expect(JSON.stringify((await at.thread()).messages)).not.toContain('Hello');
});

test('a reloaded page shows an answered request under the id of its last vote, as a page that followed it', async () => {
  const at = office({ type: 'user-approval', quorum: 2 });
  const ada = at.page('Ada', true);
  await ada.chat.sendMessage({ text: 'Book' });
  await ada.respond(openApprovals(ada.chat.messages)[0] ?? '', true);
  const { activeRequests } = await at.thread();
  await at.agent.withdraw(await at.thread(), activeRequests[0]?.requestId ?? '', {
    principal: 'Ada',
  });
  const [open = ''] = openApprovals(await toUIMessages(await at.thread()));
  expect(open).toBe(`${activeRequests[0]?.requestId}#2`);
});
