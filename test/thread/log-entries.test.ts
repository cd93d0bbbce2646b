import { createHash } from 'node:crypto';
import { createAgent, type LogEntry, memoryStore, type ThreadStore } from 'holdpoint';
import { eventsOf } from 'holdpoint/schemas';
import { expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, memoryWorld } from '../support/travel-world.ts';

/** The hash of an entry's text as the documentation describes it. */
function hashOf(body: string, previous: string): string {
  return createHash('sha256')
    .update(`holdpoint/log-entry/v1\0${previous}${body}`)
    .digest('base64url');
}

/** An entry's text with another body, and a hash that fits. */
function sealedAgain(body: string, previous: string): string {
  return `${body},"hash":"${hashOf(body, previous)}"}`;
}

const bodyOf = ({ text }: LogEntry): string => text.slice(0, text.lastIndexOf(',"hash":"'));

async function cycle() {
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const agent = world.agent();
  const { thread, approvalRequests } = await agent.run('Book', await agent.thread('t'));
  await agent.run(
    approvalRequests.map((request) => request.approve()),
    thread,
  );
  return { ...world, entries: await world.store.read('t'), thread };
}

/** A store that has these entries of thread `t`. */
function storeWith(entries: readonly LogEntry[]): ThreadStore {
  const store = memoryStore();
  return {
    ...store,
    read: async (_id, after = 0) => entries.filter(({ revision }) => revision > after),
  };
}

const open = async (entries: readonly LogEntry[]) =>
  createAgent({ model: scriptedModel([]).model, store: storeWith(entries) }).thread('t');

test('an approval cycle has one hash for each of its five appends, and every event stands in one of them', async () => {
  const { entries, thread } = await cycle();
  expect(entries).toHaveLength(5);
  expect(entries.flatMap(eventsOf)).toEqual(thread.events);
  expect(entries.at(-1)?.revision).toBe(thread.revision);
  let previous = '';
  for (const entry of entries) {
    const hash = hashOf(bodyOf(entry), previous);
    expect(entry.text).toBe(`${bodyOf(entry)},"hash":"${hash}"}`);
    previous = hash;
  }
});

test.each<[string, (entries: LogEntry[]) => LogEntry[]]>([
  ['an entry left out', (entries) => entries.toSpliced(1, 1)],
  ['an entry doubled', (entries) => entries.toSpliced(1, 0, ...entries.slice(1, 2))],
  [
    'two entries exchanged',
    ([a, b, c, ...rest]) => [a, c, b, ...rest].flatMap((entry) => entry ?? []),
  ],
  [
    'a word changed',
    (entries) =>
      entries.map(({ revision, text }) => ({ revision, text: text.replace('Paris', 'Perth') })),
  ],
  [
    'white space added',
    (entries) =>
      entries.map(({ revision, text }) => ({ revision, text: text.replace('"v":1', '"v": 1') })),
  ],
  [
    'a wrong revision',
    (entries) => entries.map(({ revision, text }) => ({ revision: revision + 1, text })),
  ],
  [
    'an event moved to the next append',
    ([first, ...rest]) => [{ revision: 1, text: first?.text ?? '' }, ...rest],
  ],
])('a log with %s is not opened', async (_what, change) => {
  const { entries } = await cycle();
  expect(await errorCode(open(change([...entries])))).toBe('log-tampered');
});

test('a snapshot that an entry vouches for is covered by the hash, and a reader needs none', async () => {
  const { entries } = await cycle();
  const [first, second, ...rest] = entries;
  if (first === undefined || second === undefined) throw new Error('Entries were expected.');
  const previous = first.text.slice(-45, -2);
  const body = `${bodyOf(second)},"snapshot":"${'d'.repeat(43)}"`;
  const vouching = { revision: second.revision, text: sealedAgain(body, previous) };
  const store = memoryStore();
  const head = {
    threadId: 't',
    status: 'waiting',
    revision: second.revision,
    openRequests: 1,
    failures: 0,
    updatedAt: 1,
    hash: vouching.text.slice(-45, -2),
  } as const;
  await store.append('t', { revision: 0, hash: '' }, [first, vouching], head);
  const agent = createAgent({ model: scriptedModel([]).model, store });
  const thread = await agent.thread('t');
  expect(thread.revision).toBe(second.revision);
  const again = await createAgent({ model: scriptedModel([]).model }).restore(
    JSON.stringify(thread),
  );
  expect(JSON.stringify(again)).toBe(JSON.stringify(thread));
  expect(JSON.stringify(thread)).toContain(`"snapshot":"${'d'.repeat(43)}"`);
  const unvouched = { ...vouching, text: vouching.text.replace('ddd', 'eee') };
  expect(await errorCode(open([first, unvouched]))).toBe('log-tampered');
  expect(rest).toHaveLength(3);
});
