import { deepStrictEqual, strictEqual, ok } from 'node:assert/strict';
import type {
  ClaimNotice,
  ThreadClaim,
  ThreadNotice,
  ThreadStore,
} from '../../thread/thread-store.ts';
import {
  appendInCase,
  makeEntry,
  holds,
  listIds,
  type StoreConformanceCase,
  end,
  makeSummary,
  pause,
} from './conformance-case.ts';

/* At time 100, for 50 milliseconds. */
const claim: ThreadClaim = { agent: null, dueBefore: 101, until: 150, limit: 10 };

type Received = ThreadNotice | 'anything';

/** Subscribes; `undefined` for a store without `subscribe`. */
function subscribe(store: ThreadStore) {
  const received: Received[] = [];
  const stop = store.subscribe?.((notice) => {
    if (notice?.type !== 'claim') received.push(notice ?? 'anything');
  });
  return stop && { received, stop };
}

/* A subscription may need time to start, so appends are repeated until a notice arrives. */
async function appendUntilNoticed(
  writer: ThreadStore,
  received: Received[],
  id: string,
): Promise<void> {
  received.length = 0;
  for (let revision = 1; revision <= 300; revision += 1) {
    await appendInCase(writer, id, {
      revision,
      status: 'waiting',
      nextDeadline: 7,
      agent: 'booking',
    });
    await pause(100);
    if (received.some((each) => isAbout(each, id))) return;
  }
  throw new Error('The subscriber received no notice of 300 appends.');
}

function isAbout(received: Received, threadId: string): boolean {
  return received === 'anything' || received.threadId === threadId;
}

