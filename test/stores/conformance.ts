import { type ThreadEvent, type ThreadStore, type ThreadSummary } from 'holdpoint';
import { expect } from 'vitest';
import { errorCode } from '../support/error-code.ts';

/** What every store must do. */
export interface ConformanceCase {
  name: string;
  /** `reopen` gives the store as another process would open it. */
  check(store: ThreadStore, reopen: () => ThreadStore): Promise<void>;
}

const created = (threadId: string): ThreadEvent => ({ type: 'thread-created', at: 1, threadId });
const said = (content: string): ThreadEvent => ({
  type: 'message-added',
  at: 2,
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
const start = async (store: ThreadStore, threadId: string, more: Partial<ThreadSummary> = {}) =>
  store.append(threadId, 0, [created(threadId)], summary(threadId, more));

export const conformance: ConformanceCase[] = [
  {
    name: 'a thread that was never written has no events and no head',
    async check(store) {
      expect(await store.read('t')).toEqual([]);
      expect(await store.head('t')).toBeUndefined();
      expect(await store.list({})).toEqual([]);
    },
  },
  {
    name: 'what was appended is read at once, here and elsewhere, in order and after a revision',
    async check(store, reopen) {
      await start(store, 't');
      await store.append('t', 1, [said('one'), said('two')], summary('t', { revision: 3 }));
      for (const reader of [store, reopen()]) {
        expect(await reader.read('t')).toEqual([created('t'), said('one'), said('two')]);
        expect(await reader.read('t', 1)).toEqual([said('one'), said('two')]);
        expect(await reader.read('t', 3)).toEqual([]);
        expect(await reader.head('t')).toEqual(summary('t', { revision: 3 }));
      }
    },
  },
  {
    name: 'append is an exact compare-and-swap: all of it at the expected revision, or nothing',
    async check(store) {
      await start(store, 't');
      for (const revision of [0, 2, 5]) {
        const late = store.append('t', revision, [said('late'), said('later')], summary('t'));
        expect(await errorCode(late)).toBe('revision-conflict');
      }
      expect(await store.read('t')).toEqual([created('t')]);
      expect(await store.head('t')).toEqual(summary('t'));
    },
  },
  {
    name: 'of many appends at one revision, one wins',
    async check(store, reopen) {
      const stores = [store, reopen(), reopen(), reopen()];
      const codes = await Promise.all(stores.map(async (other) => errorCode(start(other, 't'))));
      expect(codes.filter((code) => code === 'no error')).toHaveLength(1);
      expect(codes.filter((code) => code === 'revision-conflict')).toHaveLength(3);
      expect(await store.read('t')).toHaveLength(1);
    },
  },
  {
    name: 'an event that can not be written leaves nothing of its append',
    async check(store) {
      await start(store, 't');
      const unwritable = JSON.parse('{"type":"call-ended","at":1,"step":0,"index":0}');
      unwritable.outcome = { status: 'succeeded', output: 1n };
      await expect(store.append('t', 1, [said('one'), unwritable], summary('t'))).rejects.toThrow();
      expect(await store.read('t')).toEqual([created('t')]);
      await store.append('t', 1, [said('one')], summary('t', { revision: 2 }));
      expect(await store.read('t')).toHaveLength(2);
    },
  },
  {
    name: 'text comes back to the letter: NUL, quotes, half surrogate pairs, megabytes, line separators',
    async check(store, reopen) {
      const texts = ['\0', '"\\', '\uD800', 'é\u2028𝒳', 'x'.repeat(2_000_000), '{"$bytes":"AA"}'];
      await start(store, 't');
      await store.append('t', 1, texts.map(said), summary('t', { revision: 7 }));
      expect(await reopen().read('t', 1)).toEqual(texts.map(said));
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
      const first = await store.head('t');
      Reflect.set(Object(first), 'status', 'waiting');
      expect(await store.read('t', 1)).toEqual([said('mine')]);
      expect(await store.head('t')).toMatchObject({ status: 'idle' });
    },
  },
  {
    name: 'ids of threads are kept apart, whatever they look like',
    async check(store) {
      const ids = [
        '__proto__',
        'constructor',
        "'; drop table holdpoint_events; --",
        'é',
        'É',
        'a',
        'A',
        ' a',
      ];
      for (const id of ids) await start(store, id);
      for (const id of ids) expect(await store.read(id)).toEqual([created(id)]);
      expect(await store.list({})).toHaveLength(ids.length);
    },
  },
  {
    name: 'list is in step with append, filtered by status and deadline, in pages',
    async check(store, reopen) {
      for (const id of ['a', 'b', 'c', 'd', 'e']) await start(store, id);
      await store.append(
        'b',
        1,
        [said('x')],
        summary('b', { status: 'waiting', openRequests: 1, nextDeadline: 50 }),
      );
      await store.append('d', 1, [said('x')], summary('d', { status: 'waiting', openRequests: 2 }));
      await store.append(
        'e',
        1,
        [said('x')],
        summary('e', { status: 'running', nextDeadline: 60 }),
      );
      const ids = async (query: Parameters<ThreadStore['list']>[0]) =>
        (await reopen().list(query)).map(({ threadId }) => threadId);
      expect(await ids({})).toEqual(['a', 'b', 'c', 'd', 'e']);
      expect(await ids({ status: 'waiting' })).toEqual(['b', 'd']);
      expect(await ids({ dueBefore: 60 })).toEqual(['b']);
      expect(await ids({ dueBefore: 61 })).toEqual(['b', 'e']);
      expect(await ids({ status: 'running', dueBefore: 61 })).toEqual(['e']);
      expect(await ids({ limit: 2 })).toEqual(['a', 'b']);
      expect(await ids({ after: 'b', limit: 2 })).toEqual(['c', 'd']);
      expect(await ids({ status: 'waiting', after: 'b' })).toEqual(['d']);
      await store.append('b', 2, [said('y')], summary('b', { status: 'idle', revision: 3 }));
      expect(await ids({ status: 'waiting' })).toEqual(['d']);
      expect(await store.head('b')).toEqual(summary('b', { revision: 3 }));
    },
  },
];
