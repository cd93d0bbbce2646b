import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import type { ThreadStore } from '../../thread/thread-store.ts';
import type { FeedChange } from '../../thread/thread-store-requests.ts';
import { pause, type StoreConformanceCase } from './conformance-case.ts';
import {
  makeApproved,
  change,
  close,
  describeChanges,
  expectFeed,
  makeRow,
  open,
  requestCase,
  write,
} from './requests-in-case.ts';

async function readClock(store: ThreadStore): Promise<number> {
  return (await store.now?.()) ?? Date.now();
}

/** Waits until the store's clock has moved on; resolves with its time. */
async function passTime(store: ThreadStore): Promise<number> {
  const before = await readClock(store);
  for (;;) {
    const now = await readClock(store);
    if (now > before) return now;
    await pause(1);
  }
}

/** Opens requests of one thread, a change each. */
async function openMany(store: ThreadStore, prefix: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  for (const id of ids) await write(store, open(makeRow(id, { threadId: prefix })));
  return ids;
}

const readIds = (changes: readonly FeedChange[]): string[] =>
  changes.map(({ requestId }) => requestId);

/** Appends changes of requests until a subscriber is notified of them: a subscription may need time to start. */
async function expectNotice(writer: ThreadStore, reader: ThreadStore, id: string): Promise<void> {
  const isTold = { of: false };
  const unsubscribe = reader.subscribe?.((notice) => {
    if (notice?.type === 'claim') return;
    if (notice === undefined || notice.requestIds?.includes(id) === true) isTold.of = true;
  });
  try {
    for (let votes = 0; votes < 300; votes += 1) {
      await write(writer, change(makeRow(id, { votes, threadId: id })));
      await pause(100);
      if (isTold.of) return;
    }
    throw new Error('The subscriber received no notice of 300 changes of a request.');
  } finally {
    await unsubscribe?.();
  }
}

/** Requirements for the feed of changes and its notices. A store without `requests` meets them. */
export const requestFeedCases: readonly StoreConformanceCase[] = [
  requestCase(
    'the feed has every change in the order of the appends, with the request as it is now',
    async ({ store, requests, reopen }) => {
      deepStrictEqual(await requests.changes({ after: 0 }), []);
      const row = makeRow('a', { approvers: ['ada'] });
      await write(store, open(row));
      const voted = { ...row, votes: 1, quorum: 2 };
      await write(reopen().store, change(voted));
      await write(store, open(makeRow('b', { threadId: 'u' })));
      await write(store, close(makeApproved(voted)));
      for (const reader of [requests, reopen().requests]) {
        const changes = await reader.changes({ after: 0 });
        deepStrictEqual(describeChanges(changes), [
          'opened a',
          'changed a',
          'opened b',
          'closed a',
        ]);
        let before = 0;
        for (const { position, requestId, threadId, request } of changes) {
          ok(position > before && Number.isInteger(position), `${position} follows ${before}`);
          before = position;
          const expected =
            requestId === 'a' ? makeApproved(voted) : makeRow('b', { threadId: 'u' });
          deepStrictEqual([threadId, request], [expected.threadId, expected]);
        }
      }
    },
  ),
  requestCase(
    'the feed is read from a position, 100 changes by default',
    async ({ store, requests, reopen }) => {
      const rows = Array.from({ length: 101 }, (_, index) => makeRow(`r${index}`));
      await write(store, open(...rows));
      const ids = rows.map(({ requestId }) => requestId);
      const page = await requests.changes({ after: 0 });
      deepStrictEqual(readIds(page), ids.slice(0, 100));
      const other = reopen().requests;
      const last = page.at(-1)?.position ?? 0;
      deepStrictEqual(readIds(await other.changes({ after: last })), ['r100']);
      const fiftieth = page[49]?.position ?? 0;
      const after = await other.changes({ after: fiftieth, limit: 2 });
      deepStrictEqual(readIds(after), ['r50', 'r51']);
      deepStrictEqual(await other.changes({ after: 1e9 }), []);
      deepStrictEqual(await other.changes({ after: 0, limit: 3 }), page.slice(0, 3));
    },
  ),
  requestCase(
    'who follows the feed while others append meets each change once, at an ever higher position',
    async ({ store, requests, reopen }) => {
      const writers = [store, reopen().store, reopen().store];
      let writing = writers.length;
      const written = Promise.all(
        writers.map(async (writer, index) => {
          try {
            return await openMany(writer, `writer ${index} `, 12);
          } finally {
            writing -= 1;
          }
        }),
      );
      const met: FeedChange[] = [];
      for (let isOver = false; !isOver;) {
        const isWritten = writing === 0;
        const page = await requests.changes({ after: met.at(-1)?.position ?? 0, limit: 5 });
        met.push(...page);
        isOver = isWritten && page.length === 0;
        await pause(0);
      }
      const ids = (await written).flat();
      deepStrictEqual(readIds(met).toSorted(), ids.toSorted());
      deepStrictEqual(
        met.map(({ position }) => position),
        [...new Set(met.map(({ position }) => position))].toSorted((one, other) => one - other),
      );
      deepStrictEqual(await reopen().requests.changes({ after: 0, limit: 1_000 }), met);
    },
  ),
  requestCase(
    'changes are deleted by age, and their positions are not used again',
    async ({ store, requests, reopen }) => {
      await write(store, open(makeRow('a'), makeRow('b')));
      const time = await passTime(store);
      await write(store, close(makeApproved(makeRow('a'))));
      strictEqual(await requests.deleteChanges({ before: 0 }), 0);
      const [, , last] = await requests.changes({ after: 0 });
      strictEqual(await reopen().requests.deleteChanges({ before: time }), 2);
      await expectFeed(requests, ['closed a']);
      const later = (await readClock(store)) + 86_400_000;
      strictEqual(await requests.deleteChanges({ before: later }), 1);
      await expectFeed(requests, []);
      deepStrictEqual(await requests.get('b'), makeRow('b'));
      await write(store, open(makeRow('c')));
      const [next] = await reopen().requests.changes({ after: last?.position ?? 0 });
      strictEqual(next?.requestId, 'c');
    },
  ),
  requestCase(
    'subscribers are told of changed requests, by any process, also of threads without a deadline',
    async ({ store, reopen }) => {
      if (store.subscribe === undefined) return;
      await expectNotice(store, store, 'here');
      await expectNotice(reopen().store, store, 'elsewhere');
    },
  ),
];
