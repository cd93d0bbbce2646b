import type { LogEntry, RequestChange, ThreadStore } from 'holdpoint';
import { readEntryMark } from '../../src/thread/log-entry.ts';
import { replayChanges } from '../../src/thread/stored-requests.ts';
import { stringifySorted } from '../../src/thread/thread-snapshot.ts';
import { EventList } from '../../src/thread/thread-state.ts';

/** What the appends of a log change in the rows of its thread. */
export function changesOf(threadId: string, entries: readonly LogEntry[]): RequestChange[] {
  /* Copies: what this process has in memory of an entry is not what is stored. */
  const events = new EventList(entries.map((entry) => ({ ...entry })));
  return replayChanges({ threadId, entries: entries.map(readEntryMark), events });
}

/**
 * What is wrong with the rows of a thread and with the feed of a store that has had no other, in sentences. `logs` are those of all threads
 * that had this id, the deleted ones first.
 */
export async function findRowFaults(
  { requests, head }: ThreadStore,
  threadId: string,
  logs: readonly (readonly LogEntry[])[],
): Promise<string[]> {
  const changes = logs.map((entries) => changesOf(threadId, entries));
  const rows = changes.map(
    (each) => new Map(each.map(({ request }) => [request.requestId, request])),
  );
  const stored = (await requests?.list({ threadId, limit: 1_000 })) ?? [];
  const feed = (await requests?.changes({ after: 0, limit: 10_000 })) ?? [];
  const expected = changes.flatMap((each, nth) => {
    const isDeleted = nth < changes.length - 1;
    const open = [...(rows[nth]?.values() ?? [])].filter(
      ({ state }) => isDeleted && state === 'open',
    );
    return [
      ...each.map(({ type, request }) => `${type} ${request.requestId}`),
      ...open.map(({ requestId }) => `deleted ${requestId}`),
    ];
  });
  const { openRequests = 0 } = (await head(threadId)) ?? {};
  const open = stored.filter(({ kind, state }) => state === 'open' && !kind.includes('-'));
  const positions = feed.map(({ position }) => position);
  const isAscending = positions.every((position, nth) => position > (positions[nth - 1] ?? 0));
  return [
    ...(sortedText(stored) === sortedText([...(rows.at(-1)?.values() ?? [])])
      ? []
      : ['The rows of the thread are not those of its log.']),
    ...(feed.map(({ type, requestId }) => `${type} ${requestId}`).join() === expected.join()
      ? []
      : ['The feed does not tell of each change of a request once, in order.']),
    ...(open.length === openRequests ? [] : ['Not each open request is an open row.']),
    ...(isAscending ? [] : ['A position of the feed is there twice.']),
  ];
}

function sortedText(rows: readonly object[]): string {
  return rows.map(stringifySorted).toSorted().join();
}
