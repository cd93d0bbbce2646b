import type { ThreadStore } from 'holdpoint';
import type { PostgresPool } from 'holdpoint/stores/postgres';
import type {
  FeedChange,
  RequestChange,
  StoredRequest,
} from '../../src/thread/thread-store-requests.ts';
import { plainEnd, plainEntry, plainSummary } from './plain-entries.ts';

/** An open request for tests of stores, which never interpret its text. */
export function plainRow(requestId: string, more: Partial<StoredRequest> = {}): StoredRequest {
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
    text: JSON.stringify(requestId),
    ...more,
  };
}

/** The change that opens this request. */
export function opened(requestId: string, more: Partial<StoredRequest> = {}): RequestChange {
  return { type: 'opened', request: plainRow(requestId, more) };
}

/** The change that closes this request. */
export function closed(requestId: string, more: Partial<StoredRequest> = {}): RequestChange {
  const decision = { state: 'approved', decidedBy: 'ada', decidedAt: 9 } as const;
  return { type: 'closed', request: plainRow(requestId, { ...decision, ...more }) };
}

/** Appends one entry that changes requests of its thread. */
export async function appendRows(
  store: ThreadStore,
  threadId: string,
  changes: readonly RequestChange[],
  revision = 1,
): Promise<void> {
  const requests = changes.map(({ type, request }) => ({
    type,
    request: { ...request, threadId },
  }));
  const summary = plainSummary(threadId, { revision });
  await store.append(threadId, plainEnd(revision - 1), [plainEntry(revision)], summary, {
    requests,
  });
}

/** Fills in rows. */
export async function fillIn(
  requests: NonNullable<ThreadStore['requests']>,
  ...rows: StoredRequest[]
): Promise<void> {
  await requests.fill(rows);
}

/** The requests of a store that has them. */
export function requestsOf(store: ThreadStore): NonNullable<ThreadStore['requests']> {
  if (store.requests === undefined) throw new Error('The store has no requests.');
  return store.requests;
}

/** Changes as one line each: the type and the request. */
export function lines(changes: readonly FeedChange[] | undefined): string[] {
  return (changes ?? []).map(({ type, requestId }) => `${type} ${requestId}`);
}

/** A pool whose transactions wait before they commit, until they are let go. */
export function holdCommits(pool: PostgresPool): {
  pool: PostgresPool;
  /** Resolves when a transaction has done all but commit. */
  reached: Promise<void>;
  letGo(): void;
} {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const { promise: free, resolve: letGo } = Promise.withResolvers<void>();
  return {
    reached,
    letGo: () => letGo(),
    pool: {
      query: async (query) => pool.query(query),
      async connect() {
        const connection = await pool.connect();
        const query: typeof connection.query = async (asked) => {
          if (asked.text === 'commit') {
            reach();
            await free;
          }
          return connection.query(asked);
        };
        return {
          query,
          on: connection.on.bind(connection),
          release: (destroy) => connection.release(destroy),
        };
      },
    },
  };
}
