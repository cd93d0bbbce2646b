import { memoryStore, type ThreadStore } from 'holdpoint';

/** A memory store that keeps snapshots, and a look at them. */
export interface SnapshotStore extends ThreadStore {
  kept: Map<string, string>;
}

/** A memory store with snapshots: see `withSnapshots`. */
export function snapshotStore(every = 64): SnapshotStore {
  const kept = new Map<string, string>();
  return { ...withSnapshots(memoryStore(), kept, every), kept };
}

/**
 * A store that keeps snapshots in `kept`, by thread. Its entries are parsed and verified anew by everyone who reads them, as those of a
 * database are. With 0 as `every`, a short thread has a new one with almost each append.
 */
export function withSnapshots(
  store: ThreadStore,
  kept: Map<string, string>,
  every: number,
): ThreadStore {
  return {
    ...store,
    snapshots: { every, read: async (threadId) => kept.get(threadId) },
    async read(...input) {
      const entries = await store.read(...input);
      return entries.map((entry) => Object.freeze({ ...entry }));
    },
    async append(threadId, expected, entries, summary, { snapshot, ...beside } = {}) {
      await store.append(threadId, expected, entries, summary, beside);
      if (snapshot !== undefined) kept.set(threadId, snapshot);
    },
    async delete(threadId, expected) {
      await store.delete(threadId, expected);
      kept.delete(threadId);
    },
  };
}
