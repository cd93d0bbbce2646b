import { tool } from 'ai';
import {
  type Agent,
  type AgentOptions,
  createAgent,
  memoryStore,
  type ThreadStore,
} from 'holdpoint';
import { agentTool } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { answeredBy } from '../policy/office.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, cityInput, memoryWorld, travelTools } from '../support/travel-world.ts';
import { watchRows } from '../support/watched-rows.ts';
import { pickCases } from '../support/sampling.ts';

type RequestListQuery = Parameters<Agent['requests']>[0];

/** An agent with `count` open requests, each in a thread of its own, for the approvers that `approversOf` gives. */
async function inbox(count: number, approversOf: (index: number) => string[] | undefined) {
  const watched = watchRows();
  const { model } = scriptedModel([]);
  let now = 1_000;
  const agent = createAgent({
    model,
    store: watched.store,
    name: 'office',
    mayAnswer: answeredBy({ owners: ['bob'] }),
    now: () => (now += 1),
  });
  for (let index = 0; index < count; index += 1) {
    const approvers = approversOf(index);
    const thread = await agent.thread(`t${index}`);
    await agent.requestApproval(thread, {
      text: `Number ${index}?`,
      ...(approvers && { approvers }),
    });
  }
  const list = async (query: RequestListQuery) => {
    const { requests, next } = await agent.requests(query);
    return { texts: requests.map(({ request }) => request?.text.replace(/\D/g, '')), next };
  };
  return { agent, watched, list };
}

const dees = (index: number): string[] => (index % 4 === 0 ? ['owners'] : ['dee']);

test('lists what waits for a person, and an answer made of it counts', async () => {
  const { agent, list } = await inbox(8, dees);
  const { requests, next } = await agent.requests({ principal: 'bob' });
  expect(next).toBeUndefined();
  expect(requests).toMatchObject([
    { request: { text: 'Number 0?' }, row: { threadId: 't0' }, rights: { mayAnswer: true } },
    { request: { text: 'Number 4?' }, row: { threadId: 't4' }, rights: { mayAnswer: true } },
  ]);
  const [first] = requests;
  if (first?.request?.type !== 'approval-request') throw new Error('Nothing is listed.');
  const thread = await agent.thread(first.row.threadId);
  await agent.respond(first.request.approve(), thread, { principal: 'bob' });
  expect(thread.decisions).toMatchObject([{ status: 'approved', principal: 'bob' }]);
  expect((await list({ principal: 'zed' })).texts).toEqual([]);
});

test('lists everything with the rights of the person, if that is asked for', async () => {
  const { agent } = await inbox(3, dees);
  const { requests } = await agent.requests({ principal: 'bob', include: 'all' });
  expect(requests.map(({ rights: { mayAnswer, refusal } }) => [mayAnswer, refusal])).toEqual([
    [true, undefined],
    [false, 'not-approver'],
    [false, 'not-approver'],
  ]);
});

test('the strings for which a person answers narrow what is read from the store', async () => {
  const { list, watched } = await inbox(40, dees);
  const narrow = await list({ principal: 'bob', as: ['bob', 'owners'], limit: 20 });
  expect(narrow.texts).toHaveLength(10);
  expect(watched.read).toBe(10);
  expect(watched.queries).toMatchObject([
    { approver: ['bob', 'owners'], agent: 'office', state: 'open' },
  ]);
  expect(await list({ principal: 'bob', limit: 20 })).toEqual(narrow);
});

