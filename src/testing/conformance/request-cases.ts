import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { HoldpointError } from '../../errors.ts';
import type { StoredRequest } from '../../thread/thread-store-requests.ts';
import {
  end,
  expectConflict,
  makeEntry,
  makeSummary,
  type StoreConformanceCase,
} from './conformance-case.ts';
import {
  makeApproved,
  change,
  close,
  expectFeed,
  listRequestIds,
  makeRow,
  open,
  requestCase,
  write,
} from './requests-in-case.ts';

function isEnded(error: unknown): boolean {
  return HoldpointError.isInstance(error) && error.code === 'grant-ended';
}

/* A name or a role that an app lets people type. */
const hostileTexts = [
  ' ',
  '\'"`; drop table holdpoint_requests; --',
  '%_*?$1\\',
  '[]',
  '["ada"]',
  'null',
  'Ünïcödé 𝒳 \u{1F469}\u200D\u{1F4BB} \u202E\u2028\uFEFF',
  '\u0001\t\r\n\u007F',
  /* A text as long as a page, which can't be compressed. */
  Array.from({ length: 2_000 }, (_, index) => ((index * 7_919 + 13) ** 2).toString(36)).join(''),
];

/** A request with this text wherever it has text. Databases limit the length of indexed values. */
function makeHostile(text: string, index: number): StoredRequest {
  const name = text.slice(0, 200);
  const requesters = [text, 'eve'];
  const approvers = ['ada', name];
  const texts = { agent: name, tenant: name, toolName: text, requesters, approvers, text };
  return makeRow(`r${index}`, texts);
}

