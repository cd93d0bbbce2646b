import TinyQueue from 'tinyqueue';
import { checkFilter } from '../content/check-settings.ts';
import { HoldpointError } from '../errors.ts';
import { readParentHash } from '../thread/child-threads.ts';
import { readEntryMark, sealEntry } from '../thread/log-entry.ts';
import type {
  GrantChange,
  LogEnd,
  LogEntry,
  StoredGrant,
  ThreadEnd,
  ThreadStore,
  ThreadStoreGrants,
  ThreadSummary,
} from '../thread/thread-store.ts';
import { MemoryRequests } from './memory/requests.ts';
import type { ColumnValue, RowCondition, RowPage } from './rows/row-query.ts';
import { findReader } from './rows/table.ts';
import {
  changeGrant,
  grantOrder,
  grants as grantTable,
  listGrantConditions,
  listThreadConditions,
  makeThreadPage,
  selectGrants,
  threads as threadTable,
} from './rows/tables.ts';
import { countMet, takePage } from './rows/take-rows.ts';
import { makeNotice, Notices } from './rows/notices.ts';

/** The log and the summary of a thread. A summary is replaced, never changed. */
interface KeptThread {
  readonly entries: LogEntry[];
  summary: Readonly<ThreadSummary>;
}

/** Options of a store in memory. */
export interface MemoryStoreOptions {
  /** True if open and decided requests are kept as rows, with a feed of their changes. Default true. */
  requests?: boolean;
}

/**
 * Keeps threads in the memory of this process: for tests, and for agents whose threads are stored as JSON elsewhere. It copies what it
 * is given, and the entries and requests that it returns are frozen.
 */
export function memoryStore({
  requests: keepsRequests = true,
}: MemoryStoreOptions = {}): ThreadStore {
  const threads = new Map<string, KeptThread>();
  const grants = new MemoryGrants();
  const requests = keepsRequests ? new MemoryRequests() : undefined;
  const notices = new Notices();
  const deadlines = new Deadlines((summary) => threads.get(summary.threadId)?.summary === summary);

  const refuseOther = (threadId: string, expected: LogEnd): void => {
    const { revision, hash } = threads.get(threadId)?.summary ?? { revision: 0, hash: '' };
    if (revision === expected.revision && hash === expected.hash) return;
    throw new HoldpointError(
      'revision-conflict',
      `The log of thread ${threadId} ends at revision ${revision}, not at the expected revision ${expected.revision}, or was replaced.`,
    );
  };
  const isAtEnd = ({ threadId, revision, hash }: ThreadEnd): boolean => {
    const end = threads.get(threadId)?.summary;
    return end?.revision === revision && end.hash === hash;
  };

  const remove = (threadId: string): void => {
    threads.delete(threadId);
    requests?.deleteOf(threadId);
  };

  return {
    grants,
    ...(requests === undefined ? {} : { requests }),

    async read(threadId, afterRevision = 0) {
      const { entries = [] } = threads.get(threadId) ?? {};
      return entries.slice(entries.findLastIndex(({ revision }) => revision <= afterRevision) + 1);
    },

    async append(threadId, expected, entries, given, beside = {}) {
      refuseOther(threadId, expected);
      if (beside.grants !== undefined) grants.apply(beside.grants);
      if (beside.requests !== undefined) requests?.apply(beside.requests);
      const summary = { ...given };
      const thread = threads.get(threadId) ?? { entries: [], summary };
      for (const entry of entries) thread.entries.push(sealEntry(entry));
      thread.summary = summary;
      threads.set(threadId, thread);
      deadlines.add(summary);
      if (!notices.hasSubscribers) return;
      const notice = makeNotice(summary, beside.requests);
      if (notice !== undefined) notices.notify(notice);
    },

    async head(threadId) {
      const thread = threads.get(threadId);
      return thread === undefined ? undefined : { ...thread.summary };
    },

    async list(query) {
      const where = listThreadConditions(query);
      const page = { where, ...makeThreadPage(query) };
      return takePage(threads.values(), page, findThreadReader).map(({ summary }) => ({
        ...summary,
      }));
    },

    async count(filter, { atMost = Infinity } = {}) {
      return Math.min(
        countMet(threads.values(), listThreadConditions(filter), findThreadReader),
        atMost,
      );
    },

    async delete(threadId, expected) {
      refuseOther(threadId, expected);
      remove(threadId);
    },

    deletion: {
      async listChildren(threadIds) {
        const parents = new Map<string, string>();
        for (const threadId of threadIds) {
          for (const entry of threads.get(threadId)?.entries ?? []) {
            parents.set(readEntryMark(entry).hash, threadId);
          }
        }
        return [...threads.values()].flatMap(({ summary }) => {
          const parentId = parents.get(readParentHash(summary.threadId) ?? '');
          return parentId === undefined ? [] : [{ ...summary, parentId }];
        });
      },

      async delete(groups) {
        const whole = groups.filter((group) => group.every(isAtEnd)).flat();
        for (const { threadId } of whole) remove(threadId);
        return whole.map(({ threadId }) => threadId);
      },
    },

    async claim({ agent, dueBefore, until, limit, threadId }) {
      checkFilter({ agent });
      const due =
        threadId === undefined
          ? deadlines.takeDue(agent, dueBefore, limit)
          : pickDue(threads.get(threadId)?.summary, agent, dueBefore).slice(0, limit);
      return due.map((summary) => {
        const claimed = { ...summary, nextDeadline: until };
        const thread = threads.get(summary.threadId);
        if (thread !== undefined) thread.summary = claimed;
        deadlines.add(claimed);
        return { ...claimed };
      });
    },

    subscribe(listener) {
      const unsubscribe = notices.subscribe(listener);
      return async () => unsubscribe();
    },
  };
}

