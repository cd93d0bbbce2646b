import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { HoldpointError } from '../errors.ts';
import type { ThreadEvent } from '../thread/thread-event.ts';
import type { ThreadQuery, ThreadStore, ThreadSummary } from '../thread/thread-store.ts';

/** One thing that every store must do. */
export interface StoreConformanceCase {
  name: string;
  /**
   * Rejects when the store does not do it. `store` is empty; `reopen` gives the same store as another process would
   * open it (for a store in memory: the store itself).
   */
  check(store: ThreadStore, reopen: () => ThreadStore): Promise<void>;
}

/* A store looks into no event; any hash will do. */
const always = { at: 1, hash: 'hash' };

const created = (threadId: string): ThreadEvent => ({
  type: 'thread-created',
  ...always,
  threadId,
});

const said = (content: string): ThreadEvent => ({
  type: 'message-added',
  ...always,
  message: { role: 'user', content },
});

const summary = (threadId: string, more: Partial<ThreadSummary> = {}): ThreadSummary => ({
  threadId,
  status: 'idle',
  revision: 1,
  openRequests: 0,
  updatedAt: 1,
  ...more,
});

async function start(store: ThreadStore, threadId: string): Promise<void> {
  await store.append(threadId, 0, [created(threadId)], summary(threadId));
}

function isConflict(error: unknown): boolean {
  return HoldpointError.isInstance(error) && error.code === 'revision-conflict';
}

async function says(store: ThreadStore, threadId: string, events: ThreadEvent[]): Promise<void> {
  deepStrictEqual(await store.read(threadId), events);
}

/**
 * What every store must do, for any test runner: give each case an empty store.
 *
 * @example
 * for (const { name, check } of storeConformance) {
 *   test(name, async () => {
 *     const database = await freshDatabase();
 *     await check(myStore(database), () => myStore(database));
 *   });
 * }
 */
