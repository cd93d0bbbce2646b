import {
  type ApprovalRequest,
  approve as approveRequest,
  createAgent,
  memoryStore,
  reject,
  type UserApproval,
} from 'holdpoint';
import { createCustomAgent, type CustomStep } from 'holdpoint/custom-agent';
import { agentTool } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { renderRequesters } from '../../src/content/request-text.ts';
import { requestDigest } from '../../src/policy/digest.ts';
import { heldWorld } from '../middleware/held-world.ts';
import { rechainedJson } from '../support/chained.ts';
import { errorCode } from '../support/error-code.ts';
import type { ScriptedStep } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, memoryWorld, travelTools } from '../support/travel-world.ts';
import { peoplesChannels } from './people-channels.ts';
import { pickCases } from '../support/sampling.ts';

const others: UserApproval = { type: 'user-approval', notRequester: true };
const remembered: UserApproval = {
  type: 'user-approval',
  remember: { scope: 'principal', match: 'any' },
};
const asksParis: ScriptedStep = { calls: [book('c1', 'Paris')] };

/** A thread that people share, and what it asks and does. */
function shared(script: ScriptedStep[], status: UserApproval) {
  const played = scriptedModel(script);
  const held = heldWorld(played, { name: 'travel', toolApproval: { book: status } });
  const request = async (): Promise<ApprovalRequest> => {
    const [first, ...more] = (await held.agent.thread('t')).activeRequests;
    if (first?.type !== 'approval-request' || more.length > 0) throw new Error('Not one approval.');
    return first;
  };
  return { ...held, request };
}

test('somebody who rejects with a reason has not asked for the calls that follow', async () => {
  const again: ScriptedStep = { calls: [book('c2', 'Rome')] };
  const { agent, request, ran } = shared([asksParis, again, { text: 'Done.' }], others);
  const thread = await agent.thread('t');
  await agent.run('Book', thread, { principal: 'ada' });
  await agent.run(reject(await request(), 'Rome instead.'), thread, { principal: 'ben' });
  const next = await request();
  expect(next).toMatchObject({ requesters: ['ada'], toolCall: { input: { city: 'Rome' } } });
  await agent.run(approveRequest(next), thread, { principal: 'ben' });
  expect(ran.length).toBe(1);
});

describe.each(pickCases(peoplesChannels, 2))('through $name', ({ open }) => {
  test("Ada does not approve her own call because Ben has said hello since: it is both people's", async () => {
    const at = shared([{ fail: 'overloaded' }, asksParis, { text: 'Done.' }], others);
    const { say, approve } = open(at);
    await say('ada', 'Book Paris for me');
    await say('ben', 'hello');
    const request = await at.request();
    expect(request).toMatchObject({ requestedBy: 'ben', requesters: ['ada', 'ben'] });
    expect(await approve('ada', request)).toBe('not-allowed');
    expect(await approve('ben', request)).toBe('not-allowed');
    expect(await approve('ADA', request)).toBe('not-allowed');
    expect(at.ran).toEqual([]);
    expect(await approve('cy', request)).toBe(undefined);
    expect(at.ran.length).toBe(1);
  });

  test("Ben's call does not run on Ada's standing approval because she has said hello since", async () => {
    const at = shared(
      [asksParis, { text: 'Done.' }, { fail: 'overloaded' }, { calls: [book('c2', 'Rome')] }],
      remembered,
    );
    const { say } = open(at);
    await say('ada', 'Book Paris');
    const answer = approveRequest(await at.request(), { remember: true });
    await at.agent.run(answer, await at.agent.thread('t'), { principal: 'cy' });
    expect(at.ran.length).toBe(1);
    await say('ben', 'Book Rome');
    await say('ada', 'hello');
    expect(at.ran.length).toBe(1);
    expect(await at.request()).toMatchObject({ requestedBy: 'ada', requesters: ['ben', 'ada'] });
  });
});

/** Who asked for the call of the last step, after people have talked to an agent with this script. */
async function talk(script: ScriptedStep[], status: UserApproval = { type: 'user-approval' }) {
  const world = memoryWorld(script);
  const agent = world.agent({ name: 'travel', toolApproval: { book: status } });
  const thread = await agent.thread('t');
  const say = async (principal: unknown, text = 'hello') =>
    agent.run(text, thread, principal === undefined ? {} : { principal }).catch(() => undefined);
  const requesters = () => thread.activeRequests[0]?.requesters;
  return { ...world, agent, thread, say, requesters };
}