/** Finds the function that reads a column of a thread. */
function findThreadReader(column: string): (thread: KeptThread) => ColumnValue {
  const read = findReader(threadTable, column);
  return ({ summary }) => read(summary);
}

type Due = ThreadSummary & { nextDeadline: number };
type IsCurrent = (summary: ThreadSummary) => boolean;

/** Summaries of an agent's threads, the earliest deadline first. Those that are no longer current stay until they come first. */
interface AgentDeadlines {
  queue: TinyQueue<Due>;
  /** The length at which those that are no longer current are taken out. */
  maximumLength: number;
}

const smallLength = 64;

/** The deadlines of threads, by agent: due threads are found without scanning the others. */
class Deadlines {
  readonly #ofAgents = new Map<string | null, AgentDeadlines>();
  readonly #isCurrent: IsCurrent;

  /** Makes the index. `isCurrent` tells whether a summary is still its thread's. */
  constructor(isCurrent: IsCurrent) {
    this.#isCurrent = isCurrent;
  }

  /** Adds the summary of a thread. It must not be changed afterwards; it counts until it is no longer current. */
  add(summary: ThreadSummary): void {
    if (!hasDeadline(summary)) return;
    const { agent = null } = summary;
    let deadlines = this.#ofAgents.get(agent);
    if (deadlines === undefined || deadlines.queue.length >= deadlines.maximumLength) {
      const current = (deadlines?.queue.data ?? []).filter(this.#isCurrent);
      const maximumLength = Math.max(smallLength, 2 * current.length);
      deadlines = { queue: new TinyQueue(current, compareDeadlines), maximumLength };
      this.#ofAgents.set(agent, deadlines);
    }
    deadlines.queue.push(summary);
  }

  /** Takes out the summaries of the agent's threads that are due before this time, the most overdue first. */
  takeDue(agent: string | null, before: number, limit: number): ThreadSummary[] {
    const due: ThreadSummary[] = [];
    const queue = this.#ofAgents.get(agent)?.queue;
    while (due.length < limit && (queue?.peek()?.nextDeadline ?? Infinity) < before) {
      const first = queue?.pop();
      if (first !== undefined && this.#isCurrent(first)) due.push(first);
    }
    return due;
  }
}

function hasDeadline(summary: ThreadSummary): summary is Due {
  return summary.nextDeadline !== undefined;
}

function pickDue(
  summary: ThreadSummary | undefined,
  agent: string | null,
  before: number,
): ThreadSummary[] {
  const { agent: own = null, nextDeadline = Infinity } = summary ?? {};
  return summary !== undefined && own === agent && nextDeadline < before ? [summary] : [];
}

function compareDeadlines(one: Due, other: Due): number {
  return one.nextDeadline - other.nextDeadline;
}

const findGrantReader = (column: string) => findReader(grantTable, column);

/** The standing approvals of a store in memory. */
class MemoryGrants implements ThreadStoreGrants {
  readonly #grants = new Map<string, StoredGrant>();

  /** Makes the changes of an append. Changes nothing if it throws. */
  apply(changes: readonly GrantChange[]): void {
    const changed = new Map<string, StoredGrant | undefined>();
    for (const change of changes) {
      const grantId = change.type === 'create' ? change.grant.grantId : change.grantId;
      const grant = changed.has(grantId) ? changed.get(grantId) : this.#grants.get(grantId);
      changed.set(grantId, changeGrant(grant, change));
    }
    for (const [grantId, grant] of changed) {
      if (grant === undefined) this.#grants.delete(grantId);
      else this.#grants.set(grantId, grant);
    }
  }

  async find(query: Parameters<ThreadStoreGrants['find']>[0]): Promise<StoredGrant[]> {
    return this.#take(listGrantConditions(query), { order: grantOrder, limit: Infinity });
  }

  async list(query: Parameters<ThreadStoreGrants['list']>[0]): Promise<StoredGrant[]> {
    const { where, ...page } = selectGrants(query);
    return this.#take(where, page);
  }

  async revoke(grantId: string): Promise<boolean> {
    return this.#grants.delete(grantId);
  }

  #take(where: readonly RowCondition[], page: RowPage): StoredGrant[] {
    const rows = this.#grants.values();
    return takePage(rows, { where, ...page }, findGrantReader).map((grant) => ({ ...grant }));
  }
}
