import { HoldpointError, type LogEntry, type ThreadStore, type ThreadSummary } from 'holdpoint';
import type { LogEnd, ThreadFilter, ThreadQuery } from '../../src/thread/thread-store.ts';

/** A thread as the store keeps it: the texts of its log, and one row for lists. */
interface StoredThread {
  entries: readonly LogEntry[];
  summary: ThreadSummary;
}

/** A store over a `Map`. In a database, each method is one transaction. */
export function mapStore(threads: Map<string, StoredThread>): ThreadStore {
  const select = (filter: ThreadFilter): ThreadSummary[] =>
    [...threads.values()].map(({ summary }) => summary).filter((row) => matches(row, filter));

  return {
    async read(threadId, afterRevision = 0) {
      const { entries = [] } = threads.get(threadId) ?? {};
      return structuredClone(entries.filter(({ revision }) => revision > afterRevision));
    },

    async append(threadId, expected, entries, summary) {
      compare(threads, threadId, expected);
      const before = threads.get(threadId)?.entries ?? [];
      threads.set(threadId, structuredClone({ entries: [...before, ...entries], summary }));
    },

    async head(threadId) {
      return structuredClone(threads.get(threadId)?.summary);
    },

    async list({ order = 'id', after, limit = 100, ...filter }) {
      const compareRows = orders[order];
      const rows = select(filter).toSorted(compareRows);
      const rest = rows.filter((row) => after === undefined || compareRows(row, after) > 0);
      return structuredClone(rest.slice(0, limit));
    },

    async count(filter, { atMost = Infinity } = {}) {
      return Math.min(select(filter).length, atMost);
    },

    async delete(threadId, expected) {
      compare(threads, threadId, expected);
      threads.delete(threadId);
    },

    async claim({ agent, dueBefore, until, limit, threadId }) {
      const due = select({ agent, dueBefore })
        .filter((row) => threadId === undefined || row.threadId === threadId)
        .toSorted((one, other) => (one.nextDeadline ?? 0) - (other.nextDeadline ?? 0))
        .slice(0, limit);
      for (const row of due) row.nextDeadline = until;
      return structuredClone(due);
    },
  };
}

/** The compare of the compare-and-swap: nothing may be awaited between it and the write. */
function compare(threads: Map<string, StoredThread>, threadId: string, expected: LogEnd): void {
  const { revision, hash } = threads.get(threadId)?.summary ?? { revision: 0, hash: '' };
  if (revision === expected.revision && hash === expected.hash) return;
  throw new HoldpointError('revision-conflict', `Thread ${threadId} is at revision ${revision}.`);
}

function matches(row: ThreadSummary, filter: ThreadFilter): boolean {
  const { status, agent, dueBefore, updatedBefore } = filter;
  if (status !== undefined && row.status !== status) return false;
  if (agent !== undefined && (row.agent ?? null) !== agent) return false;
  if (dueBefore !== undefined && !((row.nextDeadline ?? Infinity) < dueBefore)) return false;
  return updatedBefore === undefined || row.updatedAt < updatedBefore;
}

type Place = Pick<ThreadSummary, 'threadId' | 'updatedAt'>;

const byId = (one: Place, other: Place): number =>
  Number(one.threadId > other.threadId) - Number(one.threadId < other.threadId);

const orders: Record<NonNullable<ThreadQuery['order']>, (one: Place, other: Place) => number> = {
  id: byId,
  oldest: (one, other) => one.updatedAt - other.updatedAt || byId(one, other),
  newest: (one, other) => other.updatedAt - one.updatedAt || byId(other, one),
};
