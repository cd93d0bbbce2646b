import TinyQueue from 'tinyqueue';
import { HoldpointError } from '../errors.ts';
import { readParentHash } from '../thread/child-threads.ts';
import { readEntryMark, sealEntry } from '../thread/log-entry.ts';
import type {
  GrantChange,
  LogEnd,
  LogEntry,
  StoredGrant,
  ThreadEnd,
  ThreadFilter,
  ThreadStore,
  ThreadStoreGrants,
  ThreadSummary,
} from '../thread/thread-store.ts';
import { MemoryRequests } from './memory/requests.ts';
import { takePage } from './memory/take-page.ts';
import { makeNotice, Notices } from './sql/notices.ts';

/** The log and the summary of a thread. A summary is replaced, never changed. */
interface KeptThread {
  readonly entries: LogEntry[];
  summary: Readonly<ThreadSummary>;
}

/** What a store in memory keeps. */
export interface MemoryStoreOptions {
  /** Whether open and decided requests are kept as rows, with a feed of their changes. Default true. */
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

  function* select(filter: ThreadFilter): Generator<ThreadSummary> {
    for (const { summary } of threads.values()) if (isMeant(summary, filter)) yield summary;
  }

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
      if (beside.grants !== undefined) {
        grants.check(beside.grants);
        grants.apply(beside.grants);
      }
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

    async list({ order = 'id', after, limit = 100, ...filter }) {
      const page = takePage(select(filter), { compare: orders[order], after, limit });
      return page.map((summary) => ({ ...summary }));
    },

    async count(filter, { atMost = Infinity } = {}) {
      return Math.min([...select(filter)].length, atMost);
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
      const due =
        threadId === undefined
          ? deadlines.takeDue(agent, dueBefore, limit)
          : pickDue(threads.get(threadId), { agent, dueBefore }).slice(0, limit);
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

function pickDue(thread: KeptThread | undefined, filter: ThreadFilter): ThreadSummary[] {
  return thread !== undefined && isMeant(thread.summary, filter) ? [thread.summary] : [];
}

function isMeant(
  summary: ThreadSummary,
  { status, agent, dueBefore, updatedBefore }: ThreadFilter,
): boolean {
  return (
    (status === undefined || summary.status === status) &&
    (agent === undefined || (summary.agent ?? null) === agent) &&
    (dueBefore === undefined || (summary.nextDeadline ?? Infinity) < dueBefore) &&
    (updatedBefore === undefined || summary.updatedAt < updatedBefore)
  );
}

type Place = Pick<ThreadSummary, 'threadId' | 'updatedAt'>;

const byId = (one: Place, other: Place): number =>
  one.threadId < other.threadId ? -1 : Number(one.threadId > other.threadId);

const orders = {
  id: byId,
  oldest: (one: Place, other: Place): number => one.updatedAt - other.updatedAt || byId(one, other),
  newest: (one: Place, other: Place): number => other.updatedAt - one.updatedAt || byId(other, one),
};

type Due = ThreadSummary & { nextDeadline: number };
type IsCurrent = (summary: ThreadSummary) => boolean;

/** Summaries of an agent's threads, the earliest deadline first. Those that are no longer current stay until they come first. */
interface AgentDeadlines {
  queue: TinyQueue<Due>;
  /** The length at which those that are no longer current are taken out. */
  maximumLength: number;
}

const smallLength = 64;

/** The deadlines of threads, by agent: what is due is found without scanning the others. */
class Deadlines {
  readonly #ofAgents = new Map<string | null, AgentDeadlines>();
  readonly #isCurrent: IsCurrent;

  /** `isCurrent` says whether a summary is still the one of its thread. */
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

function compareDeadlines(one: Due, other: Due): number {
  return one.nextDeadline - other.nextDeadline;
}

/** The standing approvals of a store in memory. */
class MemoryGrants implements ThreadStoreGrants {
  readonly #grants = new Map<string, StoredGrant>();

  /** Throws `grant-ended` if one of the changes can't be made. Changes nothing. */
  check(changes: readonly GrantChange[]): void {
    const used = new Map<string, number>();
    for (const change of changes) {
      if (change.type === 'create') continue;
      const { grantId } = change;
      const before = used.get(grantId) ?? 0;
      const grant = this.#grants.get(grantId);
      const isUsable = change.type === 'revoke' || (grant && isActive(grant, change.at, before));
      if (grant === undefined || isUsable !== true) {
        throw new HoldpointError(
          'grant-ended',
          `Standing approval ${grantId} was revoked, has expired or has no use left.`,
        );
      }
      used.set(grantId, before + 1);
    }
  }

  /** Makes changes that were checked. */
  apply(changes: readonly GrantChange[]): void {
    for (const change of changes) {
      if (change.type === 'create') this.#grants.set(change.grant.grantId, { ...change.grant });
      else if (change.type === 'use') this.#use(change.grantId);
      else this.#grants.delete(change.grantId);
    }
  }

  #use(grantId: string): void {
    const grant = this.#grants.get(grantId);
    if (grant?.usesLeft === undefined) return;
    grant.usesLeft -= 1;
    if (grant.usesLeft === 0) this.#grants.delete(grantId);
  }

  async find({
    agent,
    toolName,
    person,
    at,
  }: Parameters<ThreadStoreGrants['find']>[0]): Promise<StoredGrant[]> {
    return [...this.#grants.values()]
      .filter(
        (grant) =>
          grant.agent === agent &&
          grant.toolName === toolName &&
          (grant.person === null || grant.person === person) &&
          isActive(grant, at),
      )
      .toSorted(compareAge)
      .map((grant) => ({ ...grant }));
  }

  async list({
    agent,
    after = '',
    limit = 100,
  }: Parameters<ThreadStoreGrants['list']>[0]): Promise<StoredGrant[]> {
    return [...this.#grants.values()]
      .filter((grant) => (agent === undefined || grant.agent === agent) && grant.grantId > after)
      .toSorted((one, other) => (one.grantId < other.grantId ? -1 : 1))
      .slice(0, limit)
      .map((grant) => ({ ...grant }));
  }

  async revoke(grantId: string): Promise<boolean> {
    return this.#grants.delete(grantId);
  }
}

function isActive(
  { expiresAt = Infinity, usesLeft = Infinity }: StoredGrant,
  at: number,
  used = 0,
): boolean {
  return at < expiresAt && used < usesLeft;
}

function compareAge(one: StoredGrant, other: StoredGrant): number {
  return one.createdAt - other.createdAt || (one.grantId < other.grantId ? -1 : 1);
}
