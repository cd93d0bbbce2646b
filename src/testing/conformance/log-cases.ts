import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import type { ThreadSummary, ThreadStore } from '../../thread/thread-store.ts';
import {
  end,
  appendInCase,
  expectConflict,
  makeEntry,
  holds,
  isRevisionConflict,
  pickPlain,
  type StoreConformanceCase,
  makeSummary,
} from './conformance-case.ts';

/** Appends one entry together with a snapshot. */
async function appendWith(store: ThreadStore, revision: number, snapshot: string): Promise<void> {
  const after = makeSummary('t', { revision });
  await store.append('t', end(revision - 1), [makeEntry(revision)], after, { snapshot });
}

/** Requirements for the log of a thread: appends, snapshots, and its deletion. A store without `snapshots` meets those for them. */
export const logCases: readonly StoreConformanceCase[] = [
  {
    name: 'a thread without appends has no entries and no head',
    async check(store) {
      await holds(store, 't', []);
      strictEqual(await store.head('t'), undefined);
      deepStrictEqual(await store.list({}), []);
      strictEqual(await store.count({}), 0);
    },
  },
  {
    name: 'appended entries can be read at once, in this and other processes, in order and from a revision',
    async check(store, reopen) {
      await appendInCase(store, 't');
      await store.append(
        't',
        end(1),
        [makeEntry(4, 'three events')],
        makeSummary('t', { revision: 4 }),
      );
      const head = await appendInCase(store, 't', { revision: 5 });
      for (const reader of [store, reopen()]) {
        await holds(reader, 't', [makeEntry(1), makeEntry(4, 'three events'), makeEntry(5)]);
        deepStrictEqual(pickPlain(await reader.read('t', 1)), [
          makeEntry(4, 'three events'),
          makeEntry(5),
        ]);
        deepStrictEqual(pickPlain(await reader.read('t', 2)), [
          makeEntry(4, 'three events'),
          makeEntry(5),
        ]);
        deepStrictEqual(pickPlain(await reader.read('t', 4)), [makeEntry(5)]);
        deepStrictEqual(await reader.read('t', 5), []);
        deepStrictEqual(await reader.head('t'), head);
      }
    },
  },
  {
    name: 'an append of several entries stores all of them or none',
    async check(store, reopen) {
      const entries = Array.from({ length: 50 }, (_, index) =>
        makeEntry(index + 1, `entry ${index}`),
      );
      const head = makeSummary('t', { revision: 50 });
      await store.append('t', end(0), entries, head);
      await holds(reopen(), 't', entries);
      deepStrictEqual(await reopen().head('t'), head);
      await expectConflict(store.append('t', end(0), entries, head));
      await expectConflict(
        store.append(
          't',
          end(49),
          [makeEntry(50), makeEntry(51)],
          makeSummary('t', { revision: 51 }),
        ),
      );
      await holds(store, 't', entries);
    },
  },
  {
    name: 'append is an exact compare-and-swap: it stores everything at the expected revision, or nothing',
    async check(store) {
      const head = await appendInCase(store, 't');
      for (const revision of [0, 2, 5]) {
        const late = makeSummary('t', { revision: revision + 1, status: 'waiting' });
        await expectConflict(
          store.append('t', end(revision), [makeEntry(revision + 1, 'late')], late),
        );
      }
      /* A different thread with the same id and length, as after a deletion. */
      const elsewhere = { revision: 1, hash: 'another' };
      await expectConflict(
        store.append('t', elsewhere, [makeEntry(2)], makeSummary('t', { revision: 2 })),
      );
      await expectConflict(
        store.append('other', end(1), [makeEntry(2)], makeSummary('other', { revision: 2 })),
      );
      await holds(store, 't', [makeEntry(1)]);
      deepStrictEqual(await store.list({}), [head]);
    },
  },
  {
    name: 'of several concurrent appends at one revision, one succeeds and the others conflict',
    async check(store, reopen) {
      const stores = [store, reopen(), reopen(), reopen()];
      for (const revision of [1, 2, 3]) {
        const appends = stores.map(async (other) => appendInCase(other, 't', { revision }));
        const outcomes = await Promise.allSettled(appends);
        const lost = outcomes.filter((outcome) => outcome.status === 'rejected');
        deepStrictEqual(
          lost.map(({ reason }) => isRevisionConflict(reason)),
          [true, true, true],
        );
      }
      await holds(store, 't', [makeEntry(1), makeEntry(2), makeEntry(3)]);
    },
  },
  {
    name: 'text is returned unchanged: escapes, line separators, numbers, key order, megabytes',
    async check(store, reopen) {
      const texts = [
        JSON.stringify(['\0', '"\\', '\uD800', "'; --", '$1 ? :x %s']),
        '{"raw":"é\u2028\u2029𝒳\u007F","b":1,"a":2}',
        '[1.0, 1e400,-0, 12345678901234567890]  ',
        JSON.stringify('x'.repeat(2_000_000)),
        JSON.stringify('"\\'.repeat(200_000)),
      ];
      const entries = texts.map((text, index) => ({ revision: index + 1, text }));
      for (const one of entries) {
        await store.append(
          't',
          end(one.revision - 1),
          [one],
          makeSummary('t', { revision: one.revision }),
        );
      }
      await store.append('u', end(0), entries, makeSummary('u', { revision: entries.length }));
      for (const id of ['t', 'u']) await holds(reopen(), id, entries);
    },
  },
  {
    name: 'the head is exactly the last summary, with no fields of an earlier one',
    async check(store, reopen) {
      const summaries: ThreadSummary[] = [
        makeSummary('t', { agent: 'booking', status: 'running', failures: 3, nextDeadline: 0 }),
        makeSummary('t', { revision: 2, openRequests: 2, status: 'waiting', updatedAt: 0.5 }),
        makeSummary('t', {
          revision: 3,
          agent: 'é',
          status: 'stuck',
          nextDeadline: 1_700_000_000_000.5,
        }),
        makeSummary('t', { revision: 4, status: 'indeterminate', updatedAt: 1_700_000_000_000 }),
      ];
      for (const head of summaries) {
        await store.append('t', end(head.revision - 1), [makeEntry(head.revision)], head);
        deepStrictEqual(await reopen().head('t'), head);
        deepStrictEqual(await reopen().list({}), [head]);
      }
    },
  },
  {
    name: 'objects that are passed in or returned are not shared with the store',
    async check(store) {
      const given = { ...makeEntry(1) };
      const head = makeSummary('t');
      await store.append('t', end(0), [given], head);
      Object.assign(given, { text: 'changed' });
      Object.assign(head, { status: 'running' });
      const [read] = await store.read('t');
      Reflect.set(Object(read), 'text', 'changed');
      Reflect.set(Object(await store.head('t')), 'status', 'waiting');
      Reflect.set(Object((await store.list({}))[0]), 'status', 'waiting');
      await holds(store, 't', [makeEntry(1)]);
      deepStrictEqual(await store.head('t'), makeSummary('t'));
    },
  },
  {
    name: 'thread ids are distinguished, whatever characters they contain',
    async check(store) {
      const injection = "'; drop table holdpoint_entries; --";
      const long = 'é'.repeat(255);
      const odd = ['__proto__', 'constructor', injection, 'é', 'É', 'a', 'A', ' a', '?', '$1', '%'];
      const ids = [...odd, `${long}1`, `${long}2`];
      for (const id of ids) await store.append(id, end(0), [makeEntry(1, id)], makeSummary(id));
      for (const id of ids) await holds(store, id, [makeEntry(1, id)]);
      strictEqual((await store.list({})).length, ids.length);
    },
  },
  {
    name: 'the latest snapshot of a thread is kept byte for byte, and is not among its entries',
    async check(store, reopen) {
      if (store.snapshots === undefined) return;
      strictEqual(await store.snapshots.read('t'), undefined);
      await appendInCase(store, 't');
      await appendInCase(store, 'other');
      await appendWith(store, 2, 'first');
      const text = JSON.stringify({ note: 'é "\u2028 ' }).repeat(10_000);
      await appendWith(store, 3, text);
      await appendInCase(store, 't', { revision: 4 });
      const reader = reopen();
      strictEqual(await reader.snapshots?.read('t'), text);
      strictEqual(await reader.snapshots?.read('other'), undefined);
      await holds(reader, 't', [makeEntry(1), makeEntry(2), makeEntry(3), makeEntry(4)]);
      strictEqual((await reader.head('t'))?.revision, 4);
    },
  },
  {
    name: 'a snapshot that is appended with a whole thread is kept',
    async check(store, reopen) {
      if (store.snapshots === undefined) return;
      const entries = [makeEntry(1), makeEntry(2), makeEntry(3)];
      const after = makeSummary('t', { revision: 3 });
      await store.append('t', end(0), entries, after, { snapshot: 'whole' });
      strictEqual(await reopen().snapshots?.read('t'), 'whole');
      await holds(store, 't', entries);
      await expectConflict(store.append('t', end(0), entries, after, { snapshot: 'other' }));
      strictEqual(await store.snapshots.read('t'), 'whole');
      await appendWith(store, 4, 'next');
      strictEqual(await store.snapshots.read('t'), 'next');
    },
  },
  {
    name: 'an append that conflicts keeps no snapshot',
    async check(store) {
      if (store.snapshots === undefined) return;
      await appendInCase(store, 't');
      await appendWith(store, 2, 'kept');
      await expectConflict(appendWith(store, 2, 'lost'));
      strictEqual(await store.snapshots.read('t'), 'kept');
      await holds(store, 't', [makeEntry(1), makeEntry(2)]);
    },
  },
  {
    name: 'a deleted thread has no snapshot, nor has the next one with its id',
    async check(store, reopen) {
      if (store.snapshots === undefined) return;
      await appendInCase(store, 't');
      await appendWith(store, 2, 'kept');
      await store.delete('t', end(2));
      strictEqual(await reopen().snapshots?.read('t'), undefined);
      await appendInCase(store, 't');
      strictEqual(await store.snapshots.read('t'), undefined);
    },
  },
  {
    name: 'a deleted thread is removed everywhere and its id is free; other threads are unchanged',
    async check(store, reopen) {
      const others = [
        await appendInCase(store, 'a'),
        await appendInCase(store, 'tt', { status: 'waiting' }),
      ];
      await appendInCase(store, 't', { nextDeadline: 1, agent: 'booking' });
      await appendInCase(store, 't', { revision: 2, nextDeadline: 1, agent: 'booking' });
      await store.delete('t', end(2));
      const reader = reopen();
      await holds(reader, 't', []);
      strictEqual(await reader.head('t'), undefined);
      deepStrictEqual(await reader.list({}), others);
      deepStrictEqual(await reader.list({ dueBefore: 2 }), []);
      strictEqual(await reader.count({}), 2);
      strictEqual(await reader.count({ agent: 'booking' }), 0);
      for (const { threadId } of others) await holds(reader, threadId, [makeEntry(1)]);
      await appendInCase(store, 't');
      await holds(reader, 't', [makeEntry(1)]);
    },
  },
  {
    name: 'delete is an exact compare-and-swap, and a thread that does not exist is at revision 0',
    async check(store) {
      await appendInCase(store, 't');
      const head = await appendInCase(store, 't', { revision: 2 });
      for (const revision of [0, 1, 3]) await expectConflict(store.delete('t', end(revision)));
      await holds(store, 't', [makeEntry(1), makeEntry(2)]);
      deepStrictEqual(await store.head('t'), head);
      await expectConflict(store.delete('t', { revision: 2, hash: 'another' }));
      await expectConflict(store.delete('other', end(1)));
      await store.delete('other', end(0));
      await store.delete('t', end(2));
      await expectConflict(appendInCase(store, 't', { revision: 3 }));
      await expectConflict(store.delete('t', end(2)));
    },
  },
  {
    name: 'of a concurrent delete and append at one revision, one succeeds and the other conflicts',
    async check(store, reopen) {
      const other = reopen();
      for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) {
        await appendInCase(store, id);
        const [deleted, appended] = await Promise.allSettled([
          store.delete(id, end(1)),
          appendInCase(other, id, { revision: 2 }),
        ]);
        const lost = [deleted, appended].filter((outcome) => outcome.status === 'rejected');
        deepStrictEqual(
          lost.map(({ reason }) => isRevisionConflict(reason)),
          [true],
        );
        await holds(store, id, deleted.status === 'fulfilled' ? [] : [makeEntry(1), makeEntry(2)]);
        strictEqual(
          (await store.head(id))?.revision,
          deleted.status === 'fulfilled' ? undefined : 2,
        );
      }
    },
  },
];
