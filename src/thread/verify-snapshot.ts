import { HoldpointError } from '../errors.ts';
import { applyEntry } from './apply-events.ts';
import { toJson } from './tagged-json.ts';
import { makeSnapshotContent, digestSnapshot, snapshotVersion } from './thread-snapshot.ts';
import { makeEmptyThread, type ThreadState } from './thread-state.ts';

/**
 * Compares the latest snapshot of a log with the state that the entries before it add up to. The thread was read without its snapshot. Throws
 * `log-tampered` if they differ.
 */
export async function verifySnapshot(
  { threadId, entries, events }: Readonly<ThreadState>,
  text: string | undefined,
): Promise<void> {
  const count = entries.findLastIndex(({ snapshot }) => snapshot !== undefined);
  if (text === undefined || (await digestSnapshot(text)) !== entries[count]?.snapshot) return;
  const json: unknown = JSON.parse(text);
  /* Another holdpoint wrote it, and this one opens no thread from it. */
  if (Reflect.get(Object(json), 'v') !== snapshotVersion) return;
  const state = makeEmptyThread(threadId);
  for (const { revision, hash } of entries.slice(0, count)) {
    applyEntry(state, { events: events.slice(state.events.length, revision), hash });
  }
  if (stringifySorted(json) === stringifySorted(toJson(makeSnapshotContent(state)))) return;
  throw new HoldpointError(
    'log-tampered',
    `The snapshot of thread ${threadId} at revision ${state.events.length} differs from the log before it. Restore the thread from a backup.`,
  );
}

/* The same state may have its keys in another order. */
function stringifySorted(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(
          Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)),
        )
      : part,
  );
}
