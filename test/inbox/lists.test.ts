import { createAgent, memoryStore, type ThreadStore } from 'holdpoint';
import { agentTool, questionTool } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { lostCalls } from '../support/lost-call.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { storeKits } from '../support/store-kits.ts';
import { watchRows } from '../support/watched-rows.ts';
import { inboxOf, mayAnswer, no, office, only, pay, yes } from './inbox-site.ts';
import { pickCases } from '../support/sampling.ts';

const acme = (id: string, euros = 500) => ({ calls: [pay(id, { to: 'ACME', euros })] });
const done = { text: 'Done.' };

/** An office with a request in each of `count` threads. */
async function manyRequests(count: number, store?: ThreadStore) {
  const script = Array.from({ length: count }, (_each, index) => acme(`c${index}`, index + 1));
  const at = office(script, store ? { store } : {});
  for (let index = 0; index < count; index += 1) await at.ask(`t${index}`);
  return { ...at, inbox: inboxOf(at.agent) };
}

const amounts = (entries: Awaited<ReturnType<ReturnType<typeof inboxOf>['list']>>['entries']) =>
  entries.map(({ request }) => Number(/\d+/.exec(request?.text ?? '')?.[0]));

describe.each(pickCases(storeKits))('with $name', ({ keep }) => {
  test('lists what waits for a person, with what they may do, and records their answer', async () => {
    using kept = keep();
    const at = office([acme('c1'), done], { store: kept.open() });
    await at.ask('t1');
    const inbox = inboxOf(at.agent);
    const { entries, next } = await inbox.list('ben');
    expect(next).toBeUndefined();
    const entry = only(entries);
    expect(entry).toMatchObject({
      threadId: 't1',
      agent: 'office',
      kind: 'approval',
      state: 'open',
      toolName: 'pay',
      requesters: ['eve'],
      approvers: ['finance'],
      request: { text: 'Pay 500 EUR to ACME?', toolCall: { input: { euros: 500 } } },
      rights: { mayAnswer: true, mayApprove: true, mayEdit: true },
      maySettle: false,
      masked: [],
    });
    expect(only(await inbox.answer('ben', [{ entry, answer: yes(entry) }]))).toMatchObject({
      status: 'recorded',
      entry: { state: 'approved', decidedBy: 'ben' },
    });
    expect((await inbox.list('ben')).entries).toEqual([]);
    const thread = await at.agent.thread('t1');
    expect(thread.decisions).toMatchObject([
      { status: 'approved', principal: 'ben', channel: 'inbox' },
    ]);
    expect(at.paid).toEqual([]);
    await at.agent.run([], thread);
    expect(at.paid).toEqual([{ to: 'ACME', euros: 500 }]);
  });

  test('pages go on where the last one ended, in every order, and have each request once', async () => {
    using kept = keep();
    const { inbox } = await manyRequests(7, kept.open());
    for (const order of ['risk', 'expires', 'oldest', 'newest']) {
      const found: number[] = [];
      for (let after = ''; ;) {
        const page = await inbox.list('ben', `order=${order}&limit=3${after}`);
        found.push(...amounts(page.entries));
        if (page.next === undefined) break;
        after = `&after=${page.next}`;
      }
      /* Of those that never expire, the order is that of their random ids. */
      if (order === 'expires') found.sort((one, other) => one - other);
      expect(found).toEqual(order === 'newest' ? [7, 6, 5, 4, 3, 2, 1] : [1, 2, 3, 4, 5, 6, 7]);
    }
  });
});

/** One request that Ben may answer, asked by Cleo of the same team, and one that he has decided. */
async function asked(options: Parameters<typeof inboxOf>[1] = {}) {
  const at = office([acme('c1', 1), acme('c2', 2), done]);
  await at.ask('t1', 'cleo');
  await at.ask('t2', 'eve');
  const inbox = inboxOf(at.agent, options);
  const [, second] = (await inbox.list('ben', 'order=oldest')).entries;
  if (second === undefined) throw new Error('There is no second request.');
  await inbox.answer('ben', [{ entry: second, answer: no(second) }]);
  const see = async (name: string) => {
    const lists = ['mine', 'all', 'decided'].map(async (list) =>
      amounts((await inbox.list(name, `list=${list}`)).entries),
    );
    return Promise.all(lists);
  };
  return { ...at, inbox, see, second };
}

