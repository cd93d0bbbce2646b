import type { ModelMessage } from 'ai';
import { answerMessage, approvalRequestsOf } from 'holdpoint/middleware';
import type { MayAnswer, ToolApprovalStatus } from 'holdpoint';
import { describe, expect, test, vi } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book } from '../support/travel-world.ts';
import { chatServer, toolParts } from './chat-world.ts';
import {
  answering,
  type Got,
  ofThread,
  requestsIn,
  scriptedWorld,
  type Way,
  ways,
} from './held-world.ts';
import { waitFor } from '../support/waiting.ts';
import { pickCases } from '../support/sampling.ts';

const user = (content: string): ModelMessage => ({ role: 'user', content });
const status = user('What is the status?');
const notEve: MayAnswer = ({ principal }) => principal !== 'Eve';

function office(approval: ToolApprovalStatus, calls = [book('c1', 'Paris')]) {
  const script = [{ calls }, { text: 'Booked.' }, { text: 'All is well.' }];
  const toolApproval = { book: approval };
  return scriptedWorld(script, { toolApproval, mayAnswer: notEve });
}

/** Ada has asked for a flight, and keeps one history with Ben and Eve. */
async function asked(way: Way, approval: ToolApprovalStatus, calls?: ReturnType<typeof book>[]) {
  const world = office(approval, calls);
  const say = async (principal: string, messages: ModelMessage[], more = {}): Promise<Got> =>
    way.ask({ model: world.model, messages, ...ofThread('t', { principal, ...more }) });
  const first = await say('Ada', [user('Book')]);
  const history = [user('Book'), ...first.responseMessages];
  const thread = async () => world.agent.thread('t');
  const answeredBy = async () =>
    (await thread()).events.flatMap((event) =>
      event.type === 'request-answered' || event.type === 'request-voted' ? [event.principal] : [],
    );
  const requests = approvalRequestsOf(first);
  const [id = ''] = requestsIn(first.content);
  return { ...world, say, history, requests, id, thread, answeredBy };
}

