import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { memoryStore, type ThreadEvent, type ThreadStore } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { describe, expect, test } from 'vitest';
import { chained } from '../support/chained.ts';
import { book, memoryWorld } from '../support/travel-world.ts';

const script = [{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }];

/** A thread that was approved and has come to its end. */
async function doneThread(store: ThreadStore = memoryStore()) {
  const world = memoryWorld(script);
  const agent = world.agent({ store });
  const asked = await agent.run('Book', await agent.thread('t'));
  const answers = asked.approvalRequests.map((request) => request.approve());
  await agent.run(answers, asked.thread, { principal: { id: 'ann' }, channel: 'terminal' });
  return { world, agent, thread: asked.thread };
}

/** The text of a thread whose list of events was changed. */
function withEvents(text: string, change: (events: unknown[]) => unknown[]): string {
  const json = JSON.parse(text);
  const events = change(json.events);
  return JSON.stringify({ ...json, revision: events.length, events });
}

test('each event carries SHA-256 over the hash before it and its own text', async () => {
  const { thread } = await doneThread();
  expect(thread.events.length).toBeGreaterThan(8);
  expect(thread.events).toEqual(chained(thread.events));
});

describe('JSON is refused, with the revision that is not as recorded,', () => {
  const changes: [string, (events: unknown[], index: number) => unknown[]][] = [
    [
      'when an event is changed: each of them, the last one too',
      (events, index) =>
        events.map((event, at) => (at === index ? Object.assign({}, event, { at: 7 }) : event)),
    ],
    ['when an event is left out', (events, index) => events.toSpliced(index, 1)],
    [
      'when an event stands twice',
      (events, index) => events.toSpliced(index + 1, 0, events[index]),
    ],
    [
      'when two events are exchanged',
      (events, index) => events.toSpliced(index, 2, events[index + 1], events[index]),
    ],
    [
      'when an event has no hash',
      (events, index) =>
        events.map((event, at) =>
          at === index ? Object.assign({}, event, { hash: undefined }) : event,
        ),
    ],
  ];

  test.each(changes)('%s', async (_what, change) => {
    const { thread } = await doneThread();
    const text = JSON.stringify(thread);
    const agent = memoryWorld(script).agent();
    for (let index = 0; index < thread.revision - 1; index += 1) {
      const changed = withEvents(text, (events) => change(events, index));
      await expect(agent.restore(changed)).rejects.toMatchObject({ code: 'log-tampered' });
      expect((await agent.thread('t')).revision).toBe(0);
    }
    const last = withEvents(text, (events) =>
      events.map((event, at) => (at === 4 ? Object.assign({}, event, { at: 7 }) : event)),
    );
    await expect(agent.restore(last)).rejects.toThrow(/revision 5 is not what was recorded/);
  });

  test('when the last event is missing, by its own revision', async () => {
    const { thread } = await doneThread();
    const { events, ...json } = thread.toJSON();
    const cut = { ...json, events: events.slice(0, -1) };
    await expect(memoryWorld(script).agent().restore(cut)).rejects.toThrow(
      `at revision ${thread.revision}, and its JSON form has ${thread.revision - 1} events`,
    );
  });

  test('when the last event is changed', async () => {
    const { thread } = await doneThread();
    const changed = withEvents(JSON.stringify(thread), (events) =>
      events.toSpliced(-1, 1, Object.assign({}, events.at(-1), { error: 'x' })),
    );
    await expect(memoryWorld(script).agent().restore(changed)).rejects.toThrow(
      `revision ${thread.revision} is not`,
    );
  });
});

describe('a database that somebody edited is refused when the thread is opened:', () => {
  test.each([
    [
      'an answer turned round',
      `update holdpoint_events set event = replace(event, '"approved":true', '"approved":false')`,
      /revision 7 /,
    ],
    ['a row deleted', 'delete from holdpoint_events where revision = 4', /revision 4 /],
    [
      'the last row deleted',
      'delete from holdpoint_events where revision = (select max(revision) from holdpoint_events)',
      /ends at revision/,
    ],
    ['all rows deleted', 'delete from holdpoint_events', /ends at revision 0/],
    [
      'a row of another thread put in',
      `insert into holdpoint_events values ('t', 99, '{"v":1,"type":"run-ended","at":1,"hash":"x"}')`,
      /revision \d+ is not/,
    ],
  ])('%s', async (_what, sql, message) => {
    const folder = mkdtempSync(join(tmpdir(), 'holdpoint-chain-'));
    try {
      using store = sqliteStore(join(folder, 'threads.sqlite'));
      const { agent } = await doneThread(store);
      using database = new DatabaseSync(join(folder, 'threads.sqlite'));
      expect(Number(database.prepare(sql).run().changes)).toBeGreaterThan(0);
      const opening = agent.thread('t');
      await expect(opening).rejects.toMatchObject({ code: 'log-tampered' });
      await expect(opening).rejects.toThrow(message);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

test('a store that was put back to an older state under a thread that is open is refused, and not tried for ever', async () => {
  let store = memoryStore();
  const { agent, thread } = await doneThread({
    read: async (...input) => store.read(...input),
    append: async (...input) => store.append(...input),
    head: async (threadId) => store.head(threadId),
    list: async (query) => store.list(query),
  });
  store = memoryStore();
  await expect(agent.run('Again', thread)).rejects.toMatchObject({ code: 'log-tampered' });
});

test('a store that gives the keys of an event in another order is found, as their text is another', async () => {
  const kept = memoryStore();
  const { agent } = await doneThread({
    ...kept,
    async read(threadId, afterRevision) {
      const events = await kept.read(threadId, afterRevision);
      return events.map(({ type, ...rest }): ThreadEvent => Object.assign({ ...rest, type }));
    },
  });
  await expect(agent.thread('t')).rejects.toMatchObject({ code: 'log-tampered' });
});

test('what others append must follow on what this process has read', async () => {
  const store = memoryStore();
  const { agent, thread } = await doneThread(store);
  const fork = chained([{ type: 'message-added', at: 1, message: { role: 'user', content: 'x' } }]);
  const summary = { threadId: 't', status: 'idle', openRequests: 0, updatedAt: 1 } as const;
  await store.append('t', thread.revision, fork, { ...summary, revision: thread.revision + 1 });
  await expect(agent.run('Go on', thread)).rejects.toMatchObject({ code: 'log-tampered' });
});

test('the events are an audit trail: who, when, through which channel, what was shown, decided, run and came out', async () => {
  const { thread, world } = await doneThread();
  const about = thread.events.filter(({ type }) => /^(request|call)-/.test(type));
  const digest = expect.stringMatching(/^[\w-]{43}$/);
  expect(about).toMatchObject([
    {
      type: 'request-opened',
      at: expect.any(Number),
      place: { step: 0, index: 0 },
      request: { text: 'The agent wants to call book.', digest },
    },
    {
      type: 'request-answered',
      at: expect.any(Number),
      response: { approved: true, digest },
      principal: { id: 'ann' },
      channel: 'terminal',
    },
    { type: 'call-started', step: 0, index: 0 },
    { type: 'call-ended', outcome: { status: 'succeeded', output: { booked: 'Paris' } } },
  ]);
  expect(thread.calls).toMatchObject([{ input: { city: 'Paris' }, status: 'succeeded' }]);
  expect(world.ran).toHaveLength(1);
});