describe('a page', () => {
  test('goes on where the last one ended, forwards and backwards', async () => {
    const { list } = await inbox(20, (index) => (index % 3 === 0 ? ['owners'] : ['dee']));
    const pages: unknown[] = [];
    const query: RequestListQuery = { principal: 'bob', limit: 2 };
    for (let page = await list(query); ; page = await list({ ...query, after: page.next })) {
      pages.push(page.texts);
      if (page.next === undefined) break;
    }
    expect(pages).toEqual([['0', '3'], ['6', '9'], ['12', '15'], ['18']]);
    const { next: middle } = await list({ principal: 'bob', limit: 4 });
    const before = await list({ principal: 'bob', limit: 2, before: middle });
    expect(before.texts).toEqual(['3', '6']);
    expect((await list({ principal: 'bob', limit: 2, before: before.next })).texts).toEqual(['0']);
  });

  test('is short after ten times its limit of rows, and its place to go on is that of its last request', async () => {
    const { list, watched } = await inbox(60, (index) =>
      [3, 55].includes(index) ? ['owners'] : ['dee'],
    );
    const query: RequestListQuery = { principal: 'bob', limit: 5 };
    const first = await list(query);
    expect(first.texts).toEqual(['3']);
    expect(watched.read).toBe(50);
    const [, , , shown] = (await watched.store.requests?.list({})) ?? [];
    expect(first.next).toEqual({
      requestId: shown?.requestId,
      createdAt: shown?.createdAt,
      risk: null,
    });
    expect(await list({ ...query, after: first.next })).toMatchObject({ texts: ['55'] });
  });

  test('has something in it if the list has, behind however many rows', async () => {
    const { list } = await inbox(60, (index) => (index === 55 ? ['owners'] : ['dee']));
    const query: RequestListQuery = { principal: 'bob', limit: 2 };
    expect(await list(query)).toMatchObject({ texts: ['55'] });
    expect(await list({ ...query, order: 'newest' })).toMatchObject({ texts: ['55'] });
    expect(await list({ principal: 'amy', limit: 2 })).toEqual({ texts: [], next: undefined });
  });

  test('of one row, and of none', async () => {
    const { list } = await inbox(1, () => ['owners']);
    expect(await list({ principal: 'bob', limit: 1 })).toMatchObject({ texts: ['0'] });
    const empty = await inbox(0, () => undefined);
    expect(await empty.list({ principal: 'bob' })).toEqual({ texts: [], next: undefined });
  });
});

describe('a row that is not its request can never be answered:', () => {
  const changes: [string, (text: string) => string | null][] = [
    ['erased', () => null],
    ['empty', () => ''],
    ['cut off', (text) => text.slice(0, -5)],
    ['of another request', (text) => text.replace('"requestId":"', '"requestId":"x')],
    ['of another thread', (text) => text.replace('"threadId":"t0"', '"threadId":"t1"')],
    ['of another kind', (text) => text.replace('approval-request', 'question-request')],
    ['with a field that no request has', (text) => text.replace('{', '{"approved":true,')],
    ['a list', (text) => `[${text}]`],
  ];

  test.each(pickCases(changes, 3))('%s', async (_what, change) => {
    const { agent, watched } = await inbox(1, () => undefined);
    expect((await agent.requests({ principal: 'bob' })).requests).toHaveLength(1);
    watched.forge = (row) => ({ ...row, text: change(row.text ?? '') });
    expect((await agent.requests({ principal: 'bob' })).requests).toEqual([]);
    const all = await agent.requests({ principal: 'bob', include: 'all' });
    expect(all.requests).toEqual([
      { row: expect.anything(), rights: expect.objectContaining({ refusal: 'no-request' }) },
    ]);
  });

  test.each(['lost-call', 'stuck-thread'] as const)(
    'a %s is listed with the others',
    async (kind) => {
      const { agent, watched } = await inbox(1, () => undefined);
      watched.forge = (row) => ({ ...row, kind });
      expect((await agent.requests({ principal: 'bob' })).requests).toEqual([]);
      expect((await agent.requests({ principal: 'bob', include: 'all' })).requests).toMatchObject([
        { row: { kind }, rights: { mayAnswer: false, refusal: 'no-request' } },
      ]);
    },
  );
});

test('what a row promises beyond its thread is refused, and changes nothing', async () => {
  const { agent, watched } = await inbox(1, () => ['dee']);
  watched.forge = (row) => ({
    ...row,
    text: (row.text ?? '').replace('"dee"', '"owners"'),
    approvers: ['owners'],
  });
  const [listed] = (await agent.requests({ principal: 'bob' })).requests;
  if (listed?.request?.type !== 'approval-request') throw new Error('Nothing is listed.');
  const thread = await agent.thread('t0');
  const { revision } = thread;
  await expect(
    agent.respond(listed.request.approve(), thread, { principal: 'bob' }),
  ).rejects.toMatchObject({ code: 'not-allowed' });
  expect(thread.revision).toBe(revision);
  expect(await agent.rights([listed.row], { principal: 'bob' })).toMatchObject([
    { mayAnswer: false },
  ]);
});

