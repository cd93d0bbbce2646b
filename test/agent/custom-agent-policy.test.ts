import { type Agent, createAgent, memoryStore, type MayAnswer } from 'holdpoint';
import { createCustomAgent, type CustomStep } from 'holdpoint/custom-agent';
import { describe, expect, test } from 'vitest';
import { answeredBy } from '../policy/office.ts';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { pickCases } from '../support/sampling.ts';

type Asked = Parameters<Agent['requestApproval']>[1];

const mayAnswer: MayAnswer = answeredBy({ owners: ['ann', 'bob', 'cy'], managers: ['dee'] });
const expiring = { expiresAfterMs: 1_000 } as const;

/** How the two kinds of requests that an app makes are made, and what the app then reads of their decision by the key. */
const ways = [
  {
    name: "a custom agent's step",
    async ask(asked: Omit<Asked, 'text'>) {
      const clock = { now: 0 };
      const store = memoryStore();
      const agent = createCustomAgent({
        name: 'asker',
        store,
        now: () => clock.now,
        mayAnswer,
        step: ({ input, decisions }): CustomStep => {
          if (input.length === 0) return { text: String(decisions.get('go')?.status) };
          return { requests: { go: { type: 'approval-request', text: 'Go?', ...asked } } };
        },
      });
      const thread = await agent.thread('t');
      await agent.run('Ask', thread, { principal: 'ann' });
      const decided = async () => (await agent.run([], thread)).text;
      return { clock, agent, thread, decided };
    },
  },
  {
    name: 'agent.requestApproval',
    async ask(asked: Omit<Asked, 'text'>) {
      const clock = { now: 0 };
      const { model } = scriptedModel([{ text: 'Hi.' }]);
      const agent = createAgent({ model, store: memoryStore(), now: () => clock.now, mayAnswer });
      const thread = await agent.thread('t');
      await agent.run('Hi', thread, { principal: 'ann' });
      const byKey = { key: 'go', text: 'Go?', ...asked };
      await agent.requestApproval(thread, byKey);
      /* The same request again: whatever became of it. */
      const decided = async () => {
        await agent.run([], thread);
        const { requestId } = await agent.requestApproval(thread, byKey);
        return thread.decisions.find(({ request }) => request.requestId === requestId)?.status;
      };
      return { clock, agent, thread, decided };
    },
  },
];

