import type { ThreadStore } from 'holdpoint';
import type { RequestChange, StoredRequest } from '../../src/thread/thread-store-requests.ts';
import { makeRow } from '../../src/testing/conformance/requests-in-case.ts';
import { plainEnd, plainEntry, plainSummary } from './plain-entries.ts';

/** An open request of the thread `t` for tests of stores, which never interpret its text. */
export function plainRow(requestId: string, more: Partial<StoredRequest> = {}): StoredRequest {
  return makeRow(requestId, { text: JSON.stringify(requestId), ...more });
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

/** The requests of a store that has them. */
export function requestsOf(store: ThreadStore): NonNullable<ThreadStore['requests']> {
  if (store.requests === undefined) throw new Error('The store has no requests.');
  return store.requests;
}