describe('who sees what:', () => {
  test.each([
    ['ben', 'who may answer', [[1], [1], [2]]],
    ['cleo', 'who asked, and could have answered the other', [[], [1], [2]]],
    ['eve', 'who asked the other', [[], [], [2]]],
    ['dora', 'who has nothing to do with either', [[], [], []]],
  ])('%s, %s', async (name, _, lists) => {
    const { see } = await asked();
    expect(await see(name)).toEqual(lists);
  });

  test('the app decides it, with what holds by default at hand', async () => {
    const shown: unknown[] = [];
    const { see } = await asked({
      maySee: ({ principal, row, what, byDefault }) => {
        if (principal !== 'ben') shown.push([principal, row.threadId, what, byDefault]);
        return byDefault || principal === 'dora';
      },
    });
    expect(await see('ben')).toEqual([[1], [1], [2]]);
    expect(await see('dora')).toEqual([[], [1], [2]]);
    expect(shown).toContainEqual(['dora', 't1', 'request', false]);
    expect(await see('zed')).toEqual([[], [], []]);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('The directory is down.');
      },
      1,
    ],
    ['returns a text', () => 'yes', 0],
    ['refuses', () => false, 0],
  ])('an app that %s shows nothing', async (_, maySee, reported) => {
    const at = office([acme('c1')]);
    await at.ask('t1');
    const inbox = inboxOf(at.agent, {
      maySee: (question) => Reflect.apply(maySee, undefined, [question]),
    });
    expect((await inbox.list('ben')).entries).toEqual([]);
    expect(inbox.errors).toHaveLength(reported);
  });

  test('two people with the same id are two, and neither sees what the other asked or decided', async () => {
    const at = office([acme('c1', 1), acme('c2', 2), done], {
      mayAnswer: ({ principal }) => Reflect.get(Object(principal), 'isBoss') === true,
    });
    const inbox = inboxOf(at.agent, {
      authorize: ({ request }) => ({
        principal: JSON.parse(request.headers.get('cookie') ?? '{}'),
      }),
    });
    const ada = { id: 'ada', tenant: 'north' };
    const other = { id: 'ada', tenant: 'south' };
    await at.ask('t1', ada);
    const [request] = (await at.agent.thread('t1')).activeApprovalRequests;
    if (request === undefined) throw new Error('Nothing was asked.');
    expect((await inbox.list(JSON.stringify(ada), 'list=all')).entries).toHaveLength(1);
    expect((await inbox.list(JSON.stringify(other), 'list=all')).entries).toEqual([]);
    await at.ask('t2', 'eve');
    const boss = { ...ada, isBoss: true };
    const thread = await at.agent.thread('t2');
    const answers = thread.activeApprovalRequests.map((each) => each.reject());
    await at.agent.respond(answers, thread, { principal: boss });
    const decided = async (person: object) =>
      amounts((await inbox.list(JSON.stringify(person), 'list=decided')).entries);
    expect(await decided(boss)).toEqual([2]);
    expect(await decided({ ...other, isBoss: false })).toEqual([]);
  });
});

test('only who asked for it, or answered it, sees what a sub-agent asked, once it is over', async () => {
  const quorum = { pay: { type: 'user-approval', quorum: 2 } } as const;
  const payer = office([acme('c1'), done], {
    name: 'payer',
    toolApproval: quorum,
    mayAnswer: ({ principal }) => ['ben', 'cleo'].includes(String(principal)),
  });
  const call = { id: 'd1', name: 'payer', input: { prompt: 'Pay.' } };
  const boss = createAgent({
    name: 'boss',
    model: scriptedModel([{ calls: [call] }, done]).model,
    store: payer.store,
    tools: { payer: agentTool(payer.agent, { description: 'Pays.' }) },
  });
  await boss.run('Pay.', await boss.thread('t1'), { principal: 'eve' });
  const inbox = inboxOf(boss);
  for (const name of ['ben', 'cleo']) {
    const entry = only((await inbox.list(name)).entries);
    expect(only(await inbox.answer(name, [{ entry, answer: yes(entry) }])).status).toBe('recorded');
  }
  const count = async (name: string) => (await inbox.list(name, 'list=decided')).entries.length;
  expect(await Promise.all(['eve', 'ben', 'cleo', 'dora'].map(count))).toEqual([1, 1, 1, 0]);
});

