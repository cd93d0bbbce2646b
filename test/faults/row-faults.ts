import type { LogEntry, StoredRequest, ThreadStore } from 'holdpoint';
import { eventsOf } from 'holdpoint/schemas';
import { readEntryMark } from '../../src/thread/log-entry.ts';
import { replayChanges } from '../../src/thread/stored-requests.ts';
import { stringifySorted } from '../../src/json/json-value.ts';
import { EventList } from '../../src/thread/thread-state.ts';
import type { WrittenChange } from './outbox.ts';
import type { RequestChange } from '../../src/thread/thread-store-requests.ts';

type Entries = readonly LogEntry[];

/** What the appends of a log change in the rows of its thread. */
export function changesOf(threadId: string, entries: Entries): RequestChange[] {
  /* Copies: what this process has in memory of an entry is not what is stored. */
  const events = new EventList(entries.map((entry) => ({ ...entry })));
  return replayChanges({ threadId, entries: entries.map(readEntryMark), events });
}

/**
 * What is wrong with the rows of a thread, with the feed, and with what hooks have written, in sentences. `logs` are those of all threads that
 * had this id, the deleted ones first. A store without requests has no fault.
 */
export async function findRowFaults(
  store: ThreadStore,
  threadId: string,
  logs: readonly Entries[],
  written: readonly WrittenChange[],
): Promise<string[]> {
  const { requests } = store;
  if (requests === undefined) return [];
  let changes: RequestChange[][];
  try {
    changes = logs.map((entries) => changesOf(threadId, entries));
  } catch (error) {
    return [`The log of the thread can't be read again: ${String(error)}`];
  }
  const rows = changes.map(lastRows);
  const told = changes.flatMap((each, nth) => {
    const isDeleted = nth < changes.length - 1;
    const open = (rows[nth] ?? []).filter(({ state }) => isDeleted && state === 'open');
    return [
      ...each.map(({ type, request }) => `${type} ${request.requestId}`),
      ...open.map(({ requestId }) => `deleted ${requestId}`),
    ];
  });
  const stored = await requests.list({ threadId, limit: 1_000 });
  const feed = await requests.changes({ after: 0, limit: 10_000 });
  const own = feed.filter((change) => change.threadId === threadId);
  const hooked = written.filter((change) => change.threadId === threadId).map(({ text }) => text);
  const positions = feed.map(({ position }) => position);
  const checks = {
    'The rows of the thread are not those of its log.':
      sortedText(stored) === sortedText(rows.at(-1) ?? []),
    'Not each open request is an open row.':
      countOpen(stored) === (await countOpenRequests(store, threadId, logs.at(-1))),
    'The feed does not tell of each change of a request once, in order.':
      sortDeletions(own.map(({ type, requestId }) => `${type} ${requestId}`)) ===
      sortDeletions(told),
    'The hooks have not written each change of a request once, in order.':
      hooked.join() === told.filter((text) => !text.startsWith('deleted ')).join(),
    'A position of the feed is there twice, or comes too late.': positions.every(
      (position, nth) => position > (positions[nth - 1] ?? 0),
    ),
  };
  return Object.entries(checks).flatMap(([fault, isSound]) => (isSound ? [] : [fault]));
}

/** Changes as text. Which of the requests of one deletion comes first is not said. */
function sortDeletions(changes: readonly string[]): string {
  const groups: string[][] = [];
  for (const text of changes) {
    const last = groups.at(-1);
    if (tellsOfDeletion(text) && tellsOfDeletion(last?.[0])) last?.push(text);
    else groups.push([text]);
  }
  return groups.flatMap((group) => group.toSorted()).join();
}

function tellsOfDeletion(text: string | undefined): boolean {
  return text?.startsWith('deleted ') === true;
}

function lastRows(changes: readonly RequestChange[]): StoredRequest[] {
  return [...new Map(changes.map(({ request }) => [request.requestId, request])).values()];
}

function countOpen(rows: readonly StoredRequest[]): number {
  return rows.filter(
    ({ kind, state }) => state === 'open' && (kind === 'approval' || kind === 'question'),
  ).length;
}

/** How many rows the open requests of a thread are, as its summary says. Those of a sub-agent are rows of the thread above. */
async function countOpenRequests(
  store: ThreadStore,
  threadId: string,
  [first]: Entries = [],
): Promise<number> {
  const [created] = first === undefined ? [] : eventsOf({ ...first });
  const isBelow = created?.type === 'thread-created' && created.parent !== undefined;
  return isBelow ? 0 : ((await store.head(threadId))?.openRequests ?? 0);
}

function sortedText(rows: readonly object[]): string {
  return rows.map(stringifySorted).toSorted().join();
}
