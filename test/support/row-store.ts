import {
  memoryStore,
  type StoredRequest,
  type ThreadStore,
  type ThreadStoreRequests,
} from 'holdpoint';
import type { RequestChange } from '../../src/thread/thread-store-requests.ts';

/** A store whose rows of requests a test can see and change. */
export interface RowStore extends ThreadStore {
  requests: ThreadStoreRequests;
  /** The rows by request id. */
  rows: Map<string, StoredRequest>;
  /** What appends have changed, oldest first. */
  changes: RequestChange[];
}

const notNeeded = async (): Promise<never> => {
  throw new Error('No test needs this of rows.');
};

/** A memory store with rows of requests that a test can see and change. */
export function rowStore(): RowStore {
  const store = memoryStore();
  const rows = new Map<string, StoredRequest>();
  const changes: RequestChange[] = [];
  return {
    ...store,
    rows,
    changes,
    async append(threadId, expected, entries, summary, { requests = [], ...beside } = {}) {
      await store.append(threadId, expected, entries, summary, beside);
      for (const change of requests) {
        changes.push(change);
        rows.set(change.request.requestId, change.request);
      }
    },
    requests: {
      count: notNeeded,
      get: notNeeded,
      erase: notNeeded,
      changes: notNeeded,
      deleteChanges: notNeeded,
      async list({ threadId, after, limit = 100 }) {
        const own = [...rows.values()].filter((row) => row.threadId === threadId);
        const begin = own.findIndex(({ requestId }) => requestId === after?.requestId) + 1;
        return own.slice(begin, begin + limit);
      },
    },
  };
}
