import { deepStrictEqual, rejects } from 'node:assert/strict';
import { HoldpointError } from '../../errors.ts';
import type { LogEnd, LogEntry, ThreadStore, ThreadSummary } from '../../thread/thread-store.ts';

/** A requirement that every store must meet. */
export interface StoreConformanceCase {
  /** The demand on a store, as a sentence. */
  name: string;
  /**
   * Rejects if the store does not meet it. `store` must be empty; `reopen` returns the same store as another process would open it (for a
   * memory store: the store itself).
   */
  check(store: ThreadStore, reopen: () => ThreadStore): Promise<void>;
}

/** An entry of one message with `content`. A store must not interpret it. */
export function makeEntry(revision: number, content = 'x'): LogEntry {
  const event = { type: 'message-added', at: 1, message: { role: 'user', content } };
  return { revision, text: JSON.stringify({ v: 1, events: [event], hash: 'hash' }) };
}

/** The end of a log in these cases. A store compares the hash but does not interpret it. */
export function end(revision: number): LogEnd {
  return { revision, hash: revision === 0 ? '' : `hash ${revision}` };
}

/** The summary of a thread with one event; `more` overrides its fields. */
export function makeSummary(threadId: string, more: Partial<ThreadSummary> = {}): ThreadSummary {
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

/** Appends one entry with one event; returns the thread's new summary. */
export async function appendInCase(
  store: ThreadStore,
  threadId: string,
  more: Partial<ThreadSummary> = {},
): Promise<ThreadSummary> {
  const { revision = 1 } = more;
  const after = makeSummary(threadId, more);
  await store.append(threadId, end(revision - 1), [makeEntry(revision)], after);
  return after;
}

/** Rejects unless `work` rejects with `revision-conflict`. */
export async function expectConflict(work: Promise<unknown>): Promise<void> {
  await rejects(work, isRevisionConflict);
}

export function isRevisionConflict(error: unknown): boolean {
  return HoldpointError.isInstance(error) && error.code === 'revision-conflict';
}

/** Rejects unless the thread's log consists of these entries. */
export async function holds(
  store: ThreadStore,
  threadId: string,
  entries: readonly LogEntry[],
): Promise<void> {
  deepStrictEqual(pickPlain(await store.read(threadId)), entries);
}

/** The entries without properties that the store may have added. */
export function pickPlain(entries: readonly LogEntry[]): LogEntry[] {
  return entries.map(({ revision, text }) => ({ revision, text }));
}

export function listIds(summaries: readonly ThreadSummary[]): string[] {
  return summaries.map(({ threadId }) => threadId);
}

export async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
