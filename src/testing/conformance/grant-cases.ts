import { deepStrictEqual, rejects, strictEqual, ok } from 'node:assert/strict';
import { HoldpointError } from '../../errors.ts';
import type { GrantChange, StoredGrant, ThreadStore } from '../../thread/thread-store.ts';
import {
  expectConflict,
  end,
  makeEntry,
  holds,
  isRevisionConflict,
  type StoreConformanceCase,
  makeSummary,
} from './conformance-case.ts';

function makeStoredGrant(grantId: string, more: Partial<StoredGrant> = {}): StoredGrant {
  const text = JSON.stringify({ grantId, note: 'é\u0000"' });
  return { grantId, agent: null, toolName: 'pay', person: null, text, createdAt: 1, ...more };
}

/** Appends one entry that changes grants. */
async function appendWith(
  store: ThreadStore,
  threadId: string,
  changes: readonly GrantChange[],
  revision = 1,
): Promise<void> {
  const after = makeSummary(threadId, { revision });
  await store.append(threadId, end(revision - 1), [makeEntry(revision)], after, {
    grants: changes,
  });
}

async function create(store: ThreadStore, ...grants: StoredGrant[]): Promise<void> {
  const changes = grants.map((each): GrantChange => ({ type: 'create', grant: each }));
  await appendWith(store, `source of ${grants.map(({ grantId }) => grantId).join()}`, changes);
}

function use(grantId: string, at = 10): GrantChange {
  return { type: 'use', grantId, at };
}

function revoke(grantId: string): GrantChange {
  return { type: 'revoke', grantId };
}

async function expectEnded(work: Promise<unknown>): Promise<void> {
  await rejects(work, isEnded);
}

function isEnded(error: unknown): boolean {
  return HoldpointError.isInstance(error) && error.code === 'grant-ended';
}

const query = { agent: null, toolName: 'pay', person: 'ann', at: 10 };

async function findGrantIds(
  store: ThreadStore,
  more: Partial<typeof query> = {},
): Promise<string[]> {
  const found = (await store.grants?.find({ ...query, ...more })) ?? [];
  return found.map(({ grantId }) => grantId);
}

