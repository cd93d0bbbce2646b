import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import {
  end,
  append,
  conflicts,
  entry,
  holds,
  isConflict,
  type StoreConformanceCase,
} from './conformance-case.ts';

/** Requirements for deleting a thread. */
export const deleteCases: readonly StoreConformanceCase[] = [
  {
    name: 'a deleted thread is removed everywhere and its id is free; other threads are unchanged',
    async check(store, reopen) {
      const others = [await append(store, 'a'), await append(store, 'tt', { status: 'waiting' })];
      await append(store, 't', { nextDeadline: 1, agent: 'booking' });
      await append(store, 't', { revision: 2, nextDeadline: 1, agent: 'booking' });
      await store.delete('t', end(2));
      const reader = reopen();
      await holds(reader, 't', []);
      strictEqual(await reader.head('t'), undefined);
      deepStrictEqual(await reader.list({}), others);
      deepStrictEqual(await reader.list({ dueBefore: 2 }), []);
      strictEqual(await reader.count({}), 2);
      strictEqual(await reader.count({ agent: 'booking' }), 0);
      for (const { threadId } of others) await holds(reader, threadId, [entry(1)]);
      await append(store, 't');
      await holds(reader, 't', [entry(1)]);
    },
  },
  {
    name: 'delete is an exact compare-and-swap, and a thread that does not exist is at revision 0',
    async check(store) {
      await append(store, 't');
      const head = await append(store, 't', { revision: 2 });
      for (const revision of [0, 1, 3]) await conflicts(store.delete('t', end(revision)));
      await holds(store, 't', [entry(1), entry(2)]);
      deepStrictEqual(await store.head('t'), head);
      await conflicts(store.delete('t', { revision: 2, hash: 'another' }));
      await conflicts(store.delete('other', end(1)));
      await store.delete('other', end(0));
      await store.delete('t', end(2));
      await conflicts(append(store, 't', { revision: 3 }));
      await conflicts(store.delete('t', end(2)));
    },
  },
  {
    name: 'of a concurrent delete and append at one revision, one succeeds and the other conflicts',
    async check(store, reopen) {
      const other = reopen();
      for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) {
        await append(store, id);
        const [deleted, appended] = await Promise.allSettled([
          store.delete(id, end(1)),
          append(other, id, { revision: 2 }),
        ]);
        const lost = [deleted, appended].filter((outcome) => outcome.status === 'rejected');
        deepStrictEqual(
          lost.map(({ reason }) => isConflict(reason)),
          [true],
        );
        await holds(store, id, deleted.status === 'fulfilled' ? [] : [entry(1), entry(2)]);
        strictEqual(
          (await store.head(id))?.revision,
          deleted.status === 'fulfilled' ? undefined : 2,
        );
      }
    },
  },
];
