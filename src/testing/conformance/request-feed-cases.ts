import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import type { ThreadStore } from '../../thread/thread-store.ts';
import type {
  FeedChange,
  TakenChanges,
  ThreadStoreRequests,
} from '../../thread/thread-store-requests.ts';
import { end, pause, type StoreConformanceCase } from './conformance-case.ts';
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

/* At time 100, for 50 milliseconds. */
const lease = { consumer: 'mail', leaseMs: 50, at: 100 };

async function take(requests: ThreadStoreRequests, more = {}): Promise<TakenChanges> {
  const taken = await requests.take({ ...lease, ...more });
  if (taken === undefined) throw new Error('There are changes to take.');
  return taken;
}

/** Appends changes of requests until a subscriber is told of them: a subscription may need time to start. */
async function expectNotice(writer: ThreadStore, reader: ThreadStore, id: string): Promise<void> {
  const isTold = { of: false };
  const unsubscribe = reader.subscribe?.((notice) => {
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

/** Requirements for the feed of changes, its consumers and its notices. A store without `requests` meets them. */
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
    'changes are deleted by age, taken or not, and their positions are not used again',
    async ({ store, requests, reopen }) => {
      await write(store, open(makeRow('a'), makeRow('b')));
      await take(requests, { limit: 1 });
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
    'a consumer takes changes from the beginning, and the next ones after it has acknowledged them',
    async ({ store, requests, reopen }) => {
      strictEqual(await requests.take(lease), undefined);
      await write(store, open(makeRow('a'), makeRow('b'), makeRow('c')));
      const { changes, token } = await take(requests, { limit: 2 });
      deepStrictEqual(changes, (await requests.changes({ after: 0 })).slice(0, 2));
      const other = reopen().requests;
      strictEqual(await other.take({ ...lease, leaseMs: 151, at: 149 }), undefined);
      strictEqual(await other.acknowledge({ consumer: 'mail', token }), true);
      strictEqual(await requests.acknowledge({ consumer: 'mail', token }), false);
      const rest = await take(other);
      deepStrictEqual(readIds(rest.changes), ['c']);
      strictEqual(await other.acknowledge({ consumer: 'mail', token: rest.token }), true);
      strictEqual(await requests.take(lease), undefined);
      await store.delete('t', end(1));
      deepStrictEqual(describeChanges((await take(requests)).changes).toSorted(), [
        'deleted a',
        'deleted b',
        'deleted c',
      ]);
    },
  ),
  requestCase('a consumer takes 100 changes by default', async ({ store, requests }) => {
    await write(store, open(...Array.from({ length: 101 }, (_, index) => makeRow(`r${index}`))));
    strictEqual((await take(requests)).changes.length, 100);
  }),
  requestCase('each consumer has a place of its own', async ({ store, requests, reopen }) => {
    await write(store, open(makeRow('a')));
    const mail = await take(requests);
    const chat = await take(reopen().requests, { consumer: 'chat \'"; é' });
    deepStrictEqual(mail.changes, chat.changes);
    strictEqual(await requests.acknowledge({ consumer: 'chat', token: mail.token }), false);
    strictEqual(await requests.acknowledge({ consumer: 'mail', token: chat.token }), false);
    strictEqual(await requests.acknowledge({ consumer: 'mail', token: mail.token }), true);
    strictEqual(await requests.take(lease), undefined);
    const again = await take(requests, { consumer: 'chat \'"; é', leaseMs: 50, at: 150 });
    deepStrictEqual(again.changes, chat.changes);
    strictEqual(await requests.acknowledge({ consumer: 'nobody', token: '' }), false);
  }),
  requestCase(
    'what is not acknowledged is taken again when the lease ends, and then belongs to who took it',
    async ({ store, requests, reopen }) => {
      await write(store, open(makeRow('a'), makeRow('b')));
      const first = await take(requests);
      const other = reopen().requests;
      const second = await take(other, { leaseMs: 50, at: 150, limit: 1 });
      deepStrictEqual(second.changes, first.changes.slice(0, 1));
      ok(second.token !== first.token, 'the token of a lease that has gone is used again');
      strictEqual(await requests.acknowledge({ consumer: 'mail', token: first.token }), false);
      strictEqual(await requests.take({ ...lease, leaseMs: 101, at: 199 }), undefined);
      strictEqual(await other.acknowledge({ consumer: 'mail', token: second.token }), true);
      deepStrictEqual(readIds((await take(requests)).changes), ['b']);
    },
  ),
  requestCase(
    "a lease begins and ends by the store's clock, if no time is given",
    async ({ store, requests, reopen }) => {
      await write(store, open(makeRow('a')));
      const now = { consumer: 'mail', leaseMs: 0 };
      ok(await requests.take(now));
      const other = reopen().requests;
      const { at: _, ...lasting } = { ...lease, leaseMs: 60_000 };
      ok(await other.take(lasting), 'a lease of no time is not over');
      strictEqual(await requests.take(now), undefined);
    },
  ),
  requestCase(
    'a lease that has ended can be acknowledged until somebody else takes it',
    async ({ store, requests }) => {
      await write(store, open(makeRow('a')));
      const { token } = await take(requests, { leaseMs: 0, at: 100 });
      strictEqual(await requests.acknowledge({ consumer: 'mail', token }), true);
      strictEqual(await requests.take({ ...lease, leaseMs: 50, at: 900 }), undefined);
    },
  ),
  requestCase(
    'an acknowledgement up to a position leaves the rest free at once',
    async ({ store, requests, reopen }) => {
      await write(store, open(makeRow('a'), makeRow('b'), makeRow('c')));
      const { changes, token } = await take(requests, { limit: 2 });
      const position = changes[0]?.position ?? 0;
      const acknowledged = { consumer: 'mail', token, position };
      strictEqual(await requests.acknowledge(acknowledged), true);
      strictEqual(await requests.acknowledge(acknowledged), false);
      const rest = await take(reopen().requests, { limit: 1 });
      deepStrictEqual(readIds(rest.changes), ['b']);
      /* Neither back, nor past what was taken. */
      const back = { consumer: 'mail', token: rest.token, position: 0 };
      strictEqual(await requests.acknowledge(back), true);
      const again = await take(requests, { limit: 1 });
      deepStrictEqual(readIds(again.changes), ['b']);
      const beyond = { consumer: 'mail', token: again.token, position: 1e9 };
      strictEqual(await requests.acknowledge(beyond), true);
      deepStrictEqual(readIds((await take(requests)).changes), ['c']);
    },
  ),
  requestCase(
    'of processes that take for one consumer at once, each change goes to one',
    async ({ store, requests, reopen }) => {
      const ids = await openMany(store, 'r', 30);
      let left = ids.length;
      const drain = async (consumer: ThreadStoreRequests): Promise<FeedChange[]> => {
        const got: FeedChange[] = [];
        while (left > 0) {
          const taken = await consumer.take({ ...lease, limit: 3 });
          if (taken === undefined) await pause(1);
          else {
            got.push(...taken.changes);
            left -= taken.changes.length;
            const { token } = taken;
            strictEqual(await consumer.acknowledge({ consumer: 'mail', token }), true);
          }
        }
        return got;
      };
      const processes = [requests, reopen().requests, reopen().requests, reopen().requests];
      const got = await Promise.all(processes.map(drain));
      deepStrictEqual(readIds(got.flat()).toSorted(), ids.toSorted());
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
