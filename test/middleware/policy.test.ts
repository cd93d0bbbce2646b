import type { ModelMessage } from 'ai';
import { memoryStore, type ToolApprovalStatus } from 'holdpoint';
import { answerMessage, approvalRequestsOf, guardTools } from 'holdpoint/middleware';
import { describe, expect, test, vi } from 'vitest';
import { answeredBy } from '../policy/office.ts';
import { errorCode } from '../support/error-code.ts';
import type { ScriptedStep } from '../support/script.ts';
import { book, travelTools } from '../support/travel-world.ts';
import {
  answering,
  type Got,
  ofThread,
  requestsIn,
  scriptedWorld,
  type Way,
  ways,
} from './held-world.ts';
import { pickCases } from '../support/sampling.ts';

const one: ScriptedStep[] = [{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }];
const user = (content: string): ModelMessage => ({ role: 'user', content });
const teams = { owners: ['ann', 'bob', 'cy'], managers: ['dee'] };

/** A wrapped model whose rule for `book` says this, after ann has asked for a flight. */
async function asked(way: Way, status: ToolApprovalStatus, script = one) {
  const clock = { now: 1_000_000 };
  const world = scriptedWorld(script, {
    toolApproval: { book: status },
    mayAnswer: answeredBy(teams),
    now: () => clock.now,
  });
  const { model } = world;
  const ask = async (principal: string, ...messages: ModelMessage[]): Promise<Got> =>
    way.ask({ model, messages, ...ofThread('t', { principal }) });
  const first = await ask('ann', user('Book'));
  /* The AI SDK's own answers need the request in the history. */
  const history = [user('Book'), ...first.responseMessages];
  return { ...world, clock, ask, history, request: requestOf(first) };
}

function requestOf(got: Got) {
  const [request, ...more] = approvalRequestsOf(got);
  if (request === undefined || more.length > 0) throw new Error('There is not one request.');
  return request;
}

