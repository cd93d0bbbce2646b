import type { ThreadStore } from 'holdpoint';
import type { RequestChange, StoredRequest } from '../../src/thread/thread-store-requests.ts';
import { plainEnd, plainEntry, plainSummary } from './plain-entries.ts';

/** An open request of the thread `t` for tests of stores, which never interpret its text. */
export function plainRequest(requestId: string, more: Partial<StoredRequest> = {}): StoredRequest {
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

/** The change that opens these requests. */
export function opens(...requests: StoredRequest[]): RequestChange[] {
  return requests.map((request) => ({ type: 'opened', request }));
}

/** The change that approves these requests. */
export function approves(...requests: StoredRequest[]): RequestChange[] {
  return requests.map((request) => ({
    type: 'closed',
    request: { ...request, state: 'approved', decidedBy: 'ada', decidedAt: 2 },
  }));
}

/** Appends one entry that changes requests. */
export async function appendRequests(
  store: ThreadStore,
  threadId: string,
  requests: readonly RequestChange[],
  revision = 1,
): Promise<void> {
  const summary = plainSummary(threadId, { revision, status: 'waiting' });
  const entries = [plainEntry(revision)];
  await store.append(threadId, plainEnd(revision - 1), entries, summary, { requests });
}