/** Requirements for the rows of requests: how they are written, erased and deleted. A store without `requests` meets them. */
export const requestCases: readonly StoreConformanceCase[] = [
  requestCase(
    'the rows of requests are written with the append that opens, changes or closes them',
    async ({ store, requests, reopen }) => {
      const row = makeRow('a', { expiresAt: 90, remindAt: 40, quorum: 2, approvers: ['ada'] });
      await write(store, open(row, makeRow('b')));
      const voted = { ...row, votes: 1, approvers: ['ada', 'bob'] };
      const { remindAt: _, ...reminded } = voted;
      for (const [changes, expected] of [
        [[], row],
        [change(voted), voted],
        [change(reminded), reminded],
        [close(makeApproved(reminded)), makeApproved(reminded)],
      ] as const) {
        await write(store, changes);
        for (const reader of [requests, reopen().requests]) {
          deepStrictEqual(await reader.get('a'), expected);
          deepStrictEqual(await reader.get('b'), makeRow('b'));
          deepStrictEqual(await reader.list({}), [expected, makeRow('b')]);
        }
      }
      strictEqual(await requests.get('unknown'), undefined);
    },
  ),
  requestCase(
    'a request that changes or closes without a row gets one',
    async ({ store, requests }) => {
      const rows = [makeRow('a', { votes: 1, quorum: 2 }), makeApproved(makeRow('b'))];
      await write(store, [
        ...change(makeRow('a', { votes: 1, quorum: 2 })),
        ...close(makeApproved(makeRow('b'))),
      ]);
      deepStrictEqual(await requests.list({}), rows);
      await expectFeed(requests, ['changed a', 'closed b']);
    },
  ),
  requestCase(
    'an append that is refused changes no row and tells the feed nothing',
    async ({ store, requests, reopen }) => {
      await write(store, open(makeRow('a')));
      const summary = makeSummary('t', { revision: 2 });
      const changes = [...close(makeApproved(makeRow('a'))), ...open(makeRow('b'))];
      const append = async (revision: number, grants = {}): Promise<void> =>
        store.append('t', end(revision), [makeEntry(2)], summary, { ...grants, requests: changes });
      await expectConflict(append(0));
      await expectConflict(append(5));
      const grants = [{ type: 'use', grantId: 'unknown', at: 1 }];
      if (store.grants !== undefined) await rejects(append(1, { grants }), isEnded);
      for (const reader of [requests, reopen().requests]) {
        deepStrictEqual(await reader.list({}), [makeRow('a')]);
        await expectFeed(reader, ['opened a']);
      }
    },
  ),
  requestCase(
    'requests are written together with standing approvals, and with a snapshot',
    async ({ store, requests }) => {
      if (store.grants !== undefined) {
        const grant = { grantId: 'g', agent: null, toolName: 'pay', person: null, createdAt: 1 };
        const grants = [{ type: 'create', grant: { ...grant, text: '{}' } }] as const;
        await write(store, open(makeRow('a')), { grants });
        strictEqual((await store.grants.list({})).length, 1);
      }
      await write(store, open(makeRow('a'), makeRow('b')));
      if (store.snapshots !== undefined) {
        await write(store, close(makeApproved(makeRow('b'))), { snapshot: 'taken' });
        strictEqual(await store.snapshots.read('t'), 'taken');
      }
      await write(store, close(makeApproved(makeRow('b'))));
      deepStrictEqual(await requests.list({}), [makeRow('a'), makeApproved(makeRow('b'))]);
    },
  ),
  requestCase(
    'a thread that is restored whole brings all of its requests',
    async ({ store, requests }) => {
      const rows = Array.from({ length: 300 }, (_, index) => {
        const row = makeRow(`r${1_000 + index}`, { createdAt: index, approvers: ['ada', 'bob'] });
        return index % 2 === 0 ? row : makeApproved(row);
      });
      const entries = [makeEntry(1), makeEntry(2), makeEntry(3)];
      await store.append('t', end(0), entries, makeSummary('t', { revision: 3 }), {
        requests: rows.map((request) => ({
          type: request.state === 'open' ? 'opened' : 'closed',
          request,
        })),
      });
      deepStrictEqual(await requests.list({ limit: 1_000 }), rows);
      strictEqual(await requests.count({ state: 'open', approver: ['bob'] }), 150);
      strictEqual((await requests.changes({ after: 0, limit: 1_000 })).length, 300);
    },
  ),
  requestCase(
    'a request may need as many approvals as a rule can say, and expire as late',
    async ({ store, requests, reopen }) => {
      const most = { quorum: Number.MAX_SAFE_INTEGER, expiresAt: 1e300, remindAt: 1e299 };
      const row = makeRow('a', most);
      const decided = { ...makeApproved(row), votes: Number.MAX_SAFE_INTEGER };
      await write(store, open(row));
      deepStrictEqual(await requests.list({ state: 'open' }), [row]);
      await write(store, close(decided));
      deepStrictEqual(await reopen().requests.get('a'), decided);
    },
  ),
  requestCase(
    'text in a row is kept and found as it is, whatever it contains',
    async ({ store, requests, reopen }) => {
      const rows = hostileTexts.map(makeHostile);
      await write(store, open(...rows));
      for (const asked of [
        rows,
        rows.map((row) => ({ ...makeApproved(row), decidedBy: row.text })),
      ]) {
        if (asked !== rows) await write(store, close(...asked));
        for (const row of asked) {
          const { agent, tenant, toolName, requestId, text } = row;
          const person = text ?? '';
          const approver = person.slice(0, 200);
          deepStrictEqual(await reopen().requests.get(requestId), row);
          for (const filter of [
            { agent },
            { tenant },
            { toolName: toolName ?? '' },
            { requester: person },
            { approver: [approver] },
            { approver: ['nobody', approver], tenant },
          ]) {
            deepStrictEqual(await requests.list(filter), [row]);
            const state = row.state === 'open' ? 'open' : 'decided';
            deepStrictEqual(await requests.list({ ...filter, state, order: 'newest' }), [row]);
            strictEqual(await requests.count({ ...filter, state }), 1);
          }
        }
      }
      deepStrictEqual(await requests.list({ requester: 'ada' }), []);
      deepStrictEqual(await requests.list({ approver: ['eve'] }), []);
    },
  ),
  requestCase(
    'ids of requests and threads are kept and found as they are',
    async ({ store, requests }) => {
      /* Ids that an app chooses are parts of others. Databases limit the length of keys. */
      for (const text of hostileTexts.map((each) => each.slice(0, 200))) {
        const row = makeRow(`r:${text}`, { threadId: text });
        await write(store, open(row));
        deepStrictEqual(await requests.get(`r:${text}`), row);
        deepStrictEqual(await requests.list({ threadId: text }), [row]);
        await store.delete(text, end(1));
        strictEqual(await requests.get(`r:${text}`), undefined);
      }
      strictEqual(await requests.count({}), 0);
    },
  ),
  requestCase(
    'a thread is deleted with its requests, and the feed is told of those that were open',
    async ({ store, requests, reopen }) => {
      const row = makeRow('open', { approvers: ['ada'], expiresAt: 10 });
      await write(store, [...open(row), ...close(makeApproved(makeRow('closed')))]);
      await write(store, open(makeRow('other', { threadId: 'u', approvers: ['ada'] })));
      await expectConflict(store.delete('t', end(7)));
      strictEqual(await requests.count({}), 3);
      await store.delete('t', end(1));
      for (const reader of [requests, reopen().requests]) {
        deepStrictEqual(await listRequestIds(reader), ['other']);
        deepStrictEqual(await listRequestIds(reader, { state: 'open', approver: ['ada'] }), [
          'other',
        ]);
        strictEqual(await reader.get('open'), undefined);
        await expectFeed(reader, ['opened open', 'closed closed', 'opened other', 'deleted open']);
      }
      for (const each of await requests.changes({ after: 0 }))
        strictEqual(each.request?.requestId, each.requestId === 'other' ? 'other' : undefined);
      await write(store, open(row));
      deepStrictEqual(await requests.get('open'), row);
    },
  ),
  requestCase(
    'the text of a decided request can be erased for good, and nothing else of it',
    async ({ store, requests, reopen }) => {
      const decided = makeApproved(makeRow('b', { approvers: ['ada'], requesters: ['eve'] }));
      await write(store, [...open(makeRow('a', { expiresAt: 1 })), ...close(decided)]);
      strictEqual(await requests.erase('a'), false);
      strictEqual(await requests.erase('unknown'), false);
      deepStrictEqual(await requests.get('a'), makeRow('a', { expiresAt: 1 }));
      strictEqual(await requests.erase('b'), true);
      const erased = { ...decided, text: null };
      deepStrictEqual(await reopen().requests.get('b'), erased);
      deepStrictEqual(await requests.list({ approver: ['ada'], state: 'approved' }), [erased]);
      const [, told] = await requests.changes({ after: 0 });
      deepStrictEqual(told?.request, erased);
      const expired: StoredRequest = { ...decided, state: 'expired', decidedBy: null };
      await write(store, close(expired));
      deepStrictEqual(await reopen().requests.get('b'), { ...expired, text: null });
    },
  ),
];