test('decided requests are listed with nothing to do', async () => {
  const { agent } = await inbox(1, () => undefined);
  const thread = await agent.thread('t0');
  const answers = thread.activeApprovalRequests.map((request) => request.approve());
  await agent.respond(answers, thread, { principal: 'bob' });
  expect((await agent.requests({ principal: 'bob', state: 'approved' })).requests).toMatchObject([
    { request: { text: 'Number 0?' }, rights: { mayAnswer: false, refusal: 'closed' } },
  ]);
});

/** A request of a sub-agent, whose `mayAnswer` may throw, and one of the agent's own; `open` opens them as another process does. */
async function below(mayAnswer?: AgentOptions['mayAnswer']) {
  const { store } = watchRows();
  /* Requests of one millisecond are listed in the order of their ids. */
  let time = Date.now();
  const now = (): number => (time += 1);
  const worlds = [
    memoryWorld([{ calls: [book('c1', 'Oslo')] }]),
    memoryWorld([{ calls: [{ id: 'd1', name: 'travel', input: { prompt: 'Book Oslo.' } }] }]),
  ] as const;
  const open = () => {
    const worker = worlds[0].agent({ store, now, name: 'worker', ...(mayAnswer && { mayAnswer }) });
    const tools = { travel: agentTool(worker, { description: 'Books.' }) };
    return worlds[1].agent({ store, now, name: 'office', tools, toolApproval: {} });
  };
  const agent = open();
  await agent.run('Book', await agent.thread('above'));
  await agent.requestApproval(await agent.thread('other'), { text: 'And this?' });
  return { store, open };
}

test.each(['long'.repeat(100), 'with\0NUL'])(
  'finds the requests of a person by a name that rows have in another form',
  async (name) => {
    const { model } = scriptedModel([]);
    const mayAnswer: AgentOptions['mayAnswer'] = ({ request }) =>
      request.type === 'approval-request' && request.approvers?.includes(name) === true;
    const agent = createAgent({ model, store: memoryStore(), mayAnswer });
    await agent.requestApproval(await agent.thread('t'), { text: 'This?', approvers: [name] });
    const { requests } = await agent.requests({ principal: 'bob', as: ['bob', name] });
    expect(requests).toMatchObject([{ rights: { mayAnswer: true } }]);
  },
);

describe('one request does not hide the others:', () => {
  test('the thread of a sub-agent is damaged', async () => {
    const { store, open } = await below();
    const read = store.read.bind(store);
    store.read = async (threadId, after) =>
      (await read(threadId, after)).map(({ revision, text }) => ({
        revision,
        text: threadId === 'above' ? text : text.replace('Oslo', 'Rome'),
      }));
    const { requests } = await open().requests({ principal: 'bob', include: 'all' });
    expect(requests).toMatchObject([
      { row: { threadId: 'above' }, rights: { mayAnswer: false, refusal: 'closed' } },
      { row: { threadId: 'other' }, rights: { mayAnswer: true } },
    ]);
  });

  test("a sub-agent's mayAnswer throws, which is reported", async () => {
    const error = new Error('The directory is down.');
    const { open } = await below(() => {
      throw error;
    });
    const agent = open();
    const failures: unknown[] = [];
    agent.on('setting-failed', (failure) => failures.push(failure));
    const { requests } = await agent.requests({ principal: 'bob', include: 'all' });
    expect(requests).toMatchObject([
      { row: { threadId: 'above' }, rights: { mayAnswer: false, refusal: 'not-approver' } },
      { row: { threadId: 'other' }, rights: { mayAnswer: true } },
    ]);
    expect(failures).toMatchObject([{ threadId: 'above', setting: 'mayAnswer', error }]);
  });
});

async function refused(listing: Promise<unknown>): Promise<string> {
  return listing.then(
    () => 'accepted',
    (error: unknown) => String(error),
  );
}

