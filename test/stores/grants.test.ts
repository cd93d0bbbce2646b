import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ThreadStore } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { appendOnce } from '../../src/thread/append-once.ts';
import { errorCode } from '../support/error-code.ts';
import { plainEnd, plainEntry, plainSummary } from '../support/plain-entries.ts';
import { appendGrants, createGrants, plainGrant, uses, usesLeft } from '../support/plain-grants.ts';
import { storeKits } from '../support/store-kits.ts';
import { withSqliteStore } from '../support/with-sqlite-store.ts';
import { pickCases } from '../support/sampling.ts';

const append = { end: plainEnd(0), entry: plainEntry(1), summary: plainSummary('t') };

describe.each(pickCases(storeKits))('$name: an append that uses a grant', ({ keep }) => {
  test.each([
    ['the last use', 1, {}],
    ['one of two uses', 2, { g: 1 }],
  ])('whose reply is lost takes %s once, and creates once', async (_, before, after) => {
    using kept = keep();
    const store = kept.open();
    await createGrants(store, plainGrant('g', { usesLeft: before }));
    const lossy = losing(store, async (work) => {
      await work();
      throw new Error('The reply is lost.');
    });
    const grants = [...uses('g'), { type: 'create', grant: plainGrant('new') } as const];
    expect(await appendOnce(lossy, 't', { ...append, grants })).toBe(true);
    expect(await usesLeft(store)).toEqual({ ...after, new: undefined });
    expect(await store.read('t')).toHaveLength(1);
  });

  test('that never reached the store fails with grant-ended if the grant has ended when it is written again', async () => {
    using kept = keep();
    const store = kept.open();
    await createGrants(store, plainGrant('g', { usesLeft: 1 }));
    const lossy = losing(store, async () => {
      await appendGrants(store, 'other', uses('g'));
      throw new Error('The connection is lost.');
    });
    const appending = appendOnce(lossy, 't', { ...append, grants: uses('g') });
    expect(await errorCode(appending)).toBe('grant-ended');
    expect(await store.read('t')).toEqual([]);
  });

  test('of a thread that another process has continued is a conflict, also if the grant has ended', async () => {
    using kept = keep();
    const store = kept.open();
    await createGrants(store, plainGrant('g', { usesLeft: 1 }));
    await appendGrants(kept.open(), 't', uses('g'));
    expect(await appendOnce(store, 't', { ...append, grants: uses('g') })).toBe(false);
    const lossy = losing(store, async () => {
      throw new Error('The connection is lost.');
    });
    const another = { ...append, entry: plainEntry(1, 'another') };
    expect(await appendOnce(lossy, 't', { ...another, grants: uses('g') })).toBe(false);
  });
});

test('a revoked grant is overwritten in the SQLite file, and not in the write-ahead log any more', async () => {
  await withSqliteStore(async (store, _path, folder) => {
    const marker = 'the-secret-of-grant';
    const holders = (): string[] =>
      readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(marker));
    /* Of sizes that split and merge pages. */
    for (let round = 0; round < 40; round += 1) {
      const text = `other ${'x'.repeat((round * 131) % 1_500)}`;
      await createGrants(store, plainGrant(`g${round}`, { text, usesLeft: 1 }));
      const secret = { text: `${marker} ${'x'.repeat((round * 977) % 3_000)}`, usesLeft: 2 };
      await createGrants(store, plainGrant(`secret ${round}`, secret));
      await appendGrants(store, `use ${round}`, uses(`secret ${round}`));
    }
    expect(holders()).not.toEqual([]);
    for (let round = 0; round < 40; round += 1) await store.grants?.revoke(`secret ${round}`);
    expect(holders()).toEqual([]);
    expect(Object.keys(await usesLeft(store))).toHaveLength(40);
  });
});

/** A store that makes the first append as `first` does. */
function losing(
  store: ThreadStore,
  first: (work: () => Promise<void>) => Promise<void>,
): ThreadStore {
  let isFirst = true;
  return {
    ...store,
    async append(...input) {
      const work = async (): Promise<void> => store.append(...input);
      if (!isFirst) return work();
      isFirst = false;
      return first(work);
    },
  };
}
