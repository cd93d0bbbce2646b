import type { ThreadEvent, ThreadStore } from 'holdpoint';
import { eventsOf } from 'holdpoint/schemas';
import { chainedEach, endOf } from '../support/chained.ts';
import type { StoreView } from './mortal-world.ts';

/** A store that is no compare-and-swap: it appends after whatever is there. */
export const withoutCompareAndSwap: StoreView = (store) => ({
  ...store,
  async append(threadId, expected, entries, summary, ...beside) {
    const end = (await store.head(threadId)) ?? endOf([]);
    const moved = entries.map((entry) => ({
      ...entry,
      revision: entry.revision - expected.revision + end.revision,
    }));
    const { revision } = endOf(moved);
    await store.append(threadId, end, moved, { ...summary, revision }, ...beside);
  },
});

/** A store that says it has taken events of a type, and has kept others in their place. */
export function losing(type: ThreadEvent['type']): StoreView {
  return (store) => {
    /* The hashes as well, or it would be found at once: what is kept, by what the process was told, and the other way round. */
    const kept = new Map<string, string>();
    const told = new Map<string, string>();
    return {
      ...store,
      async head(threadId) {
        const summary = await store.head(threadId);
        return summary && { ...summary, hash: told.get(summary.hash) ?? summary.hash };
      },
      async append(threadId, expected, entries, summary, ...beside) {
        const lossy = entries.map((entry) =>
          eventsOf(entry).map((event) => (event.type === type ? placeholder(event) : event)),
        );
        const end = { ...expected, hash: kept.get(expected.hash) ?? expected.hash };
        const keeping = chainedEach(lossy, end);
        const { hash } = endOf(keeping);
        await store.append(threadId, end, keeping, { ...summary, hash }, ...beside);
        kept.set(summary.hash, hash);
        told.set(hash, summary.hash);
      },
    };
  };
}

function placeholder({ at }: ThreadEvent): ThreadEvent {
  return { type: 'run-renewed', at, runId: 'lost', leaseUntil: at };
}

/** A store that says an append is durable when it is not: it is written with the next one. */
export const writingBehind: StoreView = (store) => {
  const behind: Parameters<ThreadStore['append']>[] = [];
  return {
    ...store,
    async read(threadId, afterRevision = 0) {
      const unwritten = behind.flatMap(([, , entries]) => entries);
      const all = [...(await store.read(threadId)), ...unwritten];
      return all.filter(({ revision }) => revision > afterRevision);
    },
    head: async (threadId) => behind.at(-1)?.[3] ?? store.head(threadId),
    async append(...input) {
      const before = behind.shift();
      if (before !== undefined) await store.append(...before);
      behind.push(input);
    },
  };
};
