import { deepStrictEqual } from 'node:assert/strict';
import type { AppendedBeside, ThreadStore } from '../../thread/thread-store.ts';
import type {
  FeedChange,
  RequestChange,
  RequestQuery,
  StoredRequest,
  ThreadStoreRequests,
} from '../../thread/thread-store-requests.ts';
import { end, makeEntry, makeSummary, type StoreConformanceCase } from './conformance-case.ts';

/** The store that a case for requests gets. */
export interface RequestCaseStore {
  store: ThreadStore;
  requests: ThreadStoreRequests;
  /** The same store as another process would open it. */
  reopen: () => { store: ThreadStore; requests: ThreadStoreRequests };
}

/** A case that a store without `requests` meets. */
export function requestCase(
  name: string,
  check: (given: RequestCaseStore) => Promise<void>,
): StoreConformanceCase {
  return {
    name,
    async check(store, reopen) {
      const { requests } = store;
      if (requests === undefined) return;
      await check({
        store,
        requests,
        reopen: () => {
          const other = reopen();
          if (other.requests === undefined) throw new Error('Only some processes keep requests.');
          return { store: other, requests: other.requests };
        },
      });
    },
  };
}

/** An open request of thread `t`; `more` overrides its fields. A store must not interpret its text. */
export function makeRow(requestId: string, more: Partial<StoredRequest> = {}): StoredRequest {
  return {
    requestId,
    threadId: 't',
    agent: null,
    tenant: null,
    kind: 'approval',
    toolName: 'pay',
    requesters: [],
    approvers: [],
    risk: null,
    createdAt: 1,
    votes: 0,
    quorum: 1,
    state: 'open',
    decidedBy: null,
    text: JSON.stringify({ requestId, note: 'é"\\' }),
    ...more,
  };
}

/** The request as it is after a person approved it. */
export function makeApproved(row: StoredRequest, decidedAt = 50): StoredRequest {
  return { ...row, votes: 1, state: 'approved', decidedBy: 'ada', decidedAt };
}

export function open(...requests: StoredRequest[]): RequestChange[] {
  return requests.map((request) => ({ type: 'opened', request }));
}

export function change(...requests: StoredRequest[]): RequestChange[] {
  return requests.map((request) => ({ type: 'changed', request }));
}

export function close(...requests: StoredRequest[]): RequestChange[] {
  return requests.map((request) => ({ type: 'closed', request }));
}

/** Appends one entry to each thread whose requests change, with the other writes beside it. */
export async function write(
  store: ThreadStore,
  changes: readonly RequestChange[],
  beside: Omit<AppendedBeside, 'requests'> = {},
): Promise<void> {
  for (const threadId of new Set(changes.map(({ request }) => request.threadId))) {
    const { revision = 0 } = (await store.head(threadId)) ?? {};
    const summary = makeSummary(threadId, { revision: revision + 1 });
    const requests = changes.filter(({ request }) => request.threadId === threadId);
    const entries = [makeEntry(revision + 1)];
    await store.append(threadId, end(revision), entries, summary, { ...beside, requests });
  }
}

export async function listRequestIds(
  requests: ThreadStoreRequests,
  query: RequestQuery = {},
): Promise<string[]> {
  return (await requests.list(query)).map(({ requestId }) => requestId);
}

/** Changes as text: the type and the id of each. */
export function describeChanges(changes: readonly FeedChange[] | undefined): string[] {
  return (changes ?? []).map(({ type, requestId }) => `${type} ${requestId}`);
}

/** Rejects unless the feed consists of these changes. */
export async function expectFeed(requests: ThreadStoreRequests, changes: string[]): Promise<void> {
  deepStrictEqual(describeChanges(await requests.changes({ after: 0, limit: 10_000 })), changes);
}
