import { generateText, type ModelMessage, wrapLanguageModel, type ToolSet } from 'ai';
import { createAgent, memoryStore } from 'holdpoint';
import {
  answerMessage,
  approvalRequestsOf,
  holdPoint,
  listOpenRequests,
  resumeMessage,
} from 'holdpoint/middleware';
import { scriptedModel } from 'holdpoint/testing';
import { questionTools } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import type { ScriptedStep } from '../support/script.ts';
import { book } from '../support/travel-world.ts';
import { answering, ofThread, requestsIn, scriptedWorld, ways } from './held-world.ts';
import { pickCases } from '../support/sampling.ts';

const user = (content: string): ModelMessage => ({ role: 'user', content });
const asking: ScriptedStep[] = [
  { text: 'Let me see. ', calls: [book('c1', 'Paris')] },
  { text: 'Booked.' },
];

/** A loop that asked in a process which died: what is left is the store. */
async function askAndDie(options: Partial<Parameters<typeof holdPoint<ToolSet>>[0]> = {}) {
  const store = memoryStore();
  const world = scriptedWorld(asking, { ...options, store });
  const [way] = ways;
  if (way === undefined) throw new Error('A way was expected.');
  await way.ask({ model: world.model, messages: [user('Book')], ...ofThread() });
  /* The same model goes on to play its script; nothing else is shared with the process that died. */
  return { ...world, store, way };
}

describe.each(pickCases(ways))('a loop resumes without a message, with $name', ({ ask }) => {
  const resume = async (model: Parameters<typeof ask>[0]['model'], before: ModelMessage[] = []) =>
    ask({ model, messages: [...before, resumeMessage()], ...ofThread() });

  test('a request that is open is asked again, and nothing is recorded', async () => {
    const { model, store, agent, played } = await askAndDie();
    const { revision } = await agent.thread('t');
    const again = ask({ model, messages: [user('Are you there?')], ...ofThread() });
    expect(await errorCode(again)).toBe('requests-open');

    const result = await resume(model);
    const listed = await listOpenRequests({ store, threadId: 't' });
    expect(approvalRequestsOf(result)).toEqual(JSON.parse(JSON.stringify(listed)));
    expect(listed).toMatchObject([{ threadId: 't', toolCall: { input: { city: 'Paris' } } }]);
    expect(requestsIn(result.content)).toHaveLength(1);
    expect((await agent.thread('t')).revision).toBe(revision);
    expect(played.requests).toBe(1);
  });

  test('what was approved elsewhere runs once, and the reply can be had again', async () => {
    const { model, store, agent, ran, played } = await askAndDie();
    for (const request of await listOpenRequests({ store })) {
      if (request.type !== 'approval-request') throw new Error('An approval was expected.');
      await agent.respond(request.approve(), await agent.thread(request.threadId));
    }
    expect(ran).toEqual([]);
    expect((await resume(model)).text).toBe('Let me see. Booked.');
    expect((await resume(model)).text).toBe('Let me see. Booked.');
    expect(ran).toHaveLength(1);
    expect(played.requests).toBe(2);
    expect((await agent.thread('t')).messages.filter(({ role }) => role === 'user')).toHaveLength(
      1,
    );
  });

  test('a reply that a worker has fetched is returned without another', async () => {
    const { model, agent, played } = await askAndDie();
    const thread = await agent.thread('t');
    await agent.run(
      thread.activeApprovalRequests.map((request) => request.approve()),
      thread,
    );
    const result = await resume(model);
    expect(result.text).toBe('Let me see. Booked.');
    expect(result.providerMetadata).toMatchObject({
      holdpoint: { status: 'completed', requests: [] },
    });
    expect(played.requests).toBe(2);
  });

  test('neither a message nor an answer before it counts', async () => {
    const { model, agent, ran } = await askAndDie();
    const { revision, activeApprovalRequests } = await agent.thread('t');
    const answers = activeApprovalRequests.map((request) => request.approve());
    for (const before of [
      [user('Book Rome, too.')],
      [answerMessage(...answers)],
      [user('Book'), answering(answers.map(({ requestId }) => requestId))],
    ]) {
      const result = await resume(model, before);
      expect(approvalRequestsOf(result)).toHaveLength(1);
    }
    expect((await agent.thread('t')).revision).toBe(revision);
    expect(ran).toEqual([]);
  });

  test('before another message it is history', async () => {
    const { model, agent } = scriptedWorld([{ text: 'Hello.' }]);
    await ask({ model, messages: [resumeMessage(), user('Hi')], ...ofThread() });
    expect((await agent.thread('t')).messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
    ]);
  });

  test('a turn that a person stopped stays stopped', async () => {
    const store = memoryStore();
    const { model, agent, played } = scriptedWorld([{ fail: 'overloaded' }, { text: 'No.' }], {
      store,
    });
    const failed = ask({ model, messages: [user('Book')], ...ofThread() });
    await expect(failed).rejects.toThrow('overloaded');
    await agent.stop(await agent.thread('t'));
    expect((await resume(model)).text).toBe('');
    expect(played.requests).toBe(1);
  });
});

