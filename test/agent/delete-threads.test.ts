import { type Agent, memoryStore, type ThreadStore } from 'holdpoint';
import { deleteThreads } from 'holdpoint/worker';
import { describe, expect, test } from 'vitest';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';
import { everyStore, storeOfEach } from '../support/every-store.ts';

const day = 24 * 60 * 60 * 1000;
const tomorrow = () => Date.now() + day;

const listIds = async (store: ThreadStore): Promise<string[]> =>
  (await store.list({ limit: 1_000 })).map(({ threadId }) => threadId);

/** A manager whose sub-agent has a sub-agent that pays, in a thread whose payment was approved. */
async function payThrough(
  office: AgentOffice,
  threadId: string,
  { isAnswered = true, now = Date.now } = {},
) {
  const payer = office.payer('payer', [{ calls: [pay('p', 'Ann')] }, { text: 'Paid.' }], { now });
  const buyer = office.agent('buyer', [{ calls: [ask('b', 'pay', 'Pay.')] }, { text: 'Bought.' }], {
    tools: { pay: office.tool(payer) },
    now,
  });
  const managing = { tools: { buy: office.tool(buyer) }, now };
  const buys = [{ calls: [ask('m', 'buy', 'Buy.')] }, { text: 'Done.' }];
  const manager = office.agent('manager', buys, managing);
  const { thread, approvalRequests } = await manager.run('Go.', await manager.thread(threadId));
  const answers = approvalRequests.map((request) => request.approve());
  if (isAnswered) await manager.run(answers, thread);
  return { managing, manager, buyer, payer, thread, answers };
}

async function talk(agent: Agent, ...ids: string[]): Promise<void> {
  for (const id of ids) await agent.run('Hi.', await agent.thread(id));
}

const talker = (office: AgentOffice, name = 'talker', times = 9) =>
  office.agent(
    name,
    Array.from({ length: times }, () => ({ text: 'Hello.' })),
  );

describe.each(everyStore())('$name', ({ start }) => {
  const open = storeOfEach(start);

  test('what is over and old is deleted with its sub-agents’ threads, its requests and its log', async () => {
    const store = open();
    const office = new AgentOffice(store);
    await payThrough(office, 'over');
    await payThrough(office, 'waits', { isAnswered: false });
    await talk(talker(office), 'other');
    expect(
      await deleteThreads(store, { agent: 'manager', updatedBefore: Date.now() - day }),
    ).toEqual({
      deleted: 0,
      kept: 0,
    });
    expect(await deleteThreads(store, { agent: 'manager', updatedBefore: tomorrow() })).toEqual({
      deleted: 3,
      kept: 0,
    });
    const left = await listIds(store);
    expect(left.filter((id) => !id.startsWith('call-'))).toEqual(['other', 'waits']);
    expect(left).toHaveLength(4);
    const rows = await store.requests?.list({ state: 'decided' });
    expect(rows ?? []).toEqual([]);
    expect(await store.read('over')).toEqual([]);
  });

  test('a sub-agent’s thread that is over stays as long as its parent has its result to come', async () => {
    const store = open();
    const { promise: died, resolve: die } = Promise.withResolvers<void>();
    let late = 0;
    /* The process dies when the result is to be recorded in the parent thread. */
    const mortal: ThreadStore = {
      ...store,
      append: async (threadId, ...entry) => {
        if (threadId === 'parent' && (await store.count({ status: 'idle' })) > 0) {
          die();
          await new Promise(() => {});
        }
        await store.append(threadId, ...entry);
      },
    };
    const office = new AgentOffice(mortal);
    const { managing, manager, thread, answers } = await payThrough(office, 'parent', {
      isAnswered: false,
      now: () => Date.now() + late,
    });
    void manager.run(answers, thread);
    await died;
    for (const agent of ['manager', 'buyer', 'payer']) {
      expect(await deleteThreads(store, { agent, updatedBefore: tomorrow() })).toEqual({
        deleted: 0,
        kept: 0,
      });
    }
    mortal.append = store.append;
    late = day / 2;
    const again = office.agent('manager', [{ text: 'Done.' }], managing);
    await again.run([], await again.thread('parent'));
    expect(office.payments).toHaveLength(1);
    expect(await deleteThreads(store, { agent: 'manager', updatedBefore: tomorrow() })).toEqual({
      deleted: 3,
      kept: 0,
    });
  });

  test('what waits is deleted whole if asked for, and the feed is told', async () => {
    const store = open();
    const office = new AgentOffice(store);
    await payThrough(office, 'waits', { isAnswered: false });
    const options = { agent: 'manager', updatedBefore: tomorrow(), status: 'waiting' as const };
    expect(await deleteThreads(store, options)).toEqual({ deleted: 3, kept: 0 });
    expect(await listIds(store)).toEqual([]);
    expect((await store.requests?.list({})) ?? []).toEqual([]);
  });

  test('an archive has each thread before it is gone, and brings it back', async () => {
    const store = open();
    const office = new AgentOffice(store);
    const { manager, buyer, payer } = await payThrough(office, 'over');
    const before = JSON.stringify(await manager.thread('over'));
    const lines: string[] = [];
    const archive = async (batch: readonly string[]) => {
      expect(await store.head('over')).toBeDefined();
      lines.push(...batch);
    };
    await deleteThreads(store, { agent: 'manager', updatedBefore: tomorrow(), archive });
    expect(lines).toHaveLength(3);
    expect(lines[0]).toBe(before);
    expect(await listIds(store)).toEqual([]);
    for (const [index, agent] of [manager, buyer, payer].entries()) {
      await agent.restore(lines[index] ?? '');
    }
    expect(await listIds(store)).toHaveLength(3);
    expect((await manager.thread('over')).messages).toHaveLength(4);
  });
});

