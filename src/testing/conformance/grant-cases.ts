import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { HoldpointError } from '../../errors.ts';
import type { GrantChange, StoredGrant, ThreadStore } from '../../thread/thread-store.ts';
import {
  conflicts,
  end,
  entry,
  holds,
  isConflict,
  type StoreConformanceCase,
  summary,
} from './conformance-case.ts';

function grant(grantId: string, more: Partial<StoredGrant> = {}): StoredGrant {
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
  const after = summary(threadId, { revision });
  await store.append(threadId, end(revision - 1), [entry(revision)], after, changes);
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

async function ended(work: Promise<unknown>): Promise<void> {
  await rejects(work, isEnded);
}

function isEnded(error: unknown): boolean {
  return HoldpointError.isInstance(error) && error.code === 'grant-ended';
}

const query = { agent: null, toolName: 'pay', person: 'ann', at: 10 };

async function idsFor(store: ThreadStore, more: Partial<typeof query> = {}): Promise<string[]> {
  const found = (await store.grants?.find({ ...query, ...more })) ?? [];
  return found.map(({ grantId }) => grantId);
}

/** Requirements for standing approvals that are wider than a thread. A store without `grants` meets them. */
export const grantCases: readonly StoreConformanceCase[] = [
  {
    name: 'a grant is found by agent, tool and person, oldest first, as it was stored',
    async check(store, reopen) {
      if (store.grants === undefined) return;
      const own = grant('b', { person: 'ann', createdAt: 1, usesLeft: 2, expiresAt: 20 });
      await create(
        store,
        grant('a', { createdAt: 2 }),
        own,
        grant('c', { person: 'bob' }),
        grant('d', { toolName: 'post' }),
      );
      await create(store, { ...grant('e'), agent: 'booking' });
      const reader = reopen();
      deepStrictEqual(await idsFor(reader), ['b', 'a']);
      deepStrictEqual((await reader.grants?.find(query))?.[0], own);
      deepStrictEqual(await idsFor(reader, { person: 'cy' }), ['a']);
      deepStrictEqual(await idsFor(reader, { at: 20 }), ['a']);
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
      await create(store, grant('c'), grant('a'), grant('b', { agent: 'booking' }));
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
      await create(store, grant('once', { usesLeft: 1 }), grant('old', { expiresAt: 10 }));
      await ended(appendWith(store, 't', [use('old')]));
      await ended(appendWith(store, 't', [use('unknown')]));
      await ended(appendWith(store, 't', [use('once'), use('once')]));
      await ended(
        appendWith(store, 't', [{ type: 'create', grant: grant('new') }, use('unknown')]),
      );
      await holds(store, 't', []);
      deepStrictEqual(await idsFor(store), ['once']);
      await conflicts(appendWith(store, 't', [use('once')], 2));
      await appendWith(store, 't', [use('once')]);
      await holds(store, 't', [entry(1)]);
      deepStrictEqual(await idsFor(store), []);
      await conflicts(appendWith(store, 't', [use('once')]));
      await ended(appendWith(store, 't', [use('once')], 2));
    },
  },
  {
    name: 'a grant is deleted with its last use, and its number of uses can be any whole number',
    async check(store, reopen) {
      if (store.grants === undefined) return;
      const most = Number.MAX_SAFE_INTEGER;
      await create(store, grant('few', { usesLeft: 3 }), grant('most', { usesLeft: most }));
      await appendWith(store, 't', [use('few'), use('most')]);
      deepStrictEqual(await reopen().grants?.list({}), [
        grant('few', { usesLeft: 2 }),
        grant('most', { usesLeft: most - 1 }),
      ]);
      await appendWith(store, 't', [use('few'), use('few')], 2);
      deepStrictEqual(await reopen().grants?.list({}), [grant('most', { usesLeft: most - 1 })]);
      strictEqual(await store.grants.revoke('few'), false);
    },
  },
  {
    name: 'grants that are passed in or returned are not shared with the store',
    async check(store) {
      if (store.grants === undefined) return;
      const given = grant('g', { usesLeft: 1 });
      await create(store, given);
      given.usesLeft = 2;
      for (const found of [await store.grants.find(query), await store.grants.list({})]) {
        for (const each of found) each.usesLeft = 3;
      }
      deepStrictEqual(await store.grants.find(query), [grant('g', { usesLeft: 1 })]);
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
        grant(text, { agent: text, toolName: text, person: text, expiresAt: 20.5 }),
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
      await create(store, grant('many'));
      await appendWith(store, 't', [use('many'), use('many')]);
      await appendWith(store, 't', [use('many')], 2);
      strictEqual(await reopen().grants?.revoke('many'), true);
      strictEqual(await store.grants.revoke('many'), false);
      await ended(appendWith(store, 't', [use('many')], 3));
      deepStrictEqual(await store.grants.list({}), []);
    },
  },
  {
    name: 'an append that revokes a grant deletes it, used or expired or not, and writes nothing if there is none',
    async check(store, reopen) {
      if (store.grants === undefined) return;
      await create(
        store,
        grant('few', { usesLeft: 3 }),
        grant('many'),
        grant('old', { expiresAt: 10 }),
        grant('kept'),
      );
      await conflicts(appendWith(store, 't', [revoke('few')], 2));
      await ended(appendWith(store, 't', [revoke('few'), revoke('unknown')]));
      await holds(store, 't', []);
      await appendWith(store, 't', [revoke('few'), revoke('many')]);
      await appendWith(store, 't', [revoke('old')], 2);
      await holds(store, 't', [entry(1), entry(2)]);
      deepStrictEqual(await reopen().grants?.list({}), [grant('kept')]);
      await ended(appendWith(store, 't', [revoke('few')], 3));
      await ended(appendWith(store, 't', [use('many')], 3));
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
        await create(store, grant(id, { usesLeft: 1 }));
        const outcomes = await Promise.allSettled([
          appendWith(store, `${id} 1`, [use(id)]),
          appendWith(other, `${id} 2`, [use(id)]),
          appendWith(store, `${id} 3`, [use(id)]),
        ]);
        const lost = outcomes.filter((outcome) => outcome.status === 'rejected');
        deepStrictEqual(
          lost.map(({ reason }) => isEnded(reason) && !isConflict(reason)),
          [true, true],
        );
      }
    },
  },
  {
    name: 'a grant outlives the thread that it was made in',
    async check(store) {
      if (store.grants === undefined) return;
      await appendWith(store, 't', [{ type: 'create', grant: grant('kept') }]);
      await store.delete('t', end(1));
      deepStrictEqual(await idsFor(store), ['kept']);
    },
  },
];
