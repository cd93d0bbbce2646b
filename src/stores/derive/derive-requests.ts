import type {
  FeedChange,
  RequestChange,
  RequestFilter,
  StoredRequest,
  ThreadStoreRequests,
} from '../../thread/thread-store-requests.ts';
import { ascending } from '../rows/table.ts';
import {
  type KeptChange,
  listRequestConditions,
  makeRequestPage,
  requests,
} from '../rows/tables.ts';
import { countRows } from './count-rows.ts';
import type { StorePort } from './store-port.ts';
import { changeOrder, changes, counters, parseRow } from './tables.ts';
import { transact, type Transaction } from './transaction.ts';

/** The requests of a store, and the feed of their changes. `readClock` resolves with the store's time. */
export function deriveRequests(
  port: StorePort,
  readClock: () => Promise<number>,
): ThreadStoreRequests {
  /* Only the deadlines of open requests are compared with the time. */
  const listConditions = async (filter: RequestFilter) =>
    listRequestConditions(filter, filter.state === 'open' ? (filter.at ?? (await readClock())) : 0);

  const get = async (requestId: string): Promise<StoredRequest | undefined> => {
    const row = await port.get('requests', requestId);
    return row && parseRow(requests, row);
  };

  return {
    async list(query) {
      const where = await listConditions(query);
      const rows = await port.select({ table: 'requests', where, ...makeRequestPage(query) });
      const page = rows.map((row) => parseRow(requests, row));
      return query.before === undefined ? page : page.toReversed();
    },

    async count(filter) {
      const where = await listConditions(filter);
      return countRows(port, { table: 'requests', where, order: [ascending('key')] });
    },

    get,

    async erase(requestId) {
      return transact(port, async (transaction) => {
        const row = await transaction.find(requests, requestId);
        if (row === undefined || row.state === 'open') return false;
        await transaction.change(requests, requestId, { text: null });
        return true;
      });
    },

    async changes({ after, limit = 100 }) {
      const where = [{ column: 'position', above: after }];
      const rows = await port.select({ table: 'changes', where, order: changeOrder, limit });
      const page = rows.map((row) => parseRow(changes, row));
      return Promise.all(page.map(async (change) => addRequest(change, get)));
    },

    async deleteChanges({ before }) {
      let deleted = 0;
      for (;;) {
        const count = await transact(port, async (transaction) =>
          deleteOld(port, transaction, before),
        );
        deleted += count;
        if (count < batchSize) return deleted;
      }
    },
  };
}

async function addRequest(
  { madeAt: _madeAt, ...change }: KeptChange,
  get: (requestId: string) => Promise<StoredRequest | undefined>,
): Promise<FeedChange> {
  const request = change.type === 'deleted' ? undefined : await get(change.requestId);
  return request === undefined ? change : { ...change, request };
}

/* Few enough for one transaction in every database. */
const batchSize = 50;

/** Deletes some changes that were made before a time; resolves with their number. */
async function deleteOld(
  port: StorePort,
  transaction: Transaction,
  before: number,
): Promise<number> {
  const where = [{ column: 'madeAt', below: before }];
  const old = await port.select({ table: 'changes', where, order: changeOrder, limit: batchSize });
  for (const row of old) {
    transaction.know(changes, row);
    await transaction.delete(changes, row.key);
  }
  return old.length;
}

/** Makes the changes of an append, and adds them to the feed. */
export async function changeRequests(
  transaction: Transaction,
  changed: readonly RequestChange[],
  madeAt: number,
): Promise<void> {
  for (const { type, request } of changed) {
    const before = await transaction.find(requests, request.requestId);
    /* An approval that is erased may still be closed, if its call has not started. */
    await transaction.put(requests, before?.text === null ? { ...request, text: null } : request);
    await tellFeed(transaction, type, request, madeAt);
  }
}

/** Deletes the requests of a thread, and adds to the feed that the open ones are gone. */
export async function deleteRequestsOf(
  transaction: Transaction,
  threadId: string,
  madeAt: number,
): Promise<void> {
  const where = [{ column: 'threadId', oneOf: [threadId] }];
  for (const row of await transaction.select(requests, {
    where,
    order: makeRequestPage({}).order,
  })) {
    await transaction.delete(requests, row.requestId);
    if (row.state === 'open') await tellFeed(transaction, 'deleted', row, madeAt);
  }
}

async function tellFeed(
  transaction: Transaction,
  type: FeedChange['type'],
  { requestId, threadId }: StoredRequest,
  madeAt: number,
): Promise<void> {
  const counter = await transaction.find(counters, 'changes');
  const position = (counter?.last ?? 0) + 1;
  await transaction.put(counters, { name: 'changes', last: position });
  transaction.add(changes, { position, type, requestId, threadId, madeAt });
}
