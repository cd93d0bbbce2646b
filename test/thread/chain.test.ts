import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { memoryStore, type ThreadEvent, type ThreadStore } from 'holdpoint';
import { eventsOf } from 'holdpoint/schemas';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { describe, expect, test } from 'vitest';
import { chained, chainedEach, endOf, rechainedJson, threadJsonOf } from '../support/chained.ts';
import { book, memoryWorld } from '../support/travel-world.ts';
import { pickCases } from '../support/sampling.ts';

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

/** What was appended, in the JSON form of a thread. */
interface WrittenEntry {
  events: unknown[];
  hash?: unknown;
}

/** The text of a thread whose entries were changed. */
function withEntries(text: string, change: (entries: WrittenEntry[]) => WrittenEntry[]): string {
  const json: { entries: WrittenEntry[] } = JSON.parse(text);
  const entries = change(json.entries);
  return JSON.stringify({ ...json, revision: countOf(entries), entries });
}

function countOf(entries: readonly WrittenEntry[]): number {
  return entries.reduce((count, { events }) => count + events.length, 0);
}

/** The text of a thread whose list of events was changed; they stand in the appends in which they stood, as far as those go. */
function withEvents(text: string, change: (events: unknown[]) => unknown[]): string {
  return withEntries(text, (entries) => {
    const events = change(entries.flatMap((entry) => entry.events));
    let begin = 0;
    return entries.map((entry, index) => {
      const end = index === entries.length - 1 ? events.length : begin + entry.events.length;
      const own = events.slice(begin, end);
      begin = end;
      return { ...entry, events: own };
    });
  });
}

test('each append carries SHA-256 over the hash before it and its own text', async () => {
  const store = memoryStore();
  const { thread } = await doneThread(store);
  const entries = await store.read('t');
  expect(entries.length).toBeGreaterThan(4);
  expect(entries).toEqual(chainedEach(entries.map(eventsOf)));
  expect(entries.flatMap(eventsOf)).toEqual(thread.events);
  expect(JSON.stringify(thread)).toBe(rechainedJson(JSON.stringify(thread)));
  expect(thread.toJSON()).toEqual(threadJsonOf(entries));
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
  ];

  test.each(pickCases(changes, 3))('%s', async (_what, change) => {
    const { thread } = await doneThread();
    const text = JSON.stringify(thread);
    const agent = memoryWorld(script).agent();
    for (let index = 0; index < thread.revision - 1; index += 1) {
      const changed = withEvents(text, (events) => change(events, index));
      await expect(agent.restore(changed)).rejects.toMatchObject({ code: 'log-tampered' });
      expect((await agent.thread('t')).revision).toBe(0);
    }
  });

  const entryChanges: [string, (entries: WrittenEntry[], index: number) => WrittenEntry[]][] = [
    ['when an append is left out', (entries, index) => entries.toSpliced(index, 1)],
    [
      'when an append stands twice',
      (entries, index) => entries.toSpliced(index + 1, 0, ...entries.slice(index, index + 1)),
    ],
    [
      'when two appends are exchanged',
      (entries, index) =>
        entries.toSpliced(index, 2, ...entries.slice(index, index + 2).toReversed()),
    ],
    [
      'when two appends are made one',
      (entries, index) => {
        const joined = entries.slice(index, index + 2).flatMap(({ events }) => events);
        return entries.toSpliced(index, 2, { ...entries[index + 1], events: joined });
      },
    ],
    [
      'when an append has no hash',
      (entries, index) =>
        entries.map((entry, at) =>
          at === index ? Object.assign({}, entry, { hash: undefined }) : entry,
        ),
    ],
    [
      'when an append has more than was recorded',
      (entries, index) =>
        entries.map((entry, at) =>
          at === index ? Object.assign({ snapshot: 'x' }, entry) : entry,
        ),
    ],
  ];

  test.each(pickCases(entryChanges, 3))('%s', async (_what, change) => {
    const { thread } = await doneThread();
    const text = JSON.stringify(thread);
    const agent = memoryWorld(script).agent();
    for (let index = 0; index < thread.toJSON().entries.length - 1; index += 1) {
      const changed = withEntries(text, (entries) => change(entries, index));
      await expect(agent.restore(changed)).rejects.toMatchObject({ code: 'log-tampered' });
      expect((await agent.thread('t')).revision).toBe(0);
    }
  });

  test('by the first event of the append that holds the change', async () => {
    const { thread } = await doneThread();
    const changed = withEvents(JSON.stringify(thread), (events) =>
      events.map((event, at) => (at === 4 ? Object.assign({}, event, { at: 7 }) : event)),
    );
    await expect(memoryWorld(script).agent().restore(changed)).rejects.toThrow(
      'changed at revision 4 or earlier: it differs from what was recorded',
    );
  });

  test('when the last append is missing, by its own revision', async () => {
    const { thread } = await doneThread();
    const { entries, ...json } = thread.toJSON();
    const last = entries.at(-1)?.events.length ?? 0;
    const cut = { ...json, entries: entries.slice(0, -1) };
    await expect(memoryWorld(script).agent().restore(cut)).rejects.toThrow(
      `at revision ${thread.revision}, but its JSON form has ${thread.revision - last} events`,
    );
  });

  test('when the last event is changed', async () => {
    const { thread } = await doneThread();
    const last = thread.toJSON().entries.at(-1)?.events.length ?? 0;
    const changed = withEvents(JSON.stringify(thread), (events) =>
      events.toSpliced(-1, 1, Object.assign({}, events.at(-1), { error: 'x' })),
    );
    await expect(memoryWorld(script).agent().restore(changed)).rejects.toThrow(
      `changed at revision ${thread.revision - last + 1} or earlier`,
    );
  });
});

