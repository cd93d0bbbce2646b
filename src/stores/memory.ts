import { HoldpointError } from '../errors.ts';
import { sealEntry } from '../thread/log-entry.ts';
import type {
  GrantChange,
  LogEnd,
  LogEntry,
  StoredGrant,
  ThreadFilter,
  ThreadStore,
  ThreadStoreGrants,
  ThreadSummary,
} from '../thread/thread-store.ts';

/** The log and the summary of a thread. */
interface KeptThread {
  entries: LogEntry[];
  summary: ThreadSummary;
}

/**
 * Keeps threads in the memory of this process: for tests, and for agents whose threads are stored as JSON elsewhere. It copies what it
 * is given, and the entries that it returns are frozen.
 */
export function memoryStore(): ThreadStore {
  const threads = new Map<string, KeptThread>();
  const grants = new MemoryGrants();
  const filtered = (filter: ThreadFilter): ThreadSummary[] =>
    [...threads.values()].map(({ summary }) => summary).filter((each) => isMeant(each, filter));

  const refuseOther = (threadId: string, expected: LogEnd): void => {
    const { revision, hash } = threads.get(threadId)?.summary ?? { revision: 0, hash: '' };
    if (revision === expected.revision && hash === expected.hash) return;
    throw new HoldpointError(
      'revision-conflict',
      `The log of thread ${threadId} ends at revision ${revision}, not at the expected revision ${expected.revision}, or was replaced.`,
    );
  };

  return {
    grants,

    async read(threadId, afterRevision = 0) {
      const { entries = [] } = threads.get(threadId) ?? {};
      return entries.slice(entries.findLastIndex(({ revision }) => revision <= afterRevision) + 1);
    },

    async append(threadId, expected, entries, summary, changes) {
      refuseOther(threadId, expected);
      if (changes !== undefined) {
        grants.check(changes);
        grants.apply(changes);
      }
      const kept = threads.get(threadId)?.entries ?? [];
      for (const entry of entries) kept.push(sealEntry(entry));
      threads.set(threadId, { entries: kept, summary: { ...summary } });
    },

    async head(threadId) {
      const thread = threads.get(threadId);
      return thread === undefined ? undefined : { ...thread.summary };
    },

    async list({ order = 'id', after, limit = 100, ...filter }) {
      const compare = orders[order];
      return filtered(filter)
        .filter((summary) => after === undefined || compare(summary, after) > 0)
        .toSorted(compare)
        .slice(0, limit)
        .map((summary) => ({ ...summary }));
    },

    async count(filter) {
      return filtered(filter).length;
    },

    async delete(threadId, expected) {
      refuseOther(threadId, expected);
      threads.delete(threadId);
    },

    async claim({ agent, dueBefore, until, limit, threadId }) {
      const due = filtered({ agent, dueBefore })
        .filter((summary) => threadId === undefined || summary.threadId === threadId)
        .toSorted((one, other) => (one.nextDeadline ?? 0) - (other.nextDeadline ?? 0))
        .slice(0, limit);
      return due.map((summary) => {
        summary.nextDeadline = until;
        return { ...summary };
      });
    },
  };
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
