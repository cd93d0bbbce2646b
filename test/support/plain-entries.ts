import type { LogEntry, ThreadStore, ThreadSummary } from 'holdpoint';
import type { LogEnd } from '../../src/thread/thread-store.ts';

/** An entry of one event for tests of stores, which never interpret it. */
export function plainEntry(revision: number, text = 'x'): LogEntry {
  return { revision, text: JSON.stringify(text) };
}

/** The summary of a thread of one event, changed by `more`. */
export function plainSummary(threadId: string, more: Partial<ThreadSummary> = {}): ThreadSummary {
  return {
    threadId,
    status: 'idle',
    ...plainEnd(more.revision ?? 1),
    openRequests: 0,
    failures: 0,
    updatedAt: 1,
    ...more,
  };
}

/** Appends one entry of one event. */
export async function appendPlain(
  store: ThreadStore,
  threadId: string,
  more: Partial<ThreadSummary> = {},
): Promise<void> {
  const { revision = 1 } = more;
  const summary = plainSummary(threadId, more);
  await store.append(threadId, plainEnd(revision - 1), [plainEntry(revision)], summary);
}

/** Where a log of these entries ends. */
export function plainEnd(revision: number): LogEnd {
  return { revision, hash: revision === 0 ? '' : `hash ${revision}` };
}
