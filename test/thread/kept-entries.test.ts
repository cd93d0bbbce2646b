import { memoryStore, type LogEntry, type ThreadStore } from 'holdpoint';
import { eventsOf } from 'holdpoint/schemas';
import { expect, test } from 'vitest';
import { chained, endOf } from '../support/chained.ts';
import { errorCode } from '../support/error-code.ts';
import { book, memoryWorld } from '../support/travel-world.ts';

/** A thread that this process has written, read and verified, entry for entry. */
async function knownThread() {
  const store = memoryStore();
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const agent = world.agent({ store });
  const asked = await agent.run('Book', await agent.thread('t'));
  await agent.run(
    asked.approvalRequests.map((request) => request.approve()),
    asked.thread,
  );
  const entries = await store.read('t');
  const openWith = async (given: (all: readonly LogEntry[]) => LogEntry[]) => {
    const other: ThreadStore = { ...store, read: async () => given(entries) };
    return errorCode(world.agent({ store: other }).thread('t'));
  };
  return { store, world, entries, openWith };
}

test('an entry that this process has verified is verified again where it follows another one', async () => {
  const { openWith } = await knownThread();
  const { entries: others } = await knownThread();
  const foreign = others.slice(0, 1);
  expect(await openWith((all) => all.toSpliced(1, 1))).toBe('log-tampered');
  expect(await openWith((all) => all.toSpliced(0, 1, ...foreign))).toBe('log-tampered');
  expect(await openWith((all) => [...all])).toBe('no error');
});

test('an entry that this process has verified is read again if a store changes it afterwards', async () => {
  const { entries, openWith } = await knownThread();
  const loose = entries.map((entry) => ({ ...entry }));
  expect(await openWith(() => [...loose])).toBe('no error');
  const [first] = loose;
  if (first !== undefined) first.text = first.text.replace('Book', 'Look');
  expect(await openWith(() => [...loose])).toBe('log-tampered');
});

test('an entry that a store replaces by another valid one is not what this process has read', async () => {
  const { entries, openWith } = await knownThread();
  const loose = entries.map((entry) => ({ ...entry }));
  expect(await openWith(() => [...loose])).toBe('no error');
  const last = loose.at(-1);
  if (last === undefined) throw new Error('The log is empty.');
  const later = eventsOf({ ...last }).map((event) => ({ ...event, at: event.at + 1 }));
  last.text = chained(later, endOf(loose.slice(0, -1))).text;
  expect(await openWith(() => [...loose])).toBe('log-tampered');
});

test('what is kept of an entry belongs to a text that nobody can change', async () => {
  const { entries } = await knownThread();
  const [first] = entries;
  expect(() => Object.assign(first ?? {}, { text: '{}' })).toThrow(TypeError);
});

test('what a caller does to events reaches no other handle', async () => {
  const { store, world, entries } = await knownThread();
  const [created] = entries.flatMap(eventsOf);
  expect(() => Object.assign(created ?? {}, { threadId: 'other' })).toThrow(TypeError);
  const again = await world.agent({ store }).thread('t');
  expect(again.events[0]).toMatchObject({ threadId: 't' });
});
