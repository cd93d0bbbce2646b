import { deepStrictEqual, rejects } from 'node:assert/strict';
import { HoldpointError } from '../../errors.ts';
import type { LogEnd, LogEntry, ThreadStore, ThreadSummary } from '../../thread/thread-store.ts';

/** One thing that every store must do. */
export interface StoreConformanceCase {
  name: string;
  /**
   * Rejects when the store does not do it. `store` is empty; `reopen` gives the same store as another process would
   * open it (for a store in memory: the store itself).
   */
  check(store: ThreadStore, reopen: () => ThreadStore): Promise<void>;
}

/** An entry of one event that says `content`. A store never looks inside. */
export function entry(revision: number, content = 'x'): LogEntry {
  const event = { type: 'message-added', at: 1, message: { role: 'user', content } };
  return { revision, text: JSON.stringify({ v: 1, events: [event], hash: 'hash' }) };
}

/** Where a log of these cases ends: a store looks at the hash as little as at the entries, and compares it. */
export function end(revision: number): LogEnd {
  return { revision, hash: revision === 0 ? '' : `hash ${revision}` };
}

/** A summary of a thread with one event, changed by `more`. */
export function summary(threadId: string, more: Partial<ThreadSummary> = {}): ThreadSummary {
  return {
    threadId,
    status: 'idle',
    ...end(more.revision ?? 1),
    openRequests: 0,
    failures: 0,
    updatedAt: 1,
    ...more,
  };
}

/** Appends one entry of one event and gives the summary that the thread then has. */
export async function append(
  store: ThreadStore,
  threadId: string,
  more: Partial<ThreadSummary> = {},
): Promise<ThreadSummary> {
  const { revision = 1 } = more;
  const after = summary(threadId, more);
  await store.append(threadId, end(revision - 1), [entry(revision)], after);
  return after;
}

/** Rejects unless `work` rejects with `revision-conflict`. */
export async function conflicts(work: Promise<unknown>): Promise<void> {
  await rejects(work, isConflict);
}

export function isConflict(error: unknown): boolean {
  return HoldpointError.isInstance(error) && error.code === 'revision-conflict';
}

/** Rejects unless the log of the thread is these entries. */
export async function holds(
  store: ThreadStore,
  threadId: string,
  entries: readonly LogEntry[],
): Promise<void> {
  deepStrictEqual(plain(await store.read(threadId)), entries);
}

/** The entries without what a store may have added to their objects. */
export function plain(entries: readonly LogEntry[]): LogEntry[] {
  return entries.map(({ revision, text }) => ({ revision, text }));
}

export function idsOf(summaries: readonly ThreadSummary[]): string[] {
  return summaries.map(({ threadId }) => threadId);
}
