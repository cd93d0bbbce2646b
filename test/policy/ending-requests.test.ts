import { tool } from 'ai';
import { type AgentThread, approve, type MayAnswer } from 'holdpoint';
import { auditTrail } from 'holdpoint/audit';
import { postgresStore } from 'holdpoint/stores/postgres';
import { askUserQuestion } from 'holdpoint/tools';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { heldWorld } from '../middleware/held-world.ts';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';
import { errorCode } from '../support/error-code.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { storeKits } from '../support/store-kits.ts';
import { book, memoryWorld, travelWorld } from '../support/travel-world.ts';
import { database } from '../tools/seed-questions.ts';
import { peoplesChannels } from './people-channels.ts';
import { pickCases } from '../support/sampling.ts';

/* Eve and Ben may chat; the boss decides. */
const bossOnly: MayAnswer = ({ principal }) => principal === 'boss';
const bossOrBen: MayAnswer = ({ principal }) => principal === 'boss' || principal === 'ben';
const namedOnly: MayAnswer = ({ principal, request }) =>
  request.type === 'approval-request' && request.approvers?.includes(String(principal)) === true;
const script = [{ calls: [book('c1', 'Paris')] }, { text: 'Never mind, then.' }, { text: 'Hi.' }];
const by = { principal: 'boss', channel: 'desk' };

function opened(thread: AgentThread) {
  const [request] = thread.activeApprovalRequests;
  if (request === undefined) throw new Error('Nothing was asked.');
  return request;
}

/** The agents that Eve has asked to book, and whose boss is asked. */
async function asked(options: Parameters<ReturnType<typeof memoryWorld>['agent']>[0] = {}) {
  const world = memoryWorld(script);
  const agent = world.agent({ name: 'travel', mayAnswer: bossOnly, ...options });
  const thread = await agent.thread('t');
  await agent.run('Book', thread, { principal: 'eve' });
  return { world, agent, thread, request: opened(thread) };
}

/** What the log says of who ended a request. */
const closedIn = ({ events }: AgentThread) =>
  events.filter((event) => event.type === 'request-closed');

describe.each(pickCases(peoplesChannels, 2))('through $name', ({ open }) => {
  test('Eve, who may not reject the boss’s request, does not end it with a message; the boss does, and is named', async () => {
    const at = heldWorld(scriptedModel(script), {
      mayAnswer: bossOnly,
      toolApproval: { book: 'user-approval' },
    });
    const { say, interrupt } = open(at);
    await say('eve', 'Book');
    const request = opened(await at.agent.thread('t'));
    const before = JSON.stringify(await at.agent.thread('t'));
    expect(await interrupt('eve', 'hello', request)).toBe('not-allowed');
    expect(JSON.stringify(await at.agent.thread('t'))).toBe(before);
    expect(await interrupt('boss', 'hello', request)).toBe(undefined);
    const thread = await at.agent.thread('t');
    expect(thread.activeRequests).toEqual([]);
    expect(closedIn(thread)).toMatchObject([
      { requestId: request.requestId, cause: 'cancelled', principal: 'boss', person: 'boss' },
    ]);
    expect(at.ran).toEqual([]);
  });

  test('without mayAnswer Eve ends it, as ever, and the log says that she did', async () => {
    const at = heldWorld(scriptedModel(script));
    const { say, interrupt } = open(at);
    await say('ben', 'Book');
    const request = opened(await at.agent.thread('t'));
    expect(await interrupt('eve', 'hello', request)).toBe(undefined);
    expect(closedIn(await at.agent.thread('t'))).toMatchObject([
      { principal: 'eve', person: 'eve' },
    ]);
  });
});