test('threads beyond a batch are deleted too, up to a limit, and only those of an agent', async () => {
  const office = new AgentOffice();
  const { store } = office;
  const ids = Array.from({ length: 250 }, (_each, index) => `t${1_000 + index}`);
  await talk(talker(office, 'talker', ids.length), ...ids);
  await talk(talker(office, 'another'), 'another');
  const options = { agent: 'talker', updatedBefore: tomorrow() };
  expect(await deleteThreads(store, { ...options, limit: 120 })).toEqual({ deleted: 120, kept: 0 });
  expect(await deleteThreads(store, options)).toEqual({ deleted: 130, kept: 0 });
  expect(await listIds(store)).toEqual(['another']);
});

test('a thread that goes on while it is archived is kept, whole', async () => {
  const office = new AgentOffice();
  const { store } = office;
  const agent = talker(office);
  await talk(agent, 'a', 'b');
  const later = office.agent('talker', [{ text: 'Hello.' }], { now: () => Date.now() + 2 * day });
  const kept: unknown[] = [];
  const result = await deleteThreads(store, {
    agent: 'talker',
    updatedBefore: tomorrow(),
    archive: async () => talk(later, 'a'),
    report: (each) => kept.push(each),
  });
  expect(result).toEqual({ deleted: 1, kept: 1 });
  expect(kept).toEqual([{ threadId: 'a', reason: 'It has changed meanwhile.' }]);
  expect((await agent.thread('a')).messages).toHaveLength(4);
});

test('a thread that goes on while its log is read for the archive is kept, and not in it', async () => {
  const office = new AgentOffice();
  const { store } = office;
  const agent = talker(office);
  await talk(agent, 'a', 'b');
  const later = office.agent('talker', [{ text: 'Hello.' }], { now: () => Date.now() + 2 * day });
  let isRead = false;
  const busy: ThreadStore = {
    ...store,
    read: async (threadId, after) => {
      if (!isRead && threadId === 'a') {
        isRead = true;
        await talk(later, 'a');
      }
      return store.read(threadId, after);
    },
  };
  const ids: string[] = [];
  const archive = (lines: readonly string[]) => {
    for (const line of lines) ids.push(JSON.parse(line).threadId);
  };
  const result = await deleteThreads(busy, { agent: 'talker', updatedBefore: tomorrow(), archive });
  expect(result).toEqual({ deleted: 1, kept: 1 });
  expect(ids).toEqual(['b']);
});