test('filters by agent, tool, risk, requester and text, and by no secret', async () => {
  const at = office([
    { calls: [pay('c1', { to: 'ACME', euros: 1, pin: '4711' })] },
    { calls: [pay('c2', { to: 'Zenith', euros: 2 })] },
  ]);
  await at.ask('t1', 'eve');
  await at.ask('t2', 'finn');
  const inbox = inboxOf(at.agent);
  const found = async (query: string) => amounts((await inbox.list('ben', query)).entries);
  expect(await found('agent=office&tool=pay')).toEqual([1, 2]);
  expect(await found('agent=other')).toEqual([]);
  expect(await found('agent=')).toEqual([]);
  expect(await found('tool=book')).toEqual([]);
  expect(await found('risk=high')).toEqual([]);
  expect(await found('requester=finn')).toEqual([2]);
  expect(await found('text=zenITH')).toEqual([2]);
  expect(await found('text=4711')).toEqual([]);
  expect(await found('text=47')).toEqual([]);
});

const isZeds = ({ threadId }: { threadId: string }) => ['t0', 't24'].includes(threadId);

/** All pages of a list for Zed, who sees only the first and the last of 25 requests. */
async function zedsPages(query: string) {
  const watched = watchRows();
  const at = await manyRequests(25, watched.store);
  if (query.includes('decided')) {
    for (let index = 0; index < 25; index += 1) {
      const thread = await at.agent.thread(`t${index}`);
      const answers = thread.activeApprovalRequests.map((each) => each.reject());
      await at.agent.respond(answers, thread, { principal: 'ben' });
    }
  }
  const inboxes = [0, 1].map(() => inboxOf(at.agent, { maySee: ({ row }) => isZeds(row) }));
  const rows = (await watched.store.requests?.list({})) ?? [];
  const hidden = rows.filter((row) => !isZeds(row));
  const pages: string[][] = [];
  const places: string[] = [];
  for (let after = ''; ;) {
    /* Another process serves the next page. */
    const inbox = inboxes[pages.length % 2];
    const page = await inbox?.list('zed', `${query}&limit=2${after}`);
    pages.push(page?.entries.map(({ threadId }) => threadId).toSorted() ?? []);
    if (page?.next === undefined) return { pages, places, hidden };
    places.push(Buffer.from(page.next, 'base64url').toString());
    after = `&after=${page.next}`;
  }
}

describe('a place to go on', () => {
  test.each([
    'list=all&order=risk',
    'list=all&order=expires',
    'list=all&order=oldest',
    'list=all&order=newest',
    'list=decided',
  ])('says nothing of a request that the person may not see: %s', async (query) => {
    const { pages, places, hidden } = await zedsPages(query);
    expect(hidden).toHaveLength(23);
    expect(pages.flat().toSorted()).toEqual(['t0', 't24']);
    for (const { requestId, createdAt, decidedAt } of hidden) {
      for (const secret of [
        requestId,
        createdAt,
        ...(decidedAt === undefined ? [] : [decidedAt]),
      ]) {
        expect(places.join(' ')).not.toContain(String(secret));
      }
    }
  });

  test('is there after ten pages of rows, and the next page begins with what is seen', async () => {
    const { pages } = await zedsPages('list=all&order=oldest');
    expect(pages).toEqual([['t0'], ['t24']]);
  });

  test('is missing where somebody sees nothing, however many requests there are', async () => {
    const watched = watchRows();
    const at = await manyRequests(25, watched.store);
    watched.read = 0;
    watched.queries.length = 0;
    const page = await at.inbox.list('zed', 'list=all&limit=2');
    expect(page.entries).toEqual([]);
    expect(page.next).toBeUndefined();
    expect(watched.read).toBe(25);
    expect(watched.queries.length).toBeLessThanOrEqual(11);
  });
});