describe('agent.cancel', () => {
  test('is refused to Eve and to nobody in particular, names the request, and changes nothing', async () => {
    const { agent, thread, request } = await asked();
    const before = JSON.stringify(thread);
    for (const options of [{ principal: 'eve' }, {}]) {
      await expect(agent.cancel(thread, 'Enough.', options)).rejects.toMatchObject({
        code: 'not-allowed',
        requestId: request.requestId,
        message: expect.stringContaining('nothing was cancelled'),
      });
    }
    expect(JSON.stringify(thread)).toBe(before);
  });

  test('by the boss is in the log, the decisions and the audit trail, with its channel', async () => {
    const { agent, thread, request } = await asked();
    await agent.cancel(thread, 'Enough.', by);
    const named = { ...by, person: 'boss' };
    expect(closedIn(thread)).toMatchObject([{ reason: 'Enough.', ...named }]);
    expect(thread.events.at(-1)).toMatchObject({ type: 'call-ended', ...by });
    expect(thread.decisions).toMatchObject([{ status: 'cancelled', closedBy: named }]);
    expect(thread.decisions[0]?.principal).toBe(undefined);
    const trail = await auditTrail(thread);
    expect(trail.rows.find(({ what }) => what === 'request cancelled')).toMatchObject({
      who: 'boss',
      channel: 'desk',
      requestId: request.requestId,
    });
    expect(trail.toCsv()).toMatch(/request cancelled.*boss/);
    expect(trail.toText()).toMatch(/request cancelled.*boss/);
    const reopened = await agent.restore(JSON.stringify(thread));
    expect(reopened.decisions).toEqual(thread.decisions);
  });

  test('asks mayAnswer what it asks about a plain rejection', async () => {
    const seen: unknown[] = [];
    const { agent, thread, request } = await asked({
      mayAnswer: ({ request: shown, ...said }) => {
        seen.push({ ...said, shown: shown.requestId });
        return true;
      },
    });
    await agent.cancel(thread, undefined, { principal: 'ben', channel: 'web' });
    const { requestId } = request;
    const response = { type: 'approval-response', requestId, approved: false };
    expect(seen).toEqual([{ principal: 'ben', channel: 'web', response, shown: requestId }]);
  });

  test('what mayAnswer throws is thrown, and nothing is cancelled', async () => {
    const broken = new Error('The directory is down.');
    const { agent, thread } = await asked({ mayAnswer: async () => Promise.reject(broken) });
    expect(await errorCode(agent.cancel(thread, 'Enough.', by))).toBe(broken);
    expect(thread.activeRequests).toHaveLength(1);
  });

  test('a reason that an approval would need is not needed', async () => {
    const { agent, thread } = await asked({
      toolApproval: { book: { type: 'user-approval', requireReason: true } },
    });
    await agent.cancel(thread, undefined, by);
    expect(thread.activeRequests).toEqual([]);
  });

  test('who asked may not end what others must decide, and who was asked instead may', async () => {
    const others = { book: { type: 'user-approval', notRequester: true } } as const;
    const alone = await asked({ mayAnswer: () => true, toolApproval: others });
    const cancel = async (principal: string) =>
      errorCode(alone.agent.cancel(alone.thread, undefined, { principal }));
    expect(await cancel('Eve ')).toBe('not-allowed');
    expect(await cancel('ben')).toBe('no error');
    const owned = { book: { type: 'user-approval', approvers: ['boss'] } } as const;
    const { agent, thread, request } = await asked({ mayAnswer: namedOnly, toolApproval: owned });
    expect(await errorCode(agent.cancel(thread, '', { principal: 'ben' }))).toBe('not-allowed');
    await agent.reassign(thread, request.requestId, 'ben', { principal: 'boss' });
    expect(await errorCode(agent.cancel(thread, '', { principal: 'ben' }))).toBe('no error');
  });

  test('ends neither of two requests if Ben may end only one', async () => {
    const calls = [book('c1', 'Paris'), book('c2', 'Rome')];
    const world = memoryWorld([{ calls }]);
    const agent = world.agent({
      mayAnswer: ({ principal, request }) =>
        principal === 'ben' && JSON.stringify(request).includes('Paris'),
    });
    const thread = await agent.thread('t');
    await agent.run('Book', thread, { principal: 'eve' });
    const refused = thread.activeApprovalRequests.find(
      ({ toolCall }) => toolCall?.toolCallId === 'c2',
    );
    await expect(agent.cancel(thread, '', { principal: 'ben' })).rejects.toMatchObject({
      code: 'not-allowed',
      requestId: refused?.requestId,
    });
    expect(thread.activeRequests).toHaveLength(2);
  });

  test('of an approved call that has not started names who did it', async () => {
    const { agent, thread, request } = await asked({ mayAnswer: bossOrBen });
    await agent.respond(request.approve(), thread, { principal: 'boss' });
    await agent.cancel(thread, 'Enough.', { principal: 'ben', channel: 'web' });
    expect(closedIn(thread)).toMatchObject([{ principal: 'ben', channel: 'web', person: 'ben' }]);
    expect(thread.decisions).toMatchObject([{ principal: 'boss', closedBy: { principal: 'ben' } }]);
  });

  test('what expires names nobody', async () => {
    const clock = { now: 1_000 };
    const { agent, thread } = await asked({
      now: () => clock.now,
      toolApproval: { book: { type: 'user-approval', expiresAfterMs: 10 } },
    });
    clock.now += 100;
    await agent.run([], thread, { principal: 'eve' });
    const [closed] = closedIn(thread);
    expect(closed).toMatchObject({ cause: 'expired' });
    expect(closed).not.toHaveProperty('principal');
    expect(closed).not.toHaveProperty('person');
  });
});

