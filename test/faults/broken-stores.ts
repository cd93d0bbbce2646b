import type { NewThreadEvent, ThreadEvent, ThreadEventType, ThreadStore } from 'holdpoint';
import { chained } from '../support/chained.ts';
import type { StoreView } from './mortal-world.ts';

/** A store that is no compare-and-swap: it appends after whatever is there. */
export const withoutCompareAndSwap: StoreView = (store) => ({
  ...store,
  async append(threadId, _expected, events, summary) {
    const revision = (await store.read(threadId)).length;
    await store.append(threadId, revision, events, summary);
  },
});

/** A store that says it has taken events of a type, and has kept others in their place. */
export function losing(type: ThreadEventType): StoreView {
  return (store) => ({
    ...store,
    async append(threadId, expected, events, summary) {
      const before = (await store.read(threadId)).at(-1)?.hash;
      const lossy = events.map((event) => (event.type === type ? placeholder(event) : event));
      /* The hashes as well, or it would be found at once. */
      const kept = chained(lossy, before);
      await store.append(threadId, expected, kept, summary);
    },
  });
}

function placeholder({ at }: ThreadEvent): NewThreadEvent {
  return { type: 'run-renewed', at, runId: 'lost', leaseUntil: at };
}

/** A store that says an append is durable when it is not: it is written with the next one. */
export const writingBehind: StoreView = (store) => {
  const behind: Parameters<ThreadStore['append']>[] = [];
  return {
    ...store,
    async read(threadId, afterRevision = 0) {
      const unwritten = behind.flatMap(([, , events]) => events);
      return [...(await store.read(threadId)), ...unwritten].slice(afterRevision);
    },
    async append(...input) {
      const before = behind.shift();
      if (before !== undefined) await store.append(...before);
      behind.push(input);
    },
  };
};