test('selects by the names for which a person answers, and by the only agent', async () => {
  const watched = watchRows();
  const { inbox } = await manyRequests(3, watched.store);
  watched.queries.length = 0;
  await inbox.list('ben');
  expect(watched.queries).toMatchObject([
    { state: 'open', agent: 'office', approver: ['ben', 'finance'], order: 'risk', limit: 50 },
  ]);
});

test('counts what waits, up to a hundred', async () => {
  const { inbox } = await manyRequests(101);
  expect(await inbox.counts('ben')).toMatchObject({
    mine: { count: 100, hasMore: true },
    all: { count: 100, hasMore: true },
    unsettled: { count: 0, hasMore: false },
  });
  expect(await inbox.counts('zed')).toMatchObject({ mine: { count: 0, hasMore: false } });
});

test('leaves a long request out of a list, and shows it by itself', async () => {
  const to = 'A'.repeat(200_000);
  const at = office([{ calls: [pay('c1', { to, euros: 1 })] }]);
  await at.ask('t1');
  const inbox = inboxOf(at.agent);
  const listed = only((await inbox.list('ben')).entries);
  expect(listed.request).toBeUndefined();
  const { entry } = await inbox.show('ben', listed.requestId);
  expect(entry.request?.toolCall?.input).toEqual({ to, euros: 1 });
  expect(entry.digest).toBe(listed.digest);
  expect(only(await inbox.answer('ben', [{ entry, answer: yes(entry) }])).status).toBe('recorded');
});

describe('one request', () => {
  test('has earlier decisions about its tool that the person may see, and no conversation', async () => {
    const at = office([acme('c1', 1), acme('c2', 2), acme('c3', 3), done]);
    for (const id of ['t1', 't2', 't3']) await at.ask(id);
    const inbox = inboxOf(at.agent);
    const [first, second] = (await inbox.list('ben', 'order=oldest')).entries;
    if (first === undefined || second === undefined) throw new Error('There are no requests.');
    await inbox.answer('ben', [
      { entry: first, answer: yes(first, { reason: 'As agreed.' }) },
      { entry: second, answer: no(second) },
    ]);
    const third = only((await inbox.list('cleo')).entries);
    const shown = await inbox.show('cleo', third.requestId);
    expect(shown.conversation).toBeUndefined();
    expect(shown.earlier).toMatchObject([
      { state: 'rejected', decidedBy: 'ben', reason: 'Too dear.', input: { euros: 2 } },
      { state: 'approved', decidedBy: 'ben', reason: 'As agreed.', input: { euros: 1 } },
    ]);
  });

  test('has the conversation for whom the app lets read it, without secrets', async () => {
    const at = office([
      { calls: [{ id: 'c0', name: 'pay', input: { to: 'ACME', euros: 'two', pin: '0815' } }] },
      { calls: [pay('c1', { to: 'ACME', euros: 1, pin: '4711' })] },
    ]);
    await at.agent.run('Pay with 4711, or else 0815.', await at.agent.thread('t1'), {
      principal: 'eve',
    });
    const inbox = inboxOf(at.agent, {
      maySee: ({ what, byDefault, principal }) =>
        byDefault || (what === 'conversation' && principal === 'ben'),
    });
    const { requestId } = only((await inbox.list('ben')).entries);
    const { conversation } = await inbox.show('ben', requestId);
    expect(conversation).toMatchObject([
      { role: 'user', text: 'Pay with ••••••, or else ••••••.' },
      { role: 'assistant', text: '(a call of pay)' },
      { role: 'tool' },
      { role: 'assistant', text: '(a call of pay)' },
    ]);
    expect(JSON.stringify(conversation)).not.toMatch(/4711|0815/);
    expect((await inbox.show('cleo', requestId)).conversation).toBeUndefined();
  });
});