test('Ben, who dismisses his own question, does not end the boss’s request of the same step', async () => {
  const calls = [book('c1', 'Paris'), { id: 'q1', name: 'ask', input: { questions: [database] } }];
  const world = memoryWorld([{ calls }]);
  const agent = world.agent({
    tools: {
      ask: askUserQuestion(),
      book: tool({ inputSchema: z.object({ city: z.string() }), execute: () => 'booked' }),
    },
    mayAnswer: ({ principal, request }) =>
      principal === 'boss' || request.type === 'question-request',
  });
  const thread = await agent.thread('t');
  await agent.run('Book', thread, { principal: 'eve' });
  const question = thread.activeRequests.find(({ type }) => type === 'question-request');
  const { requestId = '' } = question ?? {};
  const dismissal = { type: 'question-response', requestId, status: 'dismissed' } as const;
  const before = JSON.stringify(thread);
  for (const answer of [
    agent.run(dismissal, thread, { principal: 'ben' }),
    agent.respond(dismissal, thread, { principal: 'ben' }),
  ]) {
    await expect(answer).rejects.toMatchObject({
      code: 'not-allowed',
      requestId: opened(thread).requestId,
    });
  }
  expect(JSON.stringify(thread)).toBe(before);
  await agent.run(dismissal, thread, { principal: 'boss' });
  expect(closedIn(thread)).toMatchObject([{ principal: 'boss', person: 'boss' }]);
});

test('Eve, who dismisses a question, does not end the request of the same step that excludes her, though nobody else is asked who may', async () => {
  const calls = [book('c1', 'Paris'), { id: 'q1', name: 'ask', input: { questions: [database] } }];
  const world = memoryWorld([{ calls }]);
  const agent = world.agent({
    mayAnswer: undefined,
    tools: {
      ask: askUserQuestion(),
      book: tool({ inputSchema: z.object({ city: z.string() }), execute: () => 'booked' }),
    },
    toolApproval: { book: { type: 'user-approval', notRequester: true } },
  });
  const thread = await agent.thread('t');
  await agent.run('Book', thread, { principal: 'eve' });
  const question = thread.activeRequests.find(({ type }) => type === 'question-request');
  const { requestId = '' } = question ?? {};
  const dismissal = { type: 'question-response', requestId, status: 'dismissed' } as const;
  await expect(agent.run(dismissal, thread, { principal: 'eve' })).rejects.toMatchObject({
    code: 'not-allowed',
    requestId: opened(thread).requestId,
  });
  expect(thread.activeRequests).toHaveLength(2);
  await agent.run(dismissal, thread, { principal: 'ben' });
  expect(closedIn(thread)).toMatchObject([{ principal: 'ben' }]);
});

