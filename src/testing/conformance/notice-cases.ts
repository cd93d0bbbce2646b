import { deepStrictEqual, ok } from 'node:assert/strict';
import type { ThreadNotice, ThreadStore } from '../../thread/thread-store.ts';
import { end, appendInCase, type StoreConformanceCase, makeSummary } from './conformance-case.ts';

type Received = ThreadNotice | 'anything';

interface Subscription {
  received: Received[];
  stop: () => Promise<void>;
}

/** Subscribes; `undefined` for a store without `subscribe`. */
function subscribe(store: ThreadStore): Subscription | undefined {
  const received: Received[] = [];
  const stop = store.subscribe?.((notice) => received.push(notice ?? 'anything'));
  return stop && { received, stop };
}

/* A subscription may need time to start, so appends are repeated until a notice arrives. */
async function appendUntilNoticed(
  writer: ThreadStore,
  subscription: Subscription,
  id: string,
): Promise<void> {
  subscription.received.length = 0;
  for (let revision = 1; revision <= 300; revision += 1) {
    await appendInCase(writer, id, {
      revision,
      status: 'waiting',
      nextDeadline: 7,
      agent: 'booking',
    });
    await pause(100);
    if (subscription.received.some((each) => isAbout(each, id))) return;
  }
  throw new Error('The subscriber received no notice of 300 appends.');
}

function isAbout(received: Received, threadId: string): boolean {
  return received === 'anything' || received.threadId === threadId;
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Requirements for the optional methods, if a store has them. */
export const noticeCases: readonly StoreConformanceCase[] = [
  {
    name: 'every subscriber is notified of appends to threads with a deadline, by any process, until it unsubscribes',
    async check(store, reopen) {
      const both = [subscribe(store), subscribe(store)].filter((each) => each !== undefined);
      const [first, second] = both;
      if (first === undefined || second === undefined) return;
      try {
        for (const each of both) {
          await appendUntilNoticed(store, each, `here ${both.indexOf(each)}`);
          await appendUntilNoticed(reopen(), each, `elsewhere ${both.indexOf(each)}`);
        }
        const expected = { agent: 'booking', nextDeadline: 7 };
        for (const each of first.received.filter((notice) => notice !== 'anything')) {
          deepStrictEqual(each, { threadId: each.threadId, ...expected });
        }
        await first.stop();
        const before = first.received.length;
        await appendUntilNoticed(store, second, 'after');
        deepStrictEqual(first.received.length, before);
      } finally {
        for (const { stop } of both) await stop();
      }
    },
  },
  {
    name: 'no notice names a thread that is running or has no deadline',
    async check(store) {
      const subscription = subscribe(store);
      if (subscription === undefined) return;
      try {
        await appendUntilNoticed(store, subscription, 'begun');
        await appendInCase(store, 'running', { status: 'running', nextDeadline: 1 });
        await appendInCase(store, 'idle');
        await appendUntilNoticed(store, subscription, 'after');
        const named = subscription.received.filter((notice) => notice !== 'anything');
        deepStrictEqual(
          named.filter(({ threadId }) => threadId === 'running' || threadId === 'idle'),
          [],
        );
      } finally {
        await subscription.stop();
      }
    },
  },
  {
    name: 'the clock of the store counts milliseconds since 1970 and does not go back',
    async check(store, reopen) {
      const before = await store.now?.();
      const after = await reopen().now?.();
      if (before === undefined || after === undefined) return;
      ok(before <= after, `the clock went back from ${before} to ${after}`);
      const day = 86_400_000;
      ok(Math.abs(Date.now() - before) < day, `${before} is not in milliseconds since 1970`);
      await store.append(
        't',
        end(0),
        [{ revision: 1, text: '{}' }],
        makeSummary('t', { updatedAt: before }),
      );
      deepStrictEqual((await store.head('t'))?.updatedAt, before);
    },
  },
];