/** Requirements for standing approvals that are wider than a thread. A store without `grants` meets them. */
export const grantCases: readonly StoreConformanceCase[] = [
  {
    name: 'a grant is found by agent, tool and person, oldest first, as it was stored',
    async check(store, reopen) {
      if (store.grants === undefined) return;
      const own = makeStoredGrant('b', { person: 'ann', createdAt: 1, usesLeft: 2, expiresAt: 20 });
      await create(
        store,
        makeStoredGrant('a', { createdAt: 2 }),
        own,
        makeStoredGrant('c', { person: 'bob' }),
        makeStoredGrant('d', { toolName: 'post' }),
      );
      await create(store, { ...makeStoredGrant('e'), agent: 'booking' });
      const reader = reopen();
      deepStrictEqual(await findGrantIds(reader), ['b', 'a']);
      deepStrictEqual((await reader.grants?.find(query))?.[0], own);
      deepStrictEqual(await findGrantIds(reader, { person: 'cy' }), ['a']);
      deepStrictEqual(await findGrantIds(reader, { at: 20 }), ['a']);
      deepStrictEqual(
        (await reader.grants?.find({ ...query, agent: 'booking', person: null }))?.map(
          ({ grantId }) => grantId,
        ),
        ['e'],
      );
    },
  },
  {
    name: 'a page of grants has the ids after one, of an agent or of all',
    async check(store) {
      if (store.grants === undefined) return;
      await create(
        store,
        makeStoredGrant('c'),
        makeStoredGrant('a'),
        makeStoredGrant('b', { agent: 'booking' }),
      );
      const page = async (more: Parameters<typeof store.grants.list>[0]): Promise<string[]> =>
        ((await store.grants?.list(more)) ?? []).map(({ grantId }) => grantId);
      deepStrictEqual(await page({}), ['a', 'b', 'c']);
      deepStrictEqual(await page({ agent: null }), ['a', 'c']);
      deepStrictEqual(await page({ agent: 'booking' }), ['b']);
      deepStrictEqual(await page({ after: 'a', limit: 1 }), ['b']);
    },
  },
  {
    name: 'an append that uses a grant which has ended writes nothing, and one at another revision conflicts and uses nothing',
    async check(store) {
      if (store.grants === undefined) return;
      await create(
        store,
        makeStoredGrant('once', { usesLeft: 1 }),
        makeStoredGrant('old', { expiresAt: 10 }),
      );
      await expectEnded(appendWith(store, 't', [use('old')]));
      await expectEnded(appendWith(store, 't', [use('unknown')]));
      await expectEnded(appendWith(store, 't', [use('once'), use('once')]));
      await expectEnded(
        appendWith(store, 't', [{ type: 'create', grant: makeStoredGrant('new') }, use('unknown')]),
      );
      await holds(store, 't', []);
      deepStrictEqual(await findGrantIds(store), ['once']);
      await expectConflict(appendWith(store, 't', [use('once')], 2));
      await appendWith(store, 't', [use('once')]);
      await holds(store, 't', [makeEntry(1)]);
      deepStrictEqual(await findGrantIds(store), []);
      await expectConflict(appendWith(store, 't', [use('once')]));
      await expectEnded(appendWith(store, 't', [use('once')], 2));
    },
  },
  {
    name: 'a grant is deleted with its last use, and its number of uses can be any whole number',
    async check(store, reopen) {
      if (store.grants === undefined) return;
      const most = Number.MAX_SAFE_INTEGER;
      await create(
        store,
        makeStoredGrant('few', { usesLeft: 3 }),
        makeStoredGrant('most', { usesLeft: most }),
      );
      await appendWith(store, 't', [use('few'), use('most')]);
      deepStrictEqual(await reopen().grants?.list({}), [
        makeStoredGrant('few', { usesLeft: 2 }),
        makeStoredGrant('most', { usesLeft: most - 1 }),
      ]);
      await appendWith(store, 't', [use('few'), use('few')], 2);
      deepStrictEqual(await reopen().grants?.list({}), [
        makeStoredGrant('most', { usesLeft: most - 1 }),
      ]);
      strictEqual(await store.grants.revoke('few'), false);
    },
  },
  {
    name: 'grants that are passed in or returned are not shared with the store',
    async check(store) {
      if (store.grants === undefined) return;
      const given = makeStoredGrant('g', { usesLeft: 1 });
      await create(store, given);
      given.usesLeft = 2;
      for (const found of [await store.grants.find(query), await store.grants.list({})]) {
        for (const each of found) each.usesLeft = 3;
      }
      deepStrictEqual(await store.grants.find(query), [makeStoredGrant('g', { usesLeft: 1 })]);
    },
  },
  {
    name: 'grants are distinguished, whatever characters their ids, agents, tools and persons contain',
    async check(store) {
      if (store.grants === undefined) return;
      const odd = [
        '__proto__',
        "'; drop table holdpoint_grants; --",
        'é',
        'É',
        ' a',
        'a',
        'A',
        '?',
        '$1',
      ];
      const grants = odd.map((text) =>
        makeStoredGrant(text, { agent: text, toolName: text, person: text, expiresAt: 20.5 }),
      );
      await create(store, ...grants);
      for (const each of grants) {
        const { agent, toolName, person } = each;
        deepStrictEqual(await store.grants.find({ agent, toolName, person, at: 20.25 }), [each]);
        deepStrictEqual(await store.grants.find({ agent, toolName, person, at: 20.5 }), []);
        await appendWith(store, `use ${each.grantId}`, [use(each.grantId)]);
        strictEqual(await store.grants.revoke(each.grantId), true);
      }
      deepStrictEqual(await store.grants.list({}), []);
    },
  },
  {
    name: 'a grant without a number of uses is used any number of times, until it is revoked, once',
    async check(store, reopen) {
      if (store.grants === undefined) return;
      await create(store, makeStoredGrant('many'));
      await appendWith(store, 't', [use('many'), use('many')]);
      await appendWith(store, 't', [use('many')], 2);
      strictEqual(await reopen().grants?.revoke('many'), true);
      strictEqual(await store.grants.revoke('many'), false);
      await expectEnded(appendWith(store, 't', [use('many')], 3));
      deepStrictEqual(await store.grants.list({}), []);
    },
  },
  {
    name: 'an append that revokes a grant deletes it, used or expired or not, and writes nothing if there is none',
    async check(store, reopen) {
      if (store.grants === undefined) return;
      await create(
        store,
        makeStoredGrant('few', { usesLeft: 3 }),
        makeStoredGrant('many'),
        makeStoredGrant('old', { expiresAt: 10 }),
        makeStoredGrant('kept'),
      );
      await expectConflict(appendWith(store, 't', [revoke('few')], 2));
      await expectEnded(appendWith(store, 't', [revoke('few'), revoke('unknown')]));
      await holds(store, 't', []);
      await appendWith(store, 't', [revoke('few'), revoke('many')]);
      await appendWith(store, 't', [revoke('old')], 2);
      await holds(store, 't', [makeEntry(1), makeEntry(2)]);
      deepStrictEqual(await reopen().grants?.list({}), [makeStoredGrant('kept')]);
      await expectEnded(appendWith(store, 't', [revoke('few')], 3));
      await expectEnded(appendWith(store, 't', [use('many')], 3));
      const outcomes = await Promise.allSettled([
        appendWith(store, 'one', [revoke('kept')]),
        appendWith(reopen(), 'other', [revoke('kept')]),
      ]);
      deepStrictEqual(
        outcomes.map(({ status }) => status).toSorted((one, other) => (one < other ? -1 : 1)),
        ['fulfilled', 'rejected'],
      );
    },
  },
  {
    name: 'of appends to several threads that use the last use of one grant, one succeeds',
    async check(store, reopen) {
      if (store.grants === undefined) return;
      const other = reopen();
      for (const id of ['a', 'b', 'c', 'd', 'e']) {
        await create(store, makeStoredGrant(id, { usesLeft: 1 }));
        const outcomes = await Promise.allSettled([
          appendWith(store, `${id} 1`, [use(id)]),
          appendWith(other, `${id} 2`, [use(id)]),
          appendWith(store, `${id} 3`, [use(id)]),
        ]);
        const lost = outcomes.filter((outcome) => outcome.status === 'rejected');
        deepStrictEqual(
          lost.map(({ reason }) => isEnded(reason) && !isRevisionConflict(reason)),
          [true, true],
        );
      }
    },
  },
  {
    name: 'of revocations of a grant at once, one finds it, and no use beside them brings it back',
    async check(store, reopen) {
      const { grants } = store;
      if (grants === undefined) return;
      const other = reopen();
      for (const id of ['a', 'b', 'c', 'd', 'e']) {
        await create(store, makeStoredGrant(id, { usesLeft: 9 }));
        const [uses, ...revoked] = await Promise.all([
          Promise.allSettled([
            appendWith(store, `${id} 1`, [use(id)]),
            appendWith(other, `${id} 2`, [use(id)]),
          ]),
          grants.revoke(id),
          other.grants?.revoke(id),
        ]);
        deepStrictEqual(revoked.toSorted(), [false, true]);
        for (const each of uses) ok(each.status === 'fulfilled' || isEnded(each.reason));
        deepStrictEqual(await other.grants?.list({}), []);
      }
    },
  },
  {
    name: 'a grant outlives the thread that it was made in',
    async check(store) {
      if (store.grants === undefined) return;
      await appendWith(store, 't', [{ type: 'create', grant: makeStoredGrant('kept') }]);
      await store.delete('t', end(1));
      deepStrictEqual(await findGrantIds(store), ['kept']);
    },
  },
];
