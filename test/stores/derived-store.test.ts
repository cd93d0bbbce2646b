import { approve, createAgent, type ThreadStore } from 'holdpoint';
import { deriveStore, type StorePort } from 'holdpoint/stores/derive';
import { scriptedModel } from 'holdpoint/testing';
import { expect, test } from 'vitest';
import { appendGrants, createGrants, plainGrant, uses } from '../support/plain-grants.ts';
import { appendRows, closed, opened, requestsOf } from '../support/row-requests.ts';
import { FakeRedis } from '../support/fake-redis.ts';
import { redisPort } from '../support/redis-port.ts';
import { book, travelTools } from '../support/travel-world.ts';

/** Runs a story that appends, opens a request, and closes it. */
async function bookWith(store: ThreadStore) {
  const { model } = scriptedModel([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const tools = travelTools([]);
  const agent = createAgent({ model, tools, toolApproval: { book: 'user-approval' }, store });
  const thread = await agent.thread('t');
  const { approvalRequests } = await agent.run('Book.', thread);
  const answers = approvalRequests.map((request) => approve(request));
  return agent.run(answers, thread);
}

function makePort(server: FakeRedis): StorePort {
  const connect = () => server.connect();
  return redisPort(connect(), connect);
}

test('the store of the guide keeps no connection open after a write, also after one that lost a race', async () => {
  const server = new FakeRedis();
  const store = deriveStore(makePort(server));
  expect(await bookWith(store)).toMatchObject({ status: 'completed' });
  const summary = await store.head('t');
  if (summary === undefined) throw new Error('A thread was expected.');
  const entry = { revision: 1, text: '' };
  const appending = store.append('t', { revision: 0, hash: '' }, [entry], summary);
  await expect(appending).rejects.toMatchObject({ code: 'revision-conflict' });
  expect(server.connections).toBe(1);
});

test.each<[string, NonNullable<StorePort['send']>]>([
  [
    'throws',
    () => {
      throw new Error('No line.');
    },
  ],
  ['rejects', async () => Promise.reject(new Error('No line.'))],
])('a port whose send %s loses a notice, and no append', async (_what, send) => {
  const store = deriveStore({ ...makePort(new FakeRedis()), send });
  expect(await bookWith(store)).toMatchObject({ status: 'completed' });
  const notice = { type: 'claim', worker: 'w', isFree: true } as const;
  expect(() => store.send?.(notice)).not.toThrow();
});

test('a port is asked for the time only where a deadline is compared with it', async () => {
  let asked = 0;
  const now = async (): Promise<number> => Promise.resolve((asked += 1));
  const { requests } = deriveStore({ ...makePort(new FakeRedis()), now });
  await requests.list({ state: 'decided' });
  await requests.count({ threadId: 't' });
  await requests.list({ state: 'open', at: 7 });
  expect(asked).toBe(0);
  await requests.list({ state: 'open' });
  expect(asked).toBe(1);
});

test('a claim leaves what a newer version has written in its row', async () => {
  const port = makePort(new FakeRedis());
  const text = JSON.stringify({
    threadId: 't',
    status: 'paused',
    revision: 1,
    hash: 'h',
    openRequests: 0,
    failures: 0,
    nextDeadline: 5,
    updatedAt: 1,
    later: 'x',
  });
  const columns = { agent: '', status: 'paused', nextDeadline: 5, updatedAt: 1, parent: null };
  const after = { key: 't', version: 'v1', columns: { ...columns, threadId: 't' }, text };
  const row = { table: 'threads', key: 't', before: undefined, after } as const;
  await port.write({ rows: [row], deletedLogs: [] });
  const claim = { agent: null, dueBefore: 10, until: 99, limit: 1 };
  expect(await deriveStore(port).claim(claim)).toMatchObject([{ threadId: 't' }]);
  const claimed = await port.get('threads', 't');
  expect(claimed?.columns).toEqual({ ...after.columns, nextDeadline: 99 });
  expect(JSON.parse(claimed?.text ?? '')).toEqual({ ...JSON.parse(text), nextDeadline: 99 });
});

test.each<
  ['grants' | 'requests', (store: ReturnType<typeof deriveStore>) => Promise<unknown>, object]
>([
  ['grants', async (store) => appendGrants(store, 'u', uses('key')), { usesLeft: 2 }],
  ['requests', async (store) => requestsOf(store).erase?.('key'), { text: null }],
])(
  'a change of one field of %s leaves what a newer version has written',
  async (table, change, changed) => {
    const port = makePort(new FakeRedis());
    const store = deriveStore(port);
    await createGrants(store, plainGrant('key', { usesLeft: 3 }));
    await appendRows(store, 't', [opened('key')]);
    await appendRows(store, 't', [closed('key')], 2);
    const row = await port.get(table, 'key');
    if (row === undefined) throw new Error('A row was expected.');
    const stored = { ...JSON.parse(row.text), later: 'x' };
    const after = { ...row, version: 'v9', text: JSON.stringify(stored) };
    const rows = [{ table, key: 'key', before: row.version, after }];
    await port.write({ rows, deletedLogs: [] });
    await change(store);
    expect(JSON.parse((await port.get(table, 'key'))?.text ?? '')).toEqual({
      ...stored,
      ...changed,
    });
  },
);
