import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import {
  end,
  appendInCase,
  expectConflict,
  makeEntry,
  holds,
  isRevisionConflict,
  type StoreConformanceCase,
} from './conformance-case.ts';

/** Requirements for deleting a thread. */
export const deleteCases: readonly StoreConformanceCase[] = [
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
