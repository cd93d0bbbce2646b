import { deepStrictEqual, ok } from 'node:assert/strict';
import type { ThreadNotice, ThreadStore } from '../../thread/thread-store.ts';
import { end, append, type StoreConformanceCase, summary } from './conformance-case.ts';

type Heard = ThreadNotice | 'anything';

interface Ear {
  heard: Heard[];
  stop: () => Promise<void>;
}

/** Subscribes; `undefined` for a store without `subscribe`. */
function listen(store: ThreadStore): Ear | undefined {
  const heard: Heard[] = [];
  const stop = store.subscribe?.((notice) => heard.push(notice ?? 'anything'));
  return stop && { heard, stop };
}

/* A store may need time to begin to listen, so appends go on until one is heard. */
async function appendUntilHeard(writer: ThreadStore, ear: Ear, id: string): Promise<void> {
  ear.heard.length = 0;
  for (let revision = 1; revision <= 300; revision += 1) {
    await append(writer, id, { revision, status: 'waiting', nextDeadline: 7, agent: 'booking' });
    await pause(100);
    if (ear.heard.some((each) => tells(each, id))) return;
  }
  throw new Error('The subscriber heard nothing of 300 appends.');
}

function tells(heard: Heard, threadId: string): boolean {
  return heard === 'anything' || heard.threadId === threadId;
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** What the optional methods must do where a store has them. */
export const noticeCases: readonly StoreConformanceCase[] = [
  {
    name: 'every subscriber hears of appends to threads with a deadline, by this store and by others, until it ends',
    async check(store, reopen) {
      const ears = [listen(store), listen(store)].filter((ear) => ear !== undefined);
      const [first, second] = ears;
      if (first === undefined || second === undefined) return;
      try {
        for (const ear of ears) {
          await appendUntilHeard(store, ear, `here ${ears.indexOf(ear)}`);
          await appendUntilHeard(reopen(), ear, `elsewhere ${ears.indexOf(ear)}`);
        }
        const expected = { agent: 'booking', nextDeadline: 7 };
        for (const each of first.heard.filter((heard) => heard !== 'anything')) {
          deepStrictEqual(each, { threadId: each.threadId, ...expected });
        }
        await first.stop();
        const before = first.heard.length;
        await appendUntilHeard(store, second, 'after');
        deepStrictEqual(first.heard.length, before);
      } finally {
        for (const { stop } of ears) await stop();
      }
    },
  },
  {
    name: 'no notice names a thread that is running or has no deadline',
    async check(store) {
      const ear = listen(store);
      if (ear === undefined) return;
      try {
        await appendUntilHeard(store, ear, 'begun');
        await append(store, 'running', { status: 'running', nextDeadline: 1 });
        await append(store, 'idle');
        await appendUntilHeard(store, ear, 'after');
        const named = ear.heard.filter((heard) => heard !== 'anything');
        deepStrictEqual(
          named.filter(({ threadId }) => threadId === 'running' || threadId === 'idle'),
          [],
        );
      } finally {
        await ear.stop();
      }
    },
  },
  {
    name: 'the clock of the store is in milliseconds since 1970, and does not go back',
    async check(store, reopen) {
      const before = await store.now?.();
      const after = await reopen().now?.();
      if (before === undefined || after === undefined) return;
      ok(before <= after, `${before} came before ${after}`);
      const day = 86_400_000;
      ok(Math.abs(Date.now() - before) < day, `${before} is not in milliseconds since 1970`);
      await store.append(
        't',
        end(0),
        [{ revision: 1, text: '{}' }],
        summary('t', { updatedAt: before }),
      );
      deepStrictEqual((await store.head('t'))?.updatedAt, before);
    },
  },
];
