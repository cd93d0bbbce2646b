import { readEntryMark } from './log-entry.ts';
import { parseSnapshotState } from './thread-snapshot.ts';
import { measureThread, type ThreadState } from './thread-state.ts';
import type { LogEntry, ThreadStore } from './thread-store.ts';

/* When a thread is written to a snapshot, and read from one. */

/*
 * A snapshot costs as much as the thread is long, so it is written when the thread has grown by an eighth: what an append pays on average
 * doesn't depend on the length. Short threads open as fast without one.
 */
const growth = 1 / 8;

/** Whether a snapshot is to be written with the next append to a thread. */
export function isSnapshotDue(
  snapshots: NonNullable<ThreadStore['snapshots']>,
  state: Readonly<ThreadState>,
): boolean {
  if (!state.head.created) return false;
  const grown = measureThread(state) - state.snapshotSize;
  return grown >= Math.max(snapshots.every ?? 64, state.snapshotSize * growth);
}

/** The thread at its snapshot, if the store has one and these entries, which are all of its log, vouch for it. */
export async function readSnapshotState(
  { snapshots }: Pick<ThreadStore, 'snapshots'>,
  threadId: string,
  entries: readonly LogEntry[],
): Promise<ThreadState | undefined> {
  const count = entries.findLastIndex((entry) => readEntryMark(entry).snapshot !== undefined);
  const text = count === -1 ? undefined : await snapshots?.read(threadId);
  if (text === undefined) return undefined;
  return parseSnapshotState(threadId, text, entries.slice(0, count + 1));
}
