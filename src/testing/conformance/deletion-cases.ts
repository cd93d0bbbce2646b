import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import type { LogEntry, ThreadStore, ThreadStoreDeletion } from '../../thread/thread-store.ts';
import {
  appendInCase,
  end,
  holds,
  makeEntry,
  makeSummary,
  type StoreConformanceCase,
} from './conformance-case.ts';

/** A case for a store with `deletion`; another meets it. */
function makeCase(
  name: string,
  check: (
    deletion: ThreadStoreDeletion,
    store: ThreadStore,
    reopen: () => ThreadStore,
  ) => Promise<void>,
): StoreConformanceCase {
  return {
    name,
    async check(store, reopen) {
      if (store.deletion !== undefined) await check(store.deletion, store, reopen);
    },
  };
}

const at = (threadId: string, revision = 1) => ({ ...end(revision), threadId });

/** An entry with a hash of the length that all have. */
function makeHashedEntry(revision: number, hash: string): LogEntry {
  const text = JSON.stringify({ v: 1, events: [{ content: '🐘, "hash":"é"' }], hash });
  return { revision, text };
}

const hashes = { first: 'a'.repeat(43), second: `_-${'B'.repeat(41)}`, other: 'c'.repeat(43) };

/** Requirements for the deletion of many threads at once. A store without `deletion` meets them. */
export const deletionCases: readonly StoreConformanceCase[] = [
  makeCase(
    'groups of threads are deleted with their logs; those of which one has changed stay whole',
    async (deletion, store, reopen) => {
      for (const id of ['a', 'b', 'c', 'd', 'e']) await appendInCase(store, id);
      await appendInCase(store, 'c', { revision: 2 });
      const groups = [
        [at('b'), at('a')],
        [at('c'), at('d')],
        [at('e'), at('unknown')],
      ];
      deepStrictEqual((await deletion.delete(groups)).toSorted(), ['a', 'b']);
      const reader = reopen();
      deepStrictEqual(
        (await reader.list({})).map(({ threadId }) => threadId),
        ['c', 'd', 'e'],
      );
      for (const id of ['a', 'b']) await holds(reader, id, []);
      await holds(reader, 'c', [makeEntry(1), makeEntry(2)]);
      for (const id of ['d', 'e']) await holds(reader, id, [makeEntry(1)]);
      deepStrictEqual(await deletion.delete([]), []);
      const another = [{ threadId: 'd', revision: 1, hash: 'another' }];
      deepStrictEqual(await deletion.delete([another]), []);
      await appendInCase(store, 'a');
      await holds(reader, 'a', [makeEntry(1)]);
    },
  ),
  makeCase(
    'the child threads of threads are found by the hashes of their entries',
    async (deletion, store) => {
      const append = async (threadId: string, hash: string, revision = 1) => {
        const summary = makeSummary(threadId, { revision, agent: 'booking' });
        await store.append(threadId, end(revision - 1), [makeHashedEntry(revision, hash)], summary);
        return summary;
      };
      await append('parent', hashes.first);
      await append('parent', hashes.second, 2);
      await append('other', hashes.other);
      const children = [
        { ...(await append(`call-${hashes.first}.0.0`, 'd'.repeat(43))), parentId: 'parent' },
        { ...(await append(`call-${hashes.second}.1.0`, 'e'.repeat(43))), parentId: 'parent' },
        { ...(await append(`call-${hashes.other}.0.12`, 'f'.repeat(43))), parentId: 'other' },
      ];
      for (const id of [
        'call-',
        `call-${hashes.first}`,
        `call-${hashes.first}0.0`,
        `x${hashes.first}.0.0`,
      ]) {
        await append(id, 'g'.repeat(43));
      }
      const found = async (...ids: string[]) => {
        const all = await deletion.listChildren(ids);
        return all.toSorted((one, another) => (one.threadId < another.threadId ? -1 : 1));
      };
      const [first, second, other] = children;
      deepStrictEqual(
        await found('parent'),
        [second, first].filter((each) => each !== undefined),
      );
      strictEqual((await found('parent', 'other', 'unknown')).length, 3);
      deepStrictEqual(await found('other'), [other]);
      deepStrictEqual(await found(`call-${hashes.first}.0.0`), []);
      deepStrictEqual(await found(), []);
    },
  ),
  makeCase(
    'of two deletions of the same groups at once, each thread is deleted by one',
    async (deletion, store, reopen) => {
      const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
      for (const id of ids) await appendInCase(store, id);
      const groups = [0, 2, 4].map((first) => ids.slice(first, first + 2).map((id) => at(id)));
      const other = reopen().deletion ?? deletion;
      const deleted = await Promise.all([
        deletion.delete(groups),
        other.delete(groups.map((group) => group.toReversed()).toReversed()),
      ]);
      deepStrictEqual(deleted.flat().toSorted(), ids);
    },
  ),
];