/** A manager whose buyer asks about a payment, for Eve. */
async function delegated(above: MayAnswer | undefined, below: MayAnswer | undefined) {
  const office = new AgentOffice();
  const own = below === undefined ? {} : { mayAnswer: below };
  const buyer = office.payer('buyer', [{ calls: [pay('p1', 'ACME')] }, { text: '' }], own);
  const manager = office.agent(
    'manager',
    [{ calls: [ask('b1', 'buy', 'Pay.')] }, { text: 'Done.' }, { text: 'Hi.' }],
    {
      tools: { buy: office.tool(buyer) },
      ...(above === undefined ? {} : { mayAnswer: above }),
    },
  );
  const thread = await manager.thread('t');
  await manager.run('Pay.', thread, { principal: 'eve' });
  const child = async () => buyer.thread(thread.calls[0]?.agent?.threadId ?? '');
  return { manager, buyer, thread, child };
}

describe('a sub-agent’s request', () => {
  test.each([
    ['above', bossOnly, undefined],
    ['below', undefined, bossOnly],
  ])('is ended by the boss alone where the agent %s says so', async (_where, above, below) => {
    const { manager, thread, child } = await delegated(above, below);
    const before = JSON.stringify([thread, await child()]);
    const hello = async (principal: string) =>
      errorCode(manager.run('hello', thread, { principal, whilePending: 'cancel' }));
    expect(await errorCode(manager.cancel(thread, '', { principal: 'eve' }))).toBe('not-allowed');
    expect(await hello('eve')).toBe('not-allowed');
    expect(JSON.stringify([thread, await child()])).toBe(before);
    expect(await hello('boss')).toBe('no error');
    const named = { principal: 'boss', person: 'boss' };
    expect(closedIn(thread)).toMatchObject([named]);
    expect(closedIn(await child())).toMatchObject([named]);
    const ended = thread.events.find(({ type }) => type === 'call-ended');
    expect(ended).toMatchObject({ principal: 'boss' });
  });

  test('does not keep a call from ending by itself, though nobody may answer it', async () => {
    const { manager, thread, child } = await delegated(undefined, () => false);
    await manager.delete(thread);
    expect((await child()).activeRequests).toEqual([]);
  });

  test('is not delivered away by Eve', async () => {
    const { manager, thread } = await delegated(bossOnly, undefined);
    const [call] = thread.calls;
    const away = { status: 'failed', error: 'Gone.' } as const;
    const deliver = async (principal: string) =>
      errorCode(manager.deliver(thread, call?.toolCallId ?? '', away, { principal }));
    expect(await deliver('eve')).toBe('not-allowed');
    expect(thread.activeRequests).toHaveLength(1);
    expect(await deliver('boss')).toBe('no error');
  });

  test('is not ended by a stop of Eve’s while the sub-agent is at work: the boss’s answer goes on', async () => {
    const office = new AgentOffice();
    const working = Promise.withResolvers<void>();
    const slow = tool({
      inputSchema: z.object({}),
      execute: async (_input, { abortSignal }) =>
        new Promise((_resolve, reject) => {
          working.resolve();
          abortSignal?.addEventListener('abort', () => reject(new Error('stopped')));
        }),
    });
    const calls = [pay('p1', 'ACME'), { id: 's1', name: 'slow', input: {} }];
    const tools = { pay: office.pay, slow };
    const buyer = office.payer('buyer', [{ calls }, { text: 'Paid.' }], { tools });
    const delegates = [{ calls: [ask('b1', 'buy', 'Pay.')] }, { text: 'Done.' }];
    const buy = office.tool(buyer);
    const manager = office.agent('manager', delegates, { tools: { buy }, mayAnswer: bossOnly });
    const thread = await manager.thread('t');
    const running = manager.run('Pay.', thread, { principal: 'eve' });
    await working.promise;
    await expect.poll(() => thread.activeRequests.length).toBe(1);
    const request = opened(thread);
    await manager.stop(thread, { principal: 'eve' });
    await running;
    await manager.run([], thread, { principal: 'eve' });
    expect(closedIn(thread)).toEqual([]);
    expect(opened(thread).requestId).toBe(request.requestId);
    await manager.run(request.approve(), thread, { principal: 'boss' });
    expect(office.payments).toMatchObject([{ to: 'ACME' }]);
  });
});

