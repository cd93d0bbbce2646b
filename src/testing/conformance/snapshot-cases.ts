import { strictEqual } from 'node:assert/strict';
import type { ThreadStore } from '../../thread/thread-store.ts';
import {
  appendInCase,
  expectConflict,
  end,
  makeEntry,
  holds,
  type StoreConformanceCase,
  makeSummary,
} from './conformance-case.ts';

/** Appends one entry together with a snapshot. */
async function appendWith(store: ThreadStore, revision: number, snapshot: string): Promise<void> {
  const after = makeSummary('t', { revision });
  await store.append('t', end(revision - 1), [makeEntry(revision)], after, undefined, snapshot);
}

/** Requirements for snapshots. A store without `snapshots` meets them. */
export const snapshotCases: readonly StoreConformanceCase[] = [
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
];