const history: ModelMessage[] = [user('Hi'), { role: 'assistant', content: 'Hello.' }];
const answers = [{ type: 'approval-response', requestId: 'r', approved: true }];

test.each([
  { what: 'a thread that does not exist', code: 'not-found', messages: [], more: {} },
  { what: 'one that could begin with a history', code: 'not-found', messages: history, more: {} },
  { what: 'answers beside it', code: 'invalid-input', messages: [], more: { answers } },
])('a call with resumeMessage is refused for $what', async ({ code, messages, more }) => {
  const store = memoryStore();
  const model = wrapLanguageModel({
    model: scriptedModel([{ text: 'Never.' }]).model,
    middleware: holdPoint({ store, history: 'import' }),
  });
  const all = [...messages, resumeMessage()];
  const call = generateText({ model, messages: all, maxRetries: 0, ...ofThread('t', more) });
  expect(await errorCode(call)).toBe(code);
  expect(await store.read('t')).toEqual([]);
});

test('two processes that resume at once run a call once', async () => {
  const { model, agent, way, ran } = await askAndDie();
  const thread = await agent.thread('t');
  await agent.respond(
    thread.activeApprovalRequests.map((request) => request.approve()),
    thread,
  );
  const call = { model, messages: [resumeMessage()], ...ofThread() };
  const results = await Promise.all([way.ask(call), way.ask(call)]);
  expect(ran).toHaveLength(1);
  expect(results.map(({ text }) => text)).toContain('Let me see. Booked.');
});

describe('the open requests', () => {
  test('of all threads, approvals and questions, are listed past one page', async () => {
    const input = { question: 'Which?', options: ['a', 'b'] };
    const { store, model } = scriptedWorld(
      [{ calls: [{ id: 'q1', name: 'user_choice', input }] }],
      {
        tools: questionTools(),
        toolApproval: {},
      },
    );
    const [way] = ways;
    await way?.ask({ model, messages: [user('Ask')], ...ofThread() });
    const agent = createAgent({ model: 'none', store });
    for (let count = 0; count < 120; count += 1) {
      const thread = await agent.thread(`thread-${count}`);
      await agent.requestApproval(thread, { key: 'k', text: 'Go on?' });
    }
    const listed = await listOpenRequests({ store });
    expect(listed.filter(({ type }) => type === 'question-request')).toHaveLength(1);
    expect(new Set(listed.map(({ threadId }) => threadId)).size).toBe(121);
  });

  test('are those of the named agent, and of the clock that it has', async () => {
    const store = memoryStore();
    const agent = createAgent({ model: 'none', name: 'sales', store, now: () => 1000 });
    const thread = await agent.thread('t');
    await agent.requestApproval(thread, { key: 'k', text: 'Go on?', expiresAfterMs: 1000 });
    const at = async (now: number, more: object = {}) =>
      (await listOpenRequests({ store, name: 'sales', now: () => now, ...more })).length;
    expect(await listOpenRequests({ store, now: () => 1000 })).toEqual([]);
    expect([await at(1999), await at(1999, { threadId: 't' })]).toEqual([1, 1]);
    expect([await at(2000), await at(2000, { threadId: 't' })]).toEqual([0, 0]);
    expect(await listOpenRequests({ store, threadId: 'unknown' })).toEqual([]);
  });

  test.each([undefined, null, '', 7])('a threadId of %s lists nobody’s requests', async (id) => {
    const { store } = await askAndDie();
    const options = Object.assign({ store }, { threadId: id });
    /* @ts-expect-error -- A value from outside, in JavaScript. */
    await expect(listOpenRequests(options)).rejects.toThrow(TypeError);
  });
});