describe('the requesters of a call', () => {
  test('are those of its turn alone, once the model has answered the one before', async () => {
    const { say, requesters } = await talk([{ text: 'Hello.' }, asksParis]);
    await say('ada');
    await say('ben', 'Book');
    expect(requesters()).toEqual(['ben']);
  });

  test('stay the same over calls and approvals, until the turn is answered', async () => {
    const at = await talk([{ fail: 'overloaded' }, asksParis, { calls: [book('c2', 'Rome')] }]);
    await at.say('ada');
    await at.say('ben');
    const [first] = at.thread.activeRequests;
    if (first?.type !== 'approval-request') throw new Error('Nothing was asked.');
    await at.agent.run(first.approve(), at.thread, { principal: 'cy' });
    expect(at.thread.activeRequests[0]?.requestId).not.toBe(first.requestId);
    expect(at.requesters()).toEqual(['ada', 'ben']);
  });

  test('are both people if one writes while the other one waits, each once', async () => {
    const at = await talk([
      asksParis,
      { calls: [book('c2', 'Rome')] },
      { calls: [book('c3', 'Oslo')] },
    ]);
    await at.agent.run('Book', at.thread, { principal: 'ada' });
    for (const principal of ['ben', 'ada']) {
      await at.agent.run('Wait', at.thread, { principal, whilePending: 'cancel' });
      expect(at.requesters()).toEqual(['ada', 'ben']);
    }
    expect(at.thread.activeRequests[0]?.requestedBy).toBe('ada');
  });

  test.each(['length', 'content-filter'] as const)(
    'include those whose answer was cut off: %s',
    async (finish) => {
      const { say, requesters } = await talk([{ text: 'I will', finish }, asksParis]);
      await say('ada', 'Book for me');
      await say('ben', 'go on');
      expect(requesters()).toEqual(['ada', 'ben']);
    },
  );

  test('include those whose turn was stopped before its answer', async () => {
    const at = await talk([asksParis, { calls: [book('c2', 'Rome')] }]);
    await at.say('ada');
    await at.agent.cancel(at.thread);
    await at.say('ben');
    expect(at.requesters()).toEqual(['ada', 'ben']);
  });

  test('are without the author of a message that was retracted', async () => {
    const at = await talk([{ fail: 'overloaded' }, { fail: 'overloaded' }, asksParis]);
    await at.say('ada');
    await at.say('ben');
    await at.agent.retract(at.thread);
    await at.say('cy');
    expect(at.requesters()).toEqual(['ada', 'cy']);
  });

  test('have a place for somebody unknown', async () => {
    const at = await talk([{ fail: 'overloaded' }, asksParis]);
    await at.say(undefined);
    await at.say('ada');
    expect(at.requesters()).toEqual([null, 'ada']);
  });

  test('who are not all known leave nobody to answer where they may not: the call fails', async () => {
    const at = await talk([{ fail: 'overloaded' }, asksParis, { text: 'Sorry.' }], others);
    await at.say(undefined);
    await at.say('ada');
    expect(at.thread.calls).toMatchObject([{ status: 'failed' }]);
    expect(at.thread.activeRequests).toEqual([]);
  });

  test('who have no text from principalId could be anybody: nobody answers where they may not', async () => {
    const world = memoryWorld([asksParis]);
    const agent = world.agent({
      toolApproval: { book: others },
      principalId: (principal) => (principal === 'ada' ? ' ' : String(principal)),
    });
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Book', thread, { principal: 'ada' });
    const answers = approvalRequests.map((request) => request.approve());
    for (const principal of ['ada', 'cy']) {
      expect(await errorCode(agent.run(answers, thread, { principal }))).toBe('not-allowed');
    }
  });

  test('are left out where nobody is known', async () => {
    const at = await talk([asksParis]);
    await at.say(undefined);
    expect(at.thread.activeRequests[0]).not.toHaveProperty('requesters');
  });

  test('are covered by the digest', async () => {
    const at = await talk([{ fail: 'overloaded' }, asksParis]);
    await at.say('ada');
    await at.say('ben');
    const [request] = at.thread.activeRequests;
    if (request?.type !== 'approval-request') throw new Error('Nothing was asked.');
    const digests = await Promise.all(
      [['ada', 'ben'], ['ben'], ['ben', 'ada'], undefined].map(async (requesters) =>
        requestDigest({ ...request, requesters }),
      ),
    );
    expect(new Set(digests).size).toBe(digests.length);
  });

  test('of a request that does not say who they are are unknown: nobody can say who else may answer', async () => {
    const world = memoryWorld([{ fail: 'overloaded' }, asksParis]);
    const toolApproval = { book: others };
    const agent = world.agent({ toolApproval });
    const thread = await agent.thread('t');
    await expect(agent.run('Book Paris', thread, { principal: 'ada' })).rejects.toThrow();
    await agent.run('Hello', thread, { principal: 'ben' });
    const unnamed = JSON.stringify(thread).replace(',"requesters":["ada","ben"]', '');
    const now = world.agent({ toolApproval, store: memoryStore() });
    const restored = await now.restore(rechainedJson(unnamed));
    const [request] = restored.activeApprovalRequests;
    if (request === undefined) throw new Error('Nothing is asked.');
    expect(request).not.toHaveProperty('requesters');
    for (const principal of ['ada', 'ben', 'cy']) {
      const { requestId } = request;
      const yes = { type: 'approval-response', requestId, approved: true } as const;
      expect(await errorCode(now.respond(yes, restored, { principal }))).toBe('not-allowed');
    }
    expect(restored.activeRequests).toHaveLength(1);
  });

  test.each([others, { type: 'user-approval' } as const])(
    'after an import are not who imported: nobody knows who wrote its last message',
    async (status) => {
      const { agent } = await talk([asksParis, { text: 'Sorry.' }], status);
      const messages = [{ role: 'user' as const, content: 'Book Paris' }];
      const thread = await agent.thread('imported', { messages, principal: 'ada' });
      await agent.run([], thread);
      const [request] = thread.activeRequests;
      expect(thread.calls[0]?.status).toBe(status === others ? 'failed' : 'waiting');
      expect(request?.requestedBy).toBe(undefined);
      expect(request?.requesters).toBe(undefined);
    },
  );

  test('after such an import have a place for whoever wrote its last message', async () => {
    const { agent } = await talk([asksParis]);
    const messages = [{ role: 'user' as const, content: 'Book Paris' }];
    const thread = await agent.thread('imported', { messages, principal: 'ada' });
    await agent.run('hello', thread, { principal: 'ben' });
    expect(thread.activeRequests[0]?.requesters).toEqual([null, 'ben']);
  });

  test('after an import that ends with a reply are those who write then', async () => {
    const { agent } = await talk([asksParis], others);
    const messages = [
      { role: 'user' as const, content: 'Hi' },
      { role: 'assistant' as const, content: 'Hello' },
    ];
    const thread = await agent.thread('imported', { messages, principal: 'ada' });
    await agent.run('Book', thread, { principal: 'ben' });
    expect(thread.activeRequests[0]?.requesters).toEqual(['ben']);
  });

  test('of a custom agent stay while its step waits for an answer', async () => {
    const agent = createCustomAgent({
      name: 'asker',
      step: (): CustomStep => ({ requests: { go: { type: 'approval-request', text: 'Go?' } } }),
    });
    const thread = await agent.thread('t');
    await agent.run('Ask', thread, { principal: 'ada' });
    await agent.run('hello', thread, { principal: 'ben', whilePending: 'cancel' });
    expect(thread.activeRequests[0]?.requesters).toEqual(['ada', 'ben']);
  });

  test('of a sub-agent are those of its parent', async () => {
    const ran: Parameters<typeof travelTools>[0] = [];
    const booker = createAgent({
      name: 'booker',
      model: scriptedModel([asksParis, { text: 'Booked.' }]).model,
      tools: travelTools(ran),
      toolApproval: { book: others },
    });
    const delegate = { id: 'd1', name: 'delegate', input: { prompt: 'Book' } };
    const parent = createAgent({
      name: 'desk',
      model: scriptedModel([{ fail: 'overloaded' }, { calls: [delegate] }, { text: 'Done.' }])
        .model,
      tools: { delegate: agentTool(booker, { description: 'Books' }) },
      maxRetries: 0,
    });
    const thread = await parent.thread('t');
    await expect(parent.run('Book', thread, { principal: 'ada' })).rejects.toThrow('overloaded');
    await parent.run('hello', thread, { principal: 'ben' });
    const [request] = thread.activeRequests;
    expect(request?.requesters).toEqual(['ada', 'ben']);
    if (request?.type !== 'approval-request') throw new Error('Nothing was asked.');
    for (const principal of ['ada', 'ben']) {
      expect(await errorCode(parent.run(request.approve(), thread, { principal }))).toBe(
        'not-allowed',
      );
    }
    await parent.run(request.approve(), thread, { principal: 'cy' });
    expect(ran.length).toBe(1);
  });
});

test.each([
  [['ada', 'ben'], 'ada, ben'],
  [['ada', null], 'ada, somebody unknown'],
  [[{ name: 'Ada' }, { name: 'Ben, Cy' }], 'Ada, "Ben, Cy"'],
  [['somebody unknown', 'ben\n'], '"somebody unknown", "ben\\u{a}"'],
  [['ada'], 'ada'],
])('a request says who asked: %j', (requesters, line) => {
  expect(renderRequesters({ requestedBy: requesters.at(-1), requesters })).toBe(line);
});