/** Requirements for workers: claims of due threads, and the optional notices and clock of a store. */
export const workerCases: readonly StoreConformanceCase[] = [
  {
    name: 'claim returns due threads, the most overdue first, up to the limit',
    async check(store) {
      const deadlines = { a: 60, b: 100, c: 0, d: 40, later: 101 };
      for (const [id, nextDeadline] of Object.entries(deadlines)) {
        await appendInCase(store, id, { nextDeadline });
      }
      await appendInCase(store, 'never');
      deepStrictEqual(listIds(await store.claim({ ...claim, limit: 3 })), ['c', 'd', 'a']);
      deepStrictEqual(listIds(await store.claim(claim)), ['b']);
      deepStrictEqual(await store.claim(claim), []);
    },
  },
  {
    name: 'a claimed thread can be claimed again only after the claim expires, in this and other processes',
    async check(store, reopen) {
      const head = await appendInCase(store, 't', {
        nextDeadline: 5,
        status: 'waiting',
        openRequests: 1,
      });
      const claimed = { ...head, nextDeadline: 150 };
      deepStrictEqual(await store.claim(claim), [claimed]);
      const other = reopen();
      deepStrictEqual(await other.head('t'), claimed);
      deepStrictEqual(await other.list({ dueBefore: 150 }), []);
      deepStrictEqual(await other.claim({ ...claim, dueBefore: 150, until: 200 }), []);
      const again = await other.claim({ ...claim, dueBefore: 151, until: 200 });
      deepStrictEqual(again, [{ ...head, nextDeadline: 200 }]);
    },
  },
  {
    name: 'a claim changes neither log nor revision, and the next append replaces it',
    async check(store) {
      await appendInCase(store, 't', { nextDeadline: 5 });
      await store.claim(claim);
      await holds(store, 't', [makeEntry(1)]);
      const head = await appendInCase(store, 't', { revision: 2, nextDeadline: 50 });
      deepStrictEqual(await store.head('t'), head);
      deepStrictEqual(listIds(await store.claim(claim)), ['t']);
      await appendInCase(store, 't', { revision: 3 });
      deepStrictEqual(await store.claim({ ...claim, dueBefore: 1_000 }), []);
    },
  },
  {
    name: 'claim returns only threads of the named agent, or those without an agent name',
    async check(store) {
      await appendInCase(store, 'unnamed', { nextDeadline: 1 });
      await appendInCase(store, 'mine', { nextDeadline: 2, agent: 'booking' });
      await appendInCase(store, 'theirs', { nextDeadline: 3, agent: 'billing' });
      const claimedBy = async (agent: string | null): Promise<string[]> =>
        listIds(await store.claim({ ...claim, agent }));
      deepStrictEqual(await claimedBy('nobody'), []);
      deepStrictEqual(await claimedBy('booking'), ['mine']);
      deepStrictEqual(await claimedBy(null), ['unnamed']);
      deepStrictEqual(await claimedBy('billing'), ['theirs']);
    },
  },
  {
    name: 'a claim of one thread does not claim others',
    async check(store) {
      for (const id of ['a', 'b', 'c']) await appendInCase(store, id, { nextDeadline: 1 });
      await appendInCase(store, 'idle');
      await appendInCase(store, 'theirs', { nextDeadline: 1, agent: 'billing' });
      for (const threadId of ['idle', 'theirs', 'nowhere']) {
        deepStrictEqual(await store.claim({ ...claim, threadId }), []);
      }
      deepStrictEqual(listIds(await store.claim({ ...claim, threadId: 'b' })), ['b']);
      deepStrictEqual(await store.claim({ ...claim, threadId: 'b' }), []);
      deepStrictEqual(listIds(await store.claim(claim)), ['a', 'c']);
    },
  },
  {
    name: 'concurrent claims return each thread only once',
    async check(store, reopen) {
      const ids = Array.from({ length: 40 }, (_, index) => `t${index}`);
      for (const id of ids) await appendInCase(store, id, { nextDeadline: 1 });
      const stores = [store, reopen(), reopen(), reopen()];
      const given: string[] = [];
      for (let rounds = 0; given.length < ids.length && rounds < 100; rounds += 1) {
        const claims = stores.map(async (other) => other.claim({ ...claim, limit: 5 }));
        given.push(...listIds((await Promise.all(claims)).flat()));
      }
      strictEqual(given.length, ids.length);
      deepStrictEqual(new Set(given), new Set(ids));
    },
  },
  {
    name: 'every subscriber is notified of appends to threads with a deadline, by any process, until it unsubscribes',
    async check(store, reopen) {
      const both = [subscribe(store), subscribe(store)].filter((each) => each !== undefined);
      const [first, second] = both;
      if (first === undefined || second === undefined) return;
      try {
        for (const each of both) {
          await appendUntilNoticed(store, each.received, `here ${both.indexOf(each)}`);
          await appendUntilNoticed(reopen(), each.received, `elsewhere ${both.indexOf(each)}`);
        }
        const expected = { type: 'thread', agent: 'booking', nextDeadline: 7 } as const;
        for (const each of first.received.filter((notice) => notice !== 'anything')) {
          deepStrictEqual(each, { threadId: each.threadId, ...expected });
        }
        await first.stop();
        const before = first.received.length;
        await appendUntilNoticed(store, second.received, 'after');
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
        await appendUntilNoticed(store, subscription.received, 'begun');
        await appendInCase(store, 'running', { status: 'running', nextDeadline: 1 });
        await appendInCase(store, 'idle');
        await appendUntilNoticed(store, subscription.received, 'after');
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
    name: 'what a worker sends of a claim reaches every subscriber, in this and other processes, until it unsubscribes',
    async check(store, reopen) {
      if (store.send === undefined) return;
      const all = [store, reopen()];
      const heard = all.map((): ClaimNotice[] => []);
      const stops = all.map((each, index) =>
        each.subscribe?.((notice) => {
          if (notice?.type === 'claim') heard[index]?.push(notice);
        }),
      );
      const sent: ClaimNotice = {
        type: 'claim',
        worker: 'w',
        agent: 'booking',
        threadId: 't',
        isFree: true,
      };
      /* A subscription may need time to start. */
      for (let round = 0; round < 300 && heard.some((each) => each.length === 0); round += 1) {
        store.send(sent);
        await pause(100);
      }
      deepStrictEqual(
        heard.map(([first]) => first),
        all.map(() => sent),
      );
      await stops[0]?.();
      const before = heard[0]?.length;
      for (let round = 0; round < 300 && heard[1]?.at(-1)?.isFree === true; round += 1) {
        store.send({ type: 'claim', worker: 'w', isFree: false });
        await pause(100);
      }
      deepStrictEqual(heard[0]?.length, before);
      deepStrictEqual(heard[1]?.at(-1), { type: 'claim', worker: 'w', isFree: false });
      await stops[1]?.();
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