describe.each(pickCases(ways))(
  'Ada, Ben and Eve share a history behind holdPoint, with $name',
  (way) => {
    test('Ada edits, and Ben’s yes counts for what he was shown: the edited call, not the one before', async () => {
      const at = await asked(way, { type: 'user-approval', quorum: 2, editable: true });
      const edits = at.requests.map((request) => request.approve({ input: { city: 'Rome' } }));
      const edited = await at.say('Ada', [...at.history, answerMessage(...edits)]);
      const [next = ''] = requestsIn(edited.content);
      expect(edited.content).toContainEqual(
        expect.objectContaining({ type: 'tool-call', input: { city: 'Rome' } }),
      );
      await at.say('Ben', [...at.history, answering([at.id])]);
      expect(await at.answeredBy()).toEqual(['Ada']);
      await at.say('Ben', [...at.history, ...edited.responseMessages, answering([next])]);
      expect(await at.answeredBy()).toEqual(['Ada', 'Ben']);
      expect(at.ran).toMatchObject([{ input: { city: 'Rome' } }]);
    });

    test.each(['part', 'message'])(
      'Eve’s %s is refused, and Ada’s question is no yes',
      async (kind) => {
        const at = await asked(way, 'user-approval');
        const inMessage = answerMessage(...at.requests.map((request) => request.approve()));
        const yes = kind === 'part' ? answering([at.id]) : inMessage;
        expect(await errorCode(at.say('Eve', [...at.history, yes]))).toBe('not-allowed');
        const { revision } = await at.thread();
        const reply = await at.say('Ada', [...at.history, yes, status]);
        expect(at.ran).toEqual([]);
        expect(await at.answeredBy()).toEqual([]);
        expect((await at.thread()).revision).toBe(revision);
        /* The request is open again in the reply, which says that the message was not recorded. */
        expect(requestsIn(reply.content)).toEqual([at.id]);
        expect(approvalRequestsOf(reply)).toHaveLength(1);
        expect(reply.text).toContain('not recorded');
        expect(reply.finishReason).toBe('tool-calls');
        const shown = [...at.history, yes, status, ...reply.responseMessages];
        expect((await at.say('Ada', [...shown, answering([at.id])])).text).toBe('Booked.');
        expect(await at.answeredBy()).toEqual(['Ada']);
        expect(at.ran).toHaveLength(1);
      },
    );

    test('Ada votes, and neither Ben’s message nor the same history from him is his vote', async () => {
      const at = await asked(way, { type: 'user-approval', quorum: 2 });
      const yes = [...at.history, answering([at.id])];
      const voted = await at.say('Ada', yes);
      const [next = ''] = requestsIn(voted.content);
      expect(next).not.toBe(at.id);
      for (const messages of [yes, [...yes, user('Hello')]]) {
        const reply = await at.say('Ben', messages);
        expect(requestsIn(reply.content)).toEqual([next]);
        expect(await at.answeredBy()).toEqual(['Ada']);
        expect(at.ran).toEqual([]);
      }
      const shown = [...yes, ...voted.responseMessages];
      expect((await at.say('Ben', [...shown, answering([next])])).text).toBe('Booked.');
      expect(await at.answeredBy()).toEqual(['Ada', 'Ben']);
      expect(at.ran).toHaveLength(1);
      /* Ada’s own page sends its old yes once more. */
      expect((await at.say('Ada', yes)).text).toBe('Booked.');
      expect(at.ran).toHaveLength(1);
    });

    test('an approval from before a withdrawal does not count, and a rejection always stops the call', async () => {
      const at = await asked(way, { type: 'user-approval', quorum: 2 });
      const yes = [...at.history, answering([at.id])];
      const voted = await at.say('Ada', yes);
      await at.agent.withdraw(await at.thread(), at.requests[0]?.requestId ?? '', {
        principal: 'Ada',
      });
      const [next = ''] = requestsIn(voted.content);
      const late = [...yes, ...voted.responseMessages, answering([next])];
      expect(approvalRequestsOf(await at.say('Ben', late))[0]?.votes).toEqual([]);
      const invented = JSON.parse(JSON.stringify(late).replaceAll(next, `${at.id}#9`));
      expect(await errorCode(at.say('Ben', invented))).toBe('not-found');
      const no = answering([at.id], { approved: false, reason: 'too dear' });
      await at.say('Ben', [...at.history, no]);
      expect((await at.thread()).decisions).toMatchObject([{ status: 'rejected' }]);
      expect(at.ran).toEqual([]);
    });

    test('tool results, a retried request and an edited history do not make an earlier part count', async () => {
      const at = await asked(way, 'user-approval', [book('c1', 'Paris'), book('c2', 'Rome')]);
      const [paris, rome] = at.requests;
      if (paris === undefined || rome === undefined) throw new Error('Two requests were expected.');
      const eve = answering([paris.requestId]);
      const edited = [...at.history, eve, user('Book Oslo instead')];
      for (const messages of [edited, edited, [...at.history, eve, answerMessage(rome.reject())]]) {
        await at.say('Ada', messages);
      }
      expect(at.ran).toEqual([]);
      expect((await at.thread()).decisions).toMatchObject([{ status: 'rejected' }]);
      expect((await at.thread()).activeRequests).toMatchObject([{ requestId: paris.requestId }]);
    });

    test('all parts of the last message count for its sender, even one that was refused from Eve before', async () => {
      const at = await asked(way, 'user-approval', [book('c1', 'Paris'), book('c2', 'Rome')]);
      const ids = at.requests.map(({ requestId }) => requestId);
      const both = [...at.history, answering(ids)];
      expect(await errorCode(at.say('Eve', both))).toBe('not-allowed');
      expect((await at.say('Ada', both)).text).toBe('Booked.');
      expect(await at.answeredBy()).toEqual(['Ada', 'Ada']);
    });

    test('several messages of answers count together only where nothing else is sent', async () => {
      const at = await asked(way, 'user-approval', [book('c1', 'Paris'), book('c2', 'Rome')]);
      const answers = at.requests.map((request) => answerMessage(request.approve()));
      const open = approvalRequestsOf(await at.say('Ada', [user('Book'), ...answers]));
      expect(open).toMatchObject([{ requestId: at.requests[0]?.requestId }]);
      expect(at.ran).toMatchObject([{ input: { city: 'Rome' } }]);
      await at.say('Ada', answers);
      expect(at.ran).toHaveLength(2);
    });

    test('what Ada wrote before, and was answered elsewhere, is not recorded as Ben’s', async () => {
      const script = [{ fail: 'overloaded' }, { text: 'Hello Ada.' }, { text: 'Hello Ben.' }];
      const { model, agent } = scriptedWorld(script);
      const say = async (principal: string, ...words: string[]): Promise<Got> =>
        way.ask({ model, messages: words.map(user), ...ofThread('t', { principal }) });
      await expect(say('Ada', 'Book it.')).rejects.toThrow();
      const thread = await agent.thread('t');
      expect((await agent.run([], thread)).text).toBe('Hello Ada.');
      expect((await say('Ben', 'Book it.', 'Who is there?')).text).toBe('Hello Ben.');
      const { events } = await agent.thread('t');
      const said = events.flatMap((event) =>
        event.type === 'message-added'
          ? [[event.principal, JSON.stringify(event.message.content)]]
          : [],
      );
      expect(said).toEqual([
        ['Ada', expect.stringContaining('Book it.')],
        ['Ben', expect.stringContaining('Who is there?')],
      ]);
    });

    test('the same words, sent again before another message, are a new message', async () => {
      const script = [{ text: 'One.' }, { text: 'Two.' }];
      const { model, agent } = scriptedWorld(script);
      const say = async (messages: ModelMessage[]): Promise<Got> =>
        way.ask({ model, messages, ...ofThread('t', { principal: 'Ada' }) });
      const first = await say([user('Again.')]);
      await say([user('Again.'), ...first.responseMessages, user('Again.'), user('Now.')]);
      const { messages } = await agent.thread('t');
      expect(messages.filter(({ role }) => role === 'user')).toHaveLength(3);
    });

    test('a message that cancels open requests is recorded, whatever the history says', async () => {
      const at = await asked(way, 'user-approval');
      const messages = [...at.history, answering([at.id]), status];
      await at.say('Ada', messages, { whilePending: 'cancel' });
      expect(at.ran).toEqual([]);
      expect((await at.thread()).decisions).toMatchObject([{ status: 'cancelled' }]);
    });
  },
);