describe.each(pickCases(ways))('a rule behind holdPoint, with $name', (way) => {
  test('asks if it reads a field which its tool does not have, and is warned about', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const { model, ran } = scriptedWorld(one, {
      toolApproval: {
        book: ({ euros }: { euros?: number }) => (Number(euros) > 100 ? 'denied' : 'approved'),
      },
    });
    const got = await way.ask({ model, messages: [user('Book')], ...ofThread('t') });
    expect(requestOf(got).reason).toContain('euros');
    expect(ran).toEqual([]);
    expect(String(warn.mock.calls)).toContain('toolApproval.book');
    warn.mockRestore();
  });

  test('fails the call if nobody could answer', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const { model, ran, agent } = scriptedWorld(one, {
      toolApproval: { book: () => ({ type: 'user-approval', approvers: ['owners'] }) },
    });
    const got = await way.ask({ model, messages: [user('Book')], ...ofThread('t') });
    expect(approvalRequestsOf(got)).toEqual([]);
    expect((await agent.thread('t')).calls).toMatchObject([{ status: 'failed' }]);
    expect(ran).toEqual([]);
    warn.mockRestore();
  });

  test('its fields are in the result', async () => {
    const { request } = await asked(way, {
      type: 'user-approval',
      approvers: ['owners'],
      quorum: 2,
      notRequester: true,
      requireReason: true,
      editable: ['price'],
      remember: true,
      risk: 'high',
      metadata: { team: 'travel' },
      expiresAfterMs: 1_000,
      onExpiry: 'ask-again',
      remindBeforeMs: 100,
    });
    expect({ ...request }).toMatchObject({
      approvers: ['owners'],
      quorum: 2,
      notRequester: true,
      requireReason: true,
      editable: ['price'],
      remember: { scope: 'thread', match: 'exact' },
      risk: 'high',
      metadata: { team: 'travel' },
      expiresAt: 1_001_000,
      onExpiry: { type: 'ask-again' },
      remindAt: 1_000_900,
      digest: expect.any(String),
    });
  });

  test('an edit: the edited input runs, and the model learns of it', async () => {
    const at = await asked(way, { type: 'user-approval', editable: ['price'] });
    const input = { city: 'Paris', price: 50 };
    const done = await at.ask('ann', answerMessage(at.request.approve({ input })));
    expect(done.text).toBe('Booked.');
    expect(at.ran).toMatchObject([{ name: 'book', input }]);
    expect(JSON.stringify(at.played.prompts.at(-1))).toContain('edited the input');
    expect(JSON.stringify(at.played.prompts.at(-1))).toContain('"price":50');
  });

  test('an edit that waits for others is in their request as it will run, with the original beside it', async () => {
    const at = await asked(way, {
      type: 'user-approval',
      quorum: 2,
      editable: true,
      text: ({ city, price = 0 }: { city: string; price?: number }) => `${city} for ${price}?`,
    });
    const input = { city: 'Rome', price: 50 };
    const voted = requestOf(await at.ask('ann', answerMessage(at.request.approve({ input }))));
    expect(voted).toMatchObject({
      text: 'Rome for 50?',
      toolCall: { input },
      edit: { original: { input: { city: 'Paris' }, text: 'Paris for 0?' } },
    });
    await at.ask('bob', answerMessage(voted.approve()));
    expect(at.ran).toMatchObject([{ input }]);
  });

  test('an input of null is refused, and the request stays', async () => {
    const at = await asked(way, 'user-approval');
    const answer = { ...at.request.approve(), input: null };
    expect(await errorCode(at.ask('ann', answerMessage(answer)))).toBe('invalid-answer');
    expect(at.ran).toEqual([]);
  });

  test('a refused edit changes nothing, and the request stays', async () => {
    const at = await asked(way, { type: 'user-approval', editable: ['price'] });
    const { revision } = await at.agent.thread('t');
    const answer = at.request.approve({ input: { city: 'Rome' } });
    expect(await errorCode(at.ask('ann', answerMessage(answer)))).toBe('invalid-answer');
    expect((await at.agent.thread('t')).revision).toBe(revision);
    expect(at.ran).toEqual([]);
    await at.ask('ann', answerMessage(at.request.approve()));
    expect(at.ran).toMatchObject([{ input: { city: 'Paris' } }]);
  });

  test('approvers and quorum: a vote leaves the request open, with the progress', async () => {
    const at = await asked(way, { type: 'user-approval', approvers: ['owners'], quorum: 2 });
    const answer = answerMessage(at.request.approve());
    const voted = await at.ask('ann', answer);
    expect(requestOf(voted).votes).toMatchObject([{ person: 'ann' }]);
    expect(await errorCode(at.ask('dee', answer))).toBe('not-allowed');
    const again = await at.ask('ann', answer);
    expect(requestOf(again).votes).toHaveLength(1);
    expect(at.ran).toEqual([]);
    expect((await at.ask('bob', answer)).text).toBe('Booked.');
    expect(at.ran).toHaveLength(1);
  });

  test("the AI SDK's own answer counts as a vote, of the principal of its call", async () => {
    const at = await asked(way, { type: 'user-approval', quorum: 2 });
    const yes = [...at.history, answering([at.request.requestId])];
    await at.ask('ann', ...yes);
    await at.ask('ann', ...yes);
    expect(at.ran).toEqual([]);
    const again = await at.ask('bob', ...yes);
    expect(at.ran).toEqual([]);
    const fresh = answering(requestsIn(again.content));
    await at.ask('bob', ...yes, ...again.responseMessages, fresh);
    expect(at.ran).toHaveLength(1);
  });

  test("the AI SDK's own answer needs the reason that a rule demands", async () => {
    const at = await asked(way, { type: 'user-approval', requireReason: true });
    const yes = answering([at.request.requestId]);
    expect(await errorCode(at.ask('ann', ...at.history, yes))).toBe('invalid-answer');
    const withReason = answering([at.request.requestId], { approved: true, reason: 'Work.' });
    expect((await at.ask('ann', ...at.history, withReason)).text).toBe('Booked.');
  });

  test('notRequester: the person of the message may not answer', async () => {
    const at = await asked(way, { type: 'user-approval', notRequester: true });
    const answer = answerMessage(at.request.approve());
    expect(await errorCode(at.ask('ann', answer))).toBe('not-allowed');
    expect((await at.ask('bob', answer)).text).toBe('Booked.');
  });

  test('remember: the same call is not asked about again', async () => {
    const at = await asked(way, { type: 'user-approval', remember: true }, [
      { calls: [book('c1', 'Paris')] },
      { calls: [book('c2', 'Paris')] },
      { text: 'Booked.' },
    ]);
    const done = await at.ask('ann', answerMessage(at.request.approve({ remember: true })));
    expect(done.text).toBe('Booked.');
    expect(at.ran).toHaveLength(2);
    expect(await at.agent.grants(await at.agent.thread('t'))).toHaveLength(1);
  });

  test('expiry: the next call shows the request that follows', async () => {
    const at = await asked(way, {
      type: 'user-approval',
      expiresAfterMs: 1_000,
      onExpiry: { type: 'escalate', approvers: ['managers'] },
    });
    at.clock.now += 1_000;
    const late = answerMessage(at.request.approve());
    expect(await errorCode(at.ask('ann', late))).toBe('request-closed');
    await at.agent.run([], await at.agent.thread('t'));
    const [next] = (await at.agent.thread('t')).activeApprovalRequests;
    expect(next).toMatchObject({ follows: at.request.requestId, approvers: ['managers'] });
    if (next === undefined) throw new Error('Nothing follows.');
    const done = await at.ask('dee', answerMessage(next.approve()));
    expect(done.text).toBe('Booked.');
    expect(at.ran).toHaveLength(1);
  });
});

describe('guardTools', () => {
  test.each(['toolApproval', 'mayAnswer', 'principalId'])(
    'refuses %s, which it could not keep',
    (name) => {
      const options = { store: memoryStore(), threadId: 't' };
      Reflect.set(options, name, name === 'toolApproval' ? { book: 'user-approval' } : () => true);
      expect(() => guardTools(travelTools([]), options)).toThrow(
        `guardTools has no option '${name}'`,
      );
    },
  );
});