test('a store without requests, and options that are wrong, are refused with what to do', async () => {
  const { model } = scriptedModel([]);
  const { agent } = await inbox(0, () => undefined);
  const without = createAgent({ model, store: memoryStore({ requests: false }) });
  expect(await refused(without.requests({ principal: 'bob' }))).toMatch(
    /store that keeps requests/,
  );
  // @ts-expect-error -- what a program without types may pass
  expect(await refused(agent.requests({ approver: ['bob'] }))).toMatch(/no setting 'approver'/);
  expect(await refused(agent.requests({ limit: 0 }))).toMatch(/limit must be a whole number/);
  expect(await refused(agent.requests({ principal: 1n }))).toMatch(/principal must be JSON/);
});

test.each([
  ['a text', 'r1'],
  ['a place without an id', { createdAt: 1, risk: null }],
  ['a time that is none', { requestId: 'r1', createdAt: '1; drop table', risk: null }],
  ['a time without end', { requestId: 'r1', createdAt: Infinity, risk: null }],
  ['a risk that is none', { requestId: 'r1', createdAt: 1, risk: 'huge' }],
  ['null', null],
])('a place from a client that is %s is refused as input', async (_what, place) => {
  const { agent } = await inbox(1, () => undefined);
  for (const name of ['after', 'before'] as const) {
    /* What a route may pass on. */
    const query: RequestListQuery = { principal: 'bob' };
    Reflect.set(query, name, place);
    const listing = agent.requests(query);
    await expect(listing).rejects.toMatchObject({
      code: 'invalid-input',
      message: expect.stringContaining(name),
    });
  }
});

test('a place that went through a client continues the list, whatever else it has', async () => {
  const { agent } = await inbox(3, () => undefined);
  const { next } = await agent.requests({ principal: 'bob', limit: 1 });
  const after = { ...JSON.parse(JSON.stringify(next)), votes: 'many' };
  const { requests } = await agent.requests({ principal: 'bob', after });
  expect(requests).toMatchObject([{ row: { threadId: 't1' } }, { row: { threadId: 't2' } }]);
});

/** What waits for bob, found among the threads that wait, as inboxes were written before there were rows. */
async function findByThreads(agent: Agent, store: ThreadStore, owns: (id: string) => boolean) {
  const summaries = await store.list({ status: 'waiting', order: 'oldest' });
  const own = summaries.filter(({ threadId }) => owns(threadId));
  const threads = await Promise.all(own.map(async ({ threadId }) => agent.thread(threadId)));
  return threads.flatMap(({ activeRequests }) => activeRequests);
}

describe('an inbox has', () => {
  test('a request beside a call that is still running', async () => {
    const running = Promise.withResolvers<void>();
    const done = Promise.withResolvers<string>();
    const { store } = watchRows();
    const world = memoryWorld([
      { calls: [{ id: 'c0', name: 'slow', input: { city: 'Oslo' } }, book('c1', 'Paris')] },
      { text: 'Booked.' },
    ]);
    const slow = tool({
      inputSchema: cityInput,
      execute: () => {
        running.resolve();
        return done.promise;
      },
    });
    const agent = world.agent({ store, tools: { ...travelTools(world.ran), slow } });
    const run = agent.run('Book', await agent.thread('t'), { principal: 'ann' });
    await running.promise;
    const { requests } = await agent.requests({ principal: 'bob', as: ['bob'] });
    expect(requests).toMatchObject([
      { request: { toolCall: { toolName: 'book' } }, rights: { mayAnswer: true } },
    ]);
    expect(await findByThreads(agent, store, () => true)).toEqual([]);
    const answers = requests.flatMap(({ request }) =>
      request?.type === 'approval-request' ? [request.approve()] : [],
    );
    await agent.respond(answers, await agent.thread('t'), { principal: 'bob' });
    done.resolve('Looked.');
    expect((await run).status).toBe('completed');
    expect(world.ran).toMatchObject([{ name: 'book' }]);
  });

  test('your page, however many other threads wait before yours', async () => {
    const { agent, watched, list } = await inbox(151, (index) =>
      index === 150 ? ['owners'] : ['dee'],
    );
    expect(await list({ principal: 'bob', as: ['bob', 'owners'] })).toEqual({
      texts: ['150'],
      next: undefined,
    });
    expect(watched.read).toBe(1);
    const { store } = watched;
    expect(await findByThreads(agent, store, (id) => id === 't150')).toEqual([]);
  });
});
