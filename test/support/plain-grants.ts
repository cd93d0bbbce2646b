import type { ThreadStore } from 'holdpoint';
import { plainEnd, plainEntry, plainSummary } from './plain-entries.ts';
import type { StoredGrant, GrantChange } from '../../src/thread/thread-store.ts';

/** A standing approval for tests of stores, which never interpret its text. */
export function plainGrant(grantId: string, more: Partial<StoredGrant> = {}): StoredGrant {
  return {
    grantId,
    agent: null,
    toolName: 'pay',
    person: null,
    text: JSON.stringify(grantId),
    createdAt: 1,
    ...more,
  };
}

/** Appends one entry that changes grants. */
export async function appendGrants(
  store: ThreadStore,
  threadId: string,
  changes: readonly GrantChange[],
  revision = 1,
): Promise<void> {
  const summary = plainSummary(threadId, { revision });
  const entries = [plainEntry(revision)];
  await store.append(threadId, plainEnd(revision - 1), entries, summary, { grants: changes });
}

/** Creates grants in a thread of their own. */
export async function createGrants(store: ThreadStore, ...grants: StoredGrant[]): Promise<void> {
  const changes = grants.map((grant): GrantChange => ({ type: 'create', grant }));
  await appendGrants(store, `source of ${grants.map(({ grantId }) => grantId).join()}`, changes);
}

/** One use of each of these grants. */
export function uses(...grantIds: string[]): GrantChange[] {
  return grantIds.map((grantId) => ({ type: 'use', grantId, at: 10 }));
}

/** The uses that are left of each grant of the store, by id. */
export async function usesLeft(store: ThreadStore): Promise<Record<string, number | undefined>> {
  const grants = (await store.grants?.list({})) ?? [];
  return Object.fromEntries(grants.map(({ grantId, usesLeft: left }) => [grantId, left]));
}