const postgres = sharedPostgres();
afterAll(async () => postgres[Symbol.asyncDispose]());

const kits = [
  ...storeKits.map(({ name, keep }) => ({ name, open: async () => keep() })),
  {
    name: 'postgresStore',
    open: async () => {
      const pool = postgres.pool(await postgres.createSchema());
      return { open: () => postgresStore(pool), [Symbol.dispose]() {} };
    },
  },
];

describe.each(pickCases(kits))('on a $name', ({ open }) => {
  test('of the boss who approves and Ben who cancels at one moment one is recorded, and named', async () => {
    using kept = await open();
    const world = travelWorld(scriptedModel(script), () => kept.open());
    const one = world.agent({ mayAnswer: bossOrBen });
    const other = world.agent({ mayAnswer: bossOrBen });
    const thread = await one.thread('t');
    await one.run('Book', thread, { principal: 'eve' });
    const there = await other.thread('t');
    const request = opened(thread);
    await Promise.allSettled([
      one.respond(approve(request), thread, { principal: 'boss' }),
      other.cancel(there, 'Enough.', { principal: 'ben' }),
    ]);
    const { decisions } = await one.thread('t');
    expect(decisions).toHaveLength(1);
    /* Ben may also cancel what the boss has approved and nobody has started. */
    expect(decisions[0]).toMatchObject({ status: 'cancelled', closedBy: { principal: 'ben' } });
    await one.run([], await one.thread('t'));
    expect(world.ran).toEqual([]);
  });

  test('a request that opens while it is checked who may end the others is not ended unasked', async () => {
    using kept = await open();
    const world = travelWorld(scriptedModel(script), () => kept.open());
    const checking = Promise.withResolvers<void>();
    const opening = Promise.withResolvers<void>();
    let checks = 0;
    const mayAnswer: MayAnswer = async ({ principal, request }) => {
      checks += 1;
      if (checks === 2) checking.resolve();
      await opening.promise;
      return (
        principal === 'boss' || (request.type === 'approval-request' && request.key !== 'late')
      );
    };
    const agent = world.agent({ mayAnswer });
    const thread = await agent.thread('t');
    await agent.run('Book', thread, { principal: 'eve' });
    const other = world.agent({ mayAnswer });
    const sent = [
      errorCode(agent.cancel(thread, 'Enough.', { principal: 'eve' })),
      errorCode(
        agent.run('hello', await agent.thread('t'), { principal: 'eve', whilePending: 'cancel' }),
      ),
    ];
    await checking.promise;
    await other.requestApproval(await other.thread('t'), { text: 'Sign?', key: 'late' });
    opening.resolve();
    expect(await Promise.all(sent)).toEqual(['not-allowed', 'not-allowed']);
    expect((await agent.thread('t')).activeRequests).toHaveLength(2);
  });
});

test('what a sub-agent asks is not cancelled in its own thread, where the agent above can’t be asked', async () => {
  const office = new AgentOffice();
  const buyer = office.payer('buyer', [{ calls: [pay('p1', 'ACME')] }], {});
  const delegates = [{ calls: [ask('b1', 'buy', 'Pay.')] }];
  const tools = { buy: office.tool(buyer) };
  const manager = office.agent('manager', delegates, { tools, mayAnswer: bossOnly });
  const thread = await manager.thread('t');
  await manager.run('Pay.', thread, { principal: 'eve' });
  const child = await buyer.thread(thread.calls[0]?.agent?.threadId ?? '');
  for (const principal of ['eve', 'boss'])
    expect(await errorCode(buyer.cancel(child, 'No.', { principal }))).toBe('not-allowed');
  expect(child.activeRequests).toHaveLength(1);
  await manager.cancel(thread, 'No.', { principal: 'boss' });
  expect((await buyer.thread(child.id)).activeRequests).toEqual([]);
});