describe.each(pickCases(ways))('$name', ({ ask }) => {
  /** The open request of a kind. */
  const open = async (asked: Omit<Asked, 'text'>) => {
    const at = await ask(asked);
    const request = () => {
      const [found, ...more] = at.thread.activeApprovalRequests;
      if (found === undefined || more.length > 0) throw new Error('There is not one request.');
      return found;
    };
    return { ...at, request };
  };

  test('approvers: somebody else is refused', async () => {
    const { agent, thread, request, decided } = await open({ approvers: ['managers'] });
    expect(request()).toMatchObject({ approvers: ['managers'], key: 'go' });
    const answer = request().approve();
    expect(await errorCode(agent.respond(answer, thread, { principal: 'bob' }))).toBe(
      'not-allowed',
    );
    await agent.respond(answer, thread, { principal: 'dee' });
    expect(await decided()).toBe('approved');
  });

  test('quorum: counts people, and the key is decided by the last of them', async () => {
    const { agent, thread, request, decided } = await open({ quorum: 2, approvers: ['owners'] });
    await agent.respond(request().approve(), thread, { principal: 'ann' });
    await agent.respond(request().approve(), thread, { principal: 'ann' });
    expect(request().votes).toMatchObject([{ person: 'ann' }]);
    expect(thread.decisions).toEqual([]);
    await agent.respond(request().approve(), thread, { principal: 'bob' });
    expect(await decided()).toBe('approved');
  });

  test('notRequester and requireReason', async () => {
    const { agent, thread, request, decided } = await open({
      notRequester: true,
      requireReason: true,
    });
    const answer = request().approve({ reason: 'Yes.' });
    expect(await errorCode(agent.respond(answer, thread, { principal: 'ann' }))).toBe(
      'not-allowed',
    );
    expect(await errorCode(agent.respond(request().approve(), thread, { principal: 'bob' }))).toBe(
      'invalid-answer',
    );
    await agent.respond(answer, thread, { principal: 'bob' });
    expect(await decided()).toBe('approved');
  });

  test('onExpiry reject: expired, with the reason', async () => {
    const onExpiry = { type: 'reject', reason: 'Too late.' } as const;
    const { clock, thread, decided } = await open({ ...expiring, onExpiry });
    clock.now = 1_000;
    expect(await decided()).toBe('expired');
    expect(thread.events).toContainEqual(
      expect.objectContaining({ type: 'request-closed', cause: 'expired', reason: 'Too late.' }),
    );
  });

  test('onExpiry ask-again: the last request decides the key', async () => {
    const { clock, agent, thread, request, decided } = await open({
      ...expiring,
      onExpiry: 'ask-again',
      quorum: 2,
      approvers: ['owners'],
    });
    const first = request();
    await agent.respond(first.approve(), thread, { principal: 'ann' });
    clock.now = 1_000;
    await agent.run([], thread);
    const second = request();
    expect(second).toMatchObject({ key: 'go', follows: first.requestId, expiresAt: 2_000 });
    expect(second).toMatchObject({ quorum: 2, approvers: ['owners'] });
    expect(second).not.toHaveProperty('votes');
    expect(await errorCode(agent.respond(first.approve(), thread, { principal: 'bob' }))).toBe(
      'request-closed',
    );
    await agent.respond(second.approve(), thread, { principal: 'ann' });
    await agent.respond(second.approve(), thread, { principal: 'bob' });
    expect(await decided()).toBe('approved');
  });

  test('onExpiry escalate: the others decide the key, and then it expires', async () => {
    const onExpiry = { type: 'escalate', approvers: ['managers'] } as const;
    const escalated = await open({ ...expiring, approvers: ['owners'], onExpiry });
    escalated.clock.now = 1_000;
    await escalated.agent.run([], escalated.thread);
    const { agent, thread, request, decided } = escalated;
    expect(request()).toMatchObject({ key: 'go', approvers: ['managers'], expiresAt: 2_000 });
    expect(await errorCode(agent.respond(request().reject(), thread, { principal: 'ann' }))).toBe(
      'not-allowed',
    );
    await agent.respond(request().reject('No.'), thread, { principal: 'dee' });
    expect(await decided()).toBe('rejected');
  });

  test('onExpiry escalate: a request that nobody answers at last is expired', async () => {
    const onExpiry = { type: 'escalate', approvers: ['managers'] } as const;
    const { clock, agent, thread, decided } = await open({ ...expiring, onExpiry });
    clock.now = 1_000;
    await agent.run([], thread);
    clock.now = 2_000;
    expect(await decided()).toBe('expired');
    expect(thread.decisions.map(({ status }) => status)).toEqual(['expired', 'expired']);
    expect(thread.activeRequests).toEqual([]);
  });

  test('onExpiry wait: it stays open, and is reminded of', async () => {
    const { clock, agent, thread, request, decided } = await open({
      ...expiring,
      onExpiry: 'wait',
      remindBeforeMs: 200,
    });
    expect(request()).toMatchObject({ remindAt: 800 });
    expect(request()).not.toHaveProperty('expiresAt');
    clock.now = 5_000;
    await agent.run([], thread);
    expect(thread.events.filter(({ type }) => type === 'request-reminded')).toHaveLength(1);
    await agent.respond(request().approve(), thread, { principal: 'bob' });
    expect(await decided()).toBe('approved');
  });

  test('remindBeforeMs: one reminder, before the deadline', async () => {
    const { clock, agent, thread, request } = await open({ ...expiring, remindBeforeMs: 200 });
    expect(request()).toMatchObject({ expiresAt: 1_000, remindAt: 800 });
    clock.now = 799;
    await agent.run([], thread);
    expect(thread.events.some(({ type }) => type === 'request-reminded')).toBe(false);
    for (const now of [800, 900]) {
      clock.now = now;
      await agent.run([], thread);
    }
    expect(thread.events.filter(({ type }) => type === 'request-reminded')).toHaveLength(1);
  });

  test.each(['editable', 'remember'])('%s is refused: there is no call', async (name) => {
    const asked: Omit<Asked, 'text'> = {};
    Reflect.set(asked, name, true);
    await expect(ask(asked)).rejects.toThrow(name);
  });
});
