import type { ThreadStore } from 'holdpoint';

/** Milliseconds spent waiting for a store, and how often. */
export interface StoreTimes {
  append: number;
  appends: number;
  /** Entries and summaries. */
  read: number;
  reads: number;
}

/** A store that notes how long its reads and appends take. */
export function timedStore(store: ThreadStore, times: StoreTimes): ThreadStore {
  const reading = async <RESULT>(read: () => Promise<RESULT>): Promise<RESULT> => {
    const begin = performance.now();
    const result = await read();
    times.read += performance.now() - begin;
    times.reads += 1;
    return result;
  };
  return {
    ...store,
    read: async (threadId, afterRevision) =>
      reading(async () => store.read(threadId, afterRevision)),
    head: async (threadId) => reading(async () => store.head(threadId)),
    list: async (query) => reading(async () => store.list(query)),
    async append(...input) {
      const begin = performance.now();
      await store.append(...input);
      times.append += performance.now() - begin;
      times.appends += 1;
    },
  };
}

/** Times of nothing yet. */
export function noTimes(): StoreTimes {
  return { append: 0, appends: 0, read: 0, reads: 0 };
}
