import { callGuarded } from '../content/app-errors.ts';
import { readEntryMark } from '../thread/log-entry.ts';
import type {
  LogEnd,
  StoreNotice,
  ThreadClaim,
  ThreadEnd,
  ThreadStore,
  ThreadSummary,
} from '../thread/thread-store.ts';
import { countRows } from './derive/count-rows.ts';
import { changeGrants, deriveGrants } from './derive/derive-grants.ts';
import { changeRequests, deleteRequestsOf, deriveRequests } from './derive/derive-requests.ts';
import type { StorePort } from './derive/store-port.ts';
import { dueOrder, parseRow, snapshots } from './derive/tables.ts';
import { selectAll, transact, Transaction } from './derive/transaction.ts';
import { ascending } from './rows/table.ts';
import { listThreadConditions, makeConflictError, makeThreadPage, threads } from './rows/tables.ts';
import { makeNotice } from './rows/notices.ts';

export { selectRows } from './derive/select-rows.ts';
export type { StorePort, StoreRow } from './derive/store-port.ts';
export type { RowQuery, StoreTable } from './rows/row-query.ts';

/** A store with all of its parts. */
type DerivedStore = ThreadStore &
  Required<Pick<ThreadStore, 'grants' | 'snapshots' | 'requests' | 'deletion'>>;

/**
 * Makes a whole store from a few functions over a database: its log, threads, claims, standing approvals, requests, feed and snapshots.
 * `storeConformance` of `holdpoint/testing/store` tests it. To use a function that the database does better, replace it in the returned
 * object.
 *
 * @example
 * const store = deriveStore(redisPort(client));
 */
export function deriveStore(port: StorePort): DerivedStore {
  const readClock = async (): Promise<number> => (await port.now?.()) ?? Date.now();

  const head = async (threadId: string): Promise<ThreadSummary | undefined> => {
    const row = await port.get('threads', threadId);
    return row && parseRow(threads, row);
  };

  const deleteGroup = async (group: readonly ThreadEnd[]): Promise<boolean> =>
    transact(port, async (transaction) => {
      for (const end of group) if (!(await isAtEnd(transaction, end))) return false;
      const madeAt = await readClock();
      for (const { threadId } of group) {
        transaction.deleteLog(threadId);
        await transaction.delete(threads, threadId);
        await transaction.delete(snapshots, threadId);
        await deleteRequestsOf(transaction, threadId, madeAt);
      }
      return true;
    });

  /* What it tells of is durable: an error of `send` must not make the append fail. */
  const send = (notice: StoreNotice): void =>
    void callGuarded((each: StoreNotice) => port.send?.(each), notice);

  return {
    read: async (threadId, afterRevision = 0) => port.read(threadId, afterRevision),

    async append(threadId, expected, entries, given, beside = {}) {
      const summary = { ...given, threadId };
      await transact(port, async (transaction) => {
        await refuseOther(transaction, threadId, expected);
        transaction.append(threadId, entries);
        await transaction.put(threads, summary);
        await changeGrants(transaction, beside.grants ?? []);
        const madeAt = beside.requests === undefined ? 0 : await readClock();
        await changeRequests(transaction, beside.requests ?? [], madeAt);
        const { snapshot } = beside;
        if (snapshot !== undefined) await transaction.put(snapshots, { threadId, snapshot });
      });
      const notice = makeNotice(summary, beside.requests);
      if (notice !== undefined) send(notice);
    },

    head,

    async list(query) {
      const where = listThreadConditions(query);
      const rows = await port.select({ table: 'threads', where, ...makeThreadPage(query) });
      return rows.map((row) => parseRow(threads, row));
    },

    async count(filter, { atMost } = {}) {
      const where = listThreadConditions(filter);
      return countRows(port, { table: 'threads', where, order: [ascending('key')] }, atMost);
    },

    async delete(threadId, expected) {
      if (await deleteGroup([{ ...expected, threadId }])) return;
      throw makeConflictError(threadId, expected);
    },

    deletion: {
      listChildren: async (threadIds) => listChildren(port, threadIds),

      async delete(groups) {
        const deleted: string[] = [];
        for (const group of groups) {
          if (await deleteGroup(group)) deleted.push(...group.map(({ threadId }) => threadId));
        }
        return deleted;
      },
    },

    claim: async (claim) => claimDue(port, claim),

    snapshots: {
      async read(threadId) {
        const row = await port.get('snapshots', threadId);
        return row && parseRow(snapshots, row).snapshot;
      },
    },

    grants: deriveGrants(port),
    requests: deriveRequests(port, readClock),

    ...(port.listen && { subscribe: (listener) => port.listen?.(listener) ?? (async () => {}) }),
    ...(port.send && { send }),
    ...(port.now && { now: readClock }),
  };
}

async function readEnd(transaction: Transaction, threadId: string): Promise<LogEnd> {
  return (await transaction.find(threads, threadId)) ?? { revision: 0, hash: '' };
}

async function isAtEnd(
  transaction: Transaction,
  { threadId, revision, hash }: ThreadEnd,
): Promise<boolean> {
  const end = await readEnd(transaction, threadId);
  return end.revision === revision && end.hash === hash;
}

async function refuseOther(
  transaction: Transaction,
  threadId: string,
  expected: LogEnd,
): Promise<void> {
  if (await isAtEnd(transaction, { ...expected, threadId })) return;
  throw makeConflictError(threadId, expected);
}

/** Claims due threads one by one. A thread that another process claims or appends to at that moment is left to it. */
async function claimDue(
  port: StorePort,
  { agent, dueBefore, until, limit, threadId }: ThreadClaim,
): Promise<ThreadSummary[]> {
  const due = await port.select({
    table: 'threads',
    where: [
      ...listThreadConditions({ agent, dueBefore }),
      ...(threadId === undefined ? [] : [{ column: 'key', oneOf: [threadId] }]),
    ],
    order: dueOrder,
    limit,
  });
  const claimed: ThreadSummary[] = [];
  for (const row of due) {
    const transaction = new Transaction(port);
    const summary = { ...transaction.know(threads, row), nextDeadline: until };
    await transaction.change(threads, row.key, { nextDeadline: until });
    if (await transaction.commit()) claimed.push(summary);
  }
  return claimed;
}

async function listChildren(
  port: StorePort,
  threadIds: readonly string[],
): Promise<(ThreadSummary & { parentId: string })[]> {
  const parents = new Map<string, string>();
  for (const threadId of threadIds) {
    for (const entry of await port.read(threadId, 0)) {
      parents.set(readEntryMark(entry).hash, threadId);
    }
  }
  if (parents.size === 0) return [];
  const rows = await selectAll(port, {
    table: 'threads',
    where: [{ column: 'parent', oneOf: [...parents.keys()] }],
    order: [ascending('key')],
  });
  return rows.flatMap((row) => {
    const parentId = parents.get(String(row.columns['parent']));
    return parentId === undefined ? [] : [{ ...parseRow(threads, row), parentId }];
  });
}
