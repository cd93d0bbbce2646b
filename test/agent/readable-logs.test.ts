import { tool } from 'ai';
import { type Agent, createAgent, later } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { scriptedModel } from 'holdpoint/testing';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book, cityInput } from '../support/travel-world.ts';
import { whichClass } from '../support/which-class.ts';

/** A thread on disk, for which a person is asked, and a new process that reads it. */
async function storedThread(made: unknown = 'booked') {
  const { model } = scriptedModel([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const store = sqliteStore(':memory:');
  const execute = async (): Promise<unknown> => made;
  const tools = { book: tool({ description: 'book', inputSchema: cityInput, execute }) };
  const open = (): Agent =>
    createAgent({ model, store, tools, toolApproval: { book: 'user-approval' } });
  const agent = open();
  const waiting = await agent.run('Book', await agent.thread('t'));
  const reread = async () => (await open().thread('t')).revision;
  return { agent, thread: waiting.thread, waiting, reread };
}

describe('what could not be read again is refused, and nothing is recorded:', () => {
  test.each([Number.NaN, Infinity])(
    'a request that expires after %s milliseconds',
    async (expiresAfterMs) => {
      const { agent, thread, reread } = await storedThread();
      const { revision } = thread;
      const asked = agent.requestApproval(thread, { text: 'Publish?', expiresAfterMs });
      expect(await errorCode(asked)).toBe('invalid-input');
      expect(await reread()).toBe(revision);
    },
  );

  test('a reason that is no text', async () => {
    const { agent, thread, reread } = await storedThread();
    const { revision } = thread;
    // @ts-expect-error -- apps pass on what they were sent.
    expect(await errorCode(agent.cancel(thread, 5))).toBe('invalid-input');
    expect(await reread()).toBe(revision);
  });

  test('a clock that has no time', async () => {
    const { model } = scriptedModel([{ text: 'Done.' }]);
    const store = sqliteStore(':memory:');
    const agent = createAgent({ model, store, now: () => Number.NaN });
    expect(await errorCode(agent.run('Hi', await agent.thread('t')))).toBe('invalid-input');
    expect((await agent.thread('t')).revision).toBe(0);
  });
});

test('tokens that a provider could not count are left out', async () => {
  const { model } = scriptedModel([{ text: 'Done.' }]);
  if (typeof model === 'string' || model.specificationVersion !== 'v4') throw new Error('Which?');
  const doGenerate: typeof model.doGenerate = async (options) => {
    const answer = await model.doGenerate(options);
    const { inputTokens } = answer.usage;
    return { ...answer, usage: { ...answer.usage, inputTokens: { ...inputTokens, total: NaN } } };
  };
  const store = sqliteStore(':memory:');
  const agent = createAgent({ model: { ...model, doGenerate }, store });
  await agent.run('Hi', await agent.thread('t'));
  const { events } = await createAgent({ model, store }).thread('t');
  const step = events.find(({ type }) => type === 'step-finished');
  expect(step).toMatchObject({ usage: { outputTokens: 10 } });
});

/** Says something else whenever it is read. */
function living() {
  let seen = 0;
  return {
    get seen() {
      seen += 1;
      return seen;
    },
  };
}

describe('what an app goes on changing is not in the log:', () => {
  test('who answered; and it stays the app’s own', async () => {
    const { agent, thread, waiting, reread } = await storedThread();
    const principal = Object.assign(living(), { id: 'ada' });
    const answers = waiting.approvalRequests.map((request) => request.approve());
    await agent.run(answers, thread, { principal });
    expect(thread.events).toContainEqual(
      expect.objectContaining({ principal: { id: 'ada', seen: expect.any(Number) } }),
    );
    expect(Object.isFrozen(principal)).toBe(false);
    expect(await reread()).toBe(thread.revision);
  });

  test('what a tool is reached by, and what an answer notes', async () => {
    const { agent, thread, waiting, reread } = await storedThread(later);
    await agent.run(
      waiting.approvalRequests.map((request) => request.approve()),
      thread,
    );
    const { requestId } = await agent.requestAnswer(thread, 'c1', whichClass, {
      replyTo: living(),
    });
    expect(await reread()).toBe(thread.revision);
    const answers = [{ key: 'class', optionIds: ['first'] }];
    const answered = { type: 'question-response', requestId, status: 'answered', answers } as const;
    await agent.respond({ ...answered, metadata: living() }, thread);
    expect(await reread()).toBe(thread.revision);
  });
});