test('nothing of a batch is deleted whose archive fails', async () => {
  const office = new AgentOffice();
  await talk(talker(office), 'a', 'b');
  const deleting = deleteThreads(office.store, {
    agent: 'talker',
    updatedBefore: tomorrow(),
    archive: () => Promise.reject(new Error('The disk is full.')),
  });
  await expect(deleting).rejects.toThrow('The disk is full.');
  expect(await listIds(office.store)).toEqual(['a', 'b']);
});

test('a thread whose log was changed is kept with an archive, and reported; the others go', async () => {
  const office = new AgentOffice();
  const { store } = office;
  await talk(talker(office), 'a', 'b');
  const changed: ThreadStore = {
    ...store,
    read: async (threadId, after) => {
      const entries = await store.read(threadId, after);
      if (threadId !== 'a') return entries;
      return entries.map((entry) => ({ ...entry, text: entry.text.replace('Hi.', 'Ho.') }));
    },
  };
  const reasons: string[] = [];
  const result = await deleteThreads(changed, {
    agent: 'talker',
    updatedBefore: tomorrow(),
    archive: () => {},
    report: ({ threadId, reason }) => reasons.push(`${threadId}: ${reason}`),
  });
  expect(result).toEqual({ deleted: 1, kept: 1 });
  expect(reasons).toEqual([expect.stringMatching(/^a: The log was changed at revision 1/)]);
  expect(await listIds(store)).toEqual(['a']);
});

test('a thread stays while a sub-agent of it is at work, and goes when the lease of that is over', async () => {
  const office = new AgentOffice();
  const { store } = office;
  await payThrough(office, 'over');
  const child = (await store.list({ agent: 'payer' }))[0]?.threadId ?? '';
  let nextDeadline = Date.now() + day;
  const atWork: ThreadStore = {
    ...store,
    deletion: store.deletion && {
      ...store.deletion,
      listChildren: async (ids) =>
        ((await store.deletion?.listChildren(ids)) ?? []).map((each) =>
          each.threadId === child ? { ...each, status: 'running', nextDeadline } : each,
        ),
    },
  };
  const reasons: string[] = [];
  const options = {
    agent: 'manager',
    updatedBefore: tomorrow(),
    report: ({ reason }: { reason: string }) => reasons.push(reason),
  };
  expect(await deleteThreads(atWork, options)).toEqual({ deleted: 0, kept: 1 });
  expect(reasons).toEqual([`Its child thread ${child} is being run.`]);
  nextDeadline = Date.now();
  expect(await deleteThreads(atWork, options)).toEqual({ deleted: 3, kept: 0 });
});

test('it stops between batches when it is told to', async () => {
  const office = new AgentOffice();
  await talk(talker(office), 'a');
  const signal = AbortSignal.abort(new Error('Enough.'));
  await expect(
    deleteThreads(office.store, { agent: 'talker', updatedBefore: tomorrow(), signal }),
  ).rejects.toThrow('Enough.');
  expect(await listIds(office.store)).toEqual(['a']);
});

test.each([
  ['no agent', { updatedBefore: 1 }, /Name the agent/],
  [
    'a time that is none',
    { agent: null, updatedBefore: Number.NaN },
    /updatedBefore must be milliseconds/,
  ],
  [
    'threads that are run',
    { agent: null, updatedBefore: 1, status: 'running' },
    /the status 'running'/,
  ],
  ['a status that is none', { agent: null, updatedBefore: 1, status: 'old' }, /the status 'old'/],
  ['a limit that is none', { agent: null, updatedBefore: 1, limit: -1 }, /limit must be/],
  ['a setting that is none', { agent: null, updatedBefore: 1, before: 1 }, /no setting 'before'/],
])('%s is refused', async (_what, options, message) => {
  await expect(Reflect.apply(deleteThreads, undefined, [memoryStore(), options])).rejects.toThrow(
    message,
  );
});

test('a store that deletes single threads alone says so', async () => {
  const { deletion: _deletion, ...store } = memoryStore();
  await expect(deleteThreads(store, { agent: null, updatedBefore: 1 })).rejects.toThrow(
    /agent\.delete/,
  );
});