test('plain useChat: after a vote, and after a refusal, the last step asks again and the next click is sent', async () => {
  const { model, ran, agent } = office({ type: 'user-approval', quorum: 2 });
  let person = 'Ada';
  const server = chatServer(model, {}, () => person);
  const chat = server.chat();
  const click = async (): Promise<void> => {
    const [id = ''] = toolParts(chat).flatMap((part) =>
      part.state === 'approval-requested' ? [part.approval.id] : [],
    );
    const bodies = server.bodies.length;
    await chat.addToolApprovalResponse({ id, approved: true });
    await waitFor(() => expect(chat.status).toMatch(/ready|error/));
    expect(server.bodies).toHaveLength(bodies + 1);
  };
  vi.spyOn(console, 'error').mockImplementation(() => {});
  await chat.sendMessage({ text: 'Book' });
  person = 'Eve';
  await click();
  expect(chat.status).toBe('error');
  person = 'Ada';
  await click();
  expect((await agent.thread('chat-1')).activeApprovalRequests[0]?.votes).toHaveLength(1);
  person = 'Ben';
  /* The page is loaded from messages that the app has kept. */
  const kept = server.chat(JSON.parse(JSON.stringify(chat.messages)));
  await kept.sendMessage({ text: 'Hello' });
  expect(ran).toEqual([]);
  expect(toolParts(kept)).toMatchObject([{ state: 'approval-requested' }]);
  await click();
  expect(chat.status).toBe('ready');
  expect(toolParts(chat).at(-1)).toMatchObject({ state: 'output-available' });
  expect(ran).toHaveLength(1);
});