export const storeConformance: readonly StoreConformanceCase[] = [
  {
    name: 'a thread that was never written has no events and no head',
    async check(store) {
      await says(store, 't', []);
      strictEqual(await store.head('t'), undefined);
      deepStrictEqual(await store.list({}), []);
    },
  },
  {
    name: 'what was appended is read at once, here and elsewhere, in order and after a revision',
    async check(store, reopen) {
      await start(store, 't');
      const head = summary('t', { revision: 3 });
      await store.append('t', 1, [said('one'), said('two')], head);
      for (const reader of [store, reopen()]) {
        await says(reader, 't', [created('t'), said('one'), said('two')]);
        deepStrictEqual(await reader.read('t', 1), [said('one'), said('two')]);
        deepStrictEqual(await reader.read('t', 3), []);
        deepStrictEqual(await reader.head('t'), head);
      }
    },
  },
  {
    name: 'append is an exact compare-and-swap: all of it at the expected revision, or nothing',
    async check(store) {
      await start(store, 't');
      for (const revision of [0, 2, 5]) {
        const late = store.append('t', revision, [said('late'), said('later')], summary('t'));
        await rejects(late, isConflict);
      }
      await says(store, 't', [created('t')]);
      deepStrictEqual(await store.head('t'), summary('t'));
    },
  },
  {
    name: 'of many appends at one revision, one wins and the others conflict',
    async check(store, reopen) {
      const stores = [store, reopen(), reopen(), reopen()];
      const outcomes = await Promise.allSettled(stores.map(async (other) => start(other, 't')));
      const lost = outcomes.filter((outcome) => outcome.status === 'rejected');
      deepStrictEqual(
        lost.map(({ reason }) => isConflict(reason)),
        [true, true, true],
      );
      await says(store, 't', [created('t')]);
    },
  },
  {
    name: 'an event that can not be written leaves nothing of its append',
    async check(store) {
      await start(store, 't');
      const unwritable: ThreadEvent = said('never');
      Object.assign(unwritable, { message: { role: 'user', content: 1n } });
      await rejects(store.append('t', 1, [said('one'), unwritable], summary('t')));
      await says(store, 't', [created('t')]);
      await store.append('t', 1, [said('one')], summary('t', { revision: 2 }));
      await says(store, 't', [created('t'), said('one')]);
    },
  },
  {
    name: 'text comes back to the letter: NUL, quotes, half surrogate pairs, megabytes, line separators',
    async check(store, reopen) {
      const texts = ['\0', '"\\', '\uD800', 'é\u2028𝒳', 'x'.repeat(2_000_000), '{"$bytes":"AA"}'];
      await start(store, 't');
      await store.append('t', 1, texts.map(said), summary('t', { revision: 7 }));
      deepStrictEqual(await reopen().read('t', 1), texts.map(said));
    },
  },
  {
    name: 'bytes and URLs in messages come back as they were',
    async check(store, reopen) {
      const data = Uint8Array.from({ length: 256 }, (_, index) => index);
      const file = { type: 'file', mediaType: 'image/png' } as const;
      const url = new URL('https://example.com/a.png?x=1#y');
      const content = [
        { ...file, data },
        { ...file, data: url },
      ];
      const event: ThreadEvent = {
        type: 'message-added',
        ...always,
        message: { role: 'user', content },
      };
      await store.append('t', 0, [created('t'), event], summary('t', { revision: 2 }));
      await says(reopen(), 't', [created('t'), event]);
    },
  },
  {
    name: 'nothing that goes in or comes out is shared',
    async check(store) {
      const event = said('mine');
      const head = summary('t');
      await store.append('t', 0, [created('t'), event], head);
      Object.assign(event, { at: 99 });
      Object.assign(head, { status: 'running' });
      const [, read] = await store.read('t');
      Reflect.set(Object(read), 'at', 98);
      Reflect.set(Object(await store.head('t')), 'status', 'waiting');
      await says(store, 't', [created('t'), said('mine')]);
      strictEqual((await store.head('t'))?.status, 'idle');
    },
  },
  {
    name: 'ids of threads are kept apart, whatever they look like',
    async check(store) {
      const injection = "'; drop table holdpoint_events; --";
      const ids = ['__proto__', 'constructor', injection, 'é', 'É', 'a', 'A', ' a'];
      for (const id of ids) await start(store, id);
      for (const id of ids) await says(store, id, [created(id)]);
      strictEqual((await store.list({})).length, ids.length);
    },
  },
  {
    name: 'list is in step with append, filtered by status and deadline, in pages',
    async check(store, reopen) {
      for (const id of ['a', 'b', 'c', 'd', 'e']) await start(store, id);
      const change = async (id: string, revision: number, more: Partial<ThreadSummary>) =>
        store.append(id, revision, [said('x')], summary(id, { revision: revision + 1, ...more }));
      await change('b', 1, { status: 'waiting', openRequests: 1, nextDeadline: 50 });
      await change('d', 1, { status: 'waiting', openRequests: 2 });
      await change('e', 1, { status: 'running', nextDeadline: 60 });
      const lists = async (query: ThreadQuery, ids: string[]): Promise<void> => {
        const listed = await reopen().list(query);
        deepStrictEqual(
          listed.map(({ threadId }) => threadId),
          ids,
        );
      };
      await lists({}, ['a', 'b', 'c', 'd', 'e']);
      await lists({ status: 'waiting' }, ['b', 'd']);
      await lists({ dueBefore: 60 }, ['b']);
      await lists({ dueBefore: 61 }, ['b', 'e']);
      await lists({ status: 'running', dueBefore: 61 }, ['e']);
      await lists({ limit: 2 }, ['a', 'b']);
      await lists({ after: 'b', limit: 2 }, ['c', 'd']);
      await lists({ status: 'waiting', after: 'b' }, ['d']);
      await change('b', 2, { status: 'idle' });
      await lists({ status: 'waiting' }, ['d']);
      deepStrictEqual(await store.head('b'), summary('b', { revision: 3 }));
    },
  },
];