describe('a database that somebody edited is refused when the thread is opened:', () => {
  test.each([
    [
      'an answer turned round',
      `update holdpoint_entries set entry = replace(entry, '"approved":true', '"approved":false')`,
      /revision 7 /,
    ],
    ['a row deleted', 'delete from holdpoint_entries where revision = 6', /revision 4 /],
    [
      'the last row deleted',
      'delete from holdpoint_entries where revision = (select max(revision) from holdpoint_entries)',
      /ends at revision/,
    ],
    ['all rows deleted', 'delete from holdpoint_entries', /ends at revision 0/],
    [
      'a row of another thread put in',
      `insert into holdpoint_entries values ('t', 99, '{"v":1,"events":[{"type":"run-ended","at":1}],"hash":"x"}')`,
      /changed at revision \d+ or earlier/,
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

test.each([
  ['an older state', 2, 'log-tampered'],
  ['the state before it had any thread', 0, 'thread-deleted'],
])(
  'a store that was put back to %s under a thread that is open is refused, and not tried for ever',
  async (_what, appends, code) => {
    let store = memoryStore();
    const { agent, thread } = await doneThread({
      ...store,
      read: async (...input) => store.read(...input),
      append: async (...input) => store.append(...input),
      head: async (threadId) => store.head(threadId),
    });
    const older = (await store.read('t')).slice(0, appends);
    const summary = await store.head('t');
    store = memoryStore();
    if (summary !== undefined && appends > 0)
      await store.append('t', endOf([]), older, { ...summary, ...endOf(older) });
    await expect(agent.run('Again', thread)).rejects.toMatchObject({ code });
  },
);

test('a store that gives the keys of an event in another order is found, as their text is another', async () => {
  const kept = memoryStore();
  const { agent } = await doneThread({
    ...kept,
    async read(threadId, afterRevision) {
      const entries = await kept.read(threadId, afterRevision);
      return entries.map(({ revision, text }) => ({ revision, text: reordered(text) }));
    },
  });
  await expect(agent.thread('t')).rejects.toMatchObject({ code: 'log-tampered' });
});

/** The text of an entry whose events have their type last. */
function reordered(text: string): string {
  const { v, events, hash }: { v: number; events: ThreadEvent[]; hash: string } = JSON.parse(text);
  const moved = events.map(({ type, ...rest }) => ({ ...rest, type }));
  return JSON.stringify({ v, events: moved, hash });
}

test('what others append must follow on what this process has read', async () => {
  const store = memoryStore();
  const { agent, thread } = await doneThread(store);
  const summary = await store.head('t');
  if (summary === undefined) throw new Error('The store does not have the thread.');
  const said: ThreadEvent = {
    type: 'message-added',
    at: 1,
    message: { role: 'user', content: 'x' },
  };
  const fork = chained([said], { revision: thread.revision, hash: '' });
  await store.append('t', summary, [fork], { ...summary, ...endOf([fork]) });
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