test('lists lost calls and stuck threads for whom they may be settled, and for nobody else', async () => {
  const lost = await lostCalls(['t1', 't2'], { name: 'office' });
  const { agent } = lost.agent({ model: scriptedModel([]).model });
  for (const id of ['t1', 't2']) await agent.thread(id);
  const inbox = inboxOf(agent, { maySettle: ({ principal }) => principal === 'dora' });
  const first = await inbox.list('dora', 'list=unsettled&limit=1');
  expect(only(first.entries)).toMatchObject({
    kind: 'lost-call',
    maySettle: true,
    rights: { mayAnswer: false, refusal: 'no-request' },
    lostCall: { toolCallId: 'c1', toolName: 'book', input: { city: 'Paris' } },
  });
  const rest = await inbox.list('dora', `list=unsettled&after=${first.next}`);
  expect(rest.entries.map(({ threadId }) => threadId)).toEqual(['t2']);
  expect((await inbox.counts('dora')).unsettled).toEqual({ count: 2, hasMore: false });
  expect((await inbox.list('ben', 'list=unsettled')).entries).toEqual([]);
  expect((await inbox.list('dora', 'list=all')).entries).toEqual([]);
});

test('requests of several agents are one list, without those of agents that are not here', async () => {
  const store = memoryStore();
  const names = ['north', 'south', 'west'];
  const agents = names.map((name) => office([acme('c1')], { store, name }));
  for (const [index, { ask }] of agents.entries()) await ask(`t${index}`);
  const inbox = inboxOf(agents.slice(0, 2).map(({ agent }) => agent));
  const agentsIn = async (query: string) =>
    (await inbox.list('ben', query)).entries.map(({ agent }) => agent ?? '').toSorted();
  expect(await agentsIn('')).toEqual(['north', 'south']);
  expect(await agentsIn('agent=south')).toEqual(['south']);
  expect(await agentsIn('agent=west')).toEqual([]);
});

test('a process without tools and model answers, and says what it can not', async () => {
  const store = memoryStore();
  const at = office([acme('c1'), done], { store });
  await at.ask('t1');
  const { model } = scriptedModel([{ calls: [{ id: 'q1', name: 'ask', input: {} }] }]);
  const asking = createAgent({
    model,
    store,
    name: 'asking',
    mayAnswer,
    tools: {
      ask: questionTool({
        description: 'Asks.',
        inputSchema: z.object({}),
        toQuestion: () => ({
          kind: 'question',
          text: 'When?',
          fields: [{ key: 'when', label: 'When?', options: [], min: 0, max: 0, freeText: 'only' }],
          allowDismiss: false,
        }),
        toResult: () => ({ status: 'succeeded', output: 'soon' }),
      }),
    },
  });
  await asking.run('Ask.', await asking.thread('t2'), { principal: 'eve' });
  const inbox = inboxOf({ store });
  const { entries } = await inbox.list('ben', 'list=all&order=newest');
  expect(entries.map(({ agent, rights }) => [agent, rights.mayAnswer, rights.refusal])).toEqual([
    ['asking', false, 'missing-tool'],
    ['office', true, undefined],
  ]);
  const [question, entry] = entries;
  if (entry === undefined || question === undefined) throw new Error('Nothing is listed.');
  expect(
    only(
      await inbox.answer('ben', [
        { entry, answer: yes(entry, { input: { to: 'ACME', euros: 4 } }) },
      ]),
    ),
  ).toMatchObject({ status: 'recorded' });
  const { requestId } = question;
  const soon = {
    type: 'question-response',
    requestId,
    status: 'answered',
    answers: [{ key: 'when', optionIds: [], text: 'Soon.' }],
  };
  expect(only(await inbox.answer('ben', [{ entry: question, answer: soon }]))).toMatchObject({
    status: 'refused',
    error: { code: 'missing-tool' },
    entry: { state: 'open' },
  });
  await at.agent.run([], await at.agent.thread('t1'));
  expect(at.paid).toEqual([{ to: 'ACME', euros: 4 }]);
});
