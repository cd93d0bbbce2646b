import { memoryStore, type StoredRequest, type ThreadStore } from 'holdpoint';
import type { RequestQuery } from '../../src/thread/thread-store-requests.ts';

/** A store in memory, how it is asked for rows, and what somebody makes of the rows before they are read. */
export function watchRows() {
  const store: ThreadStore = memoryStore();
  const { requests } = store;
  if (requests === undefined) throw new Error('The store keeps no requests.');
  const list = requests.list.bind(requests);
  const watched = {
    store,
    read: 0,
    queries: [] as RequestQuery[],
    forge: (row: StoredRequest): StoredRequest => row,
  };
  requests.list = async (query) => {
    const rows = await list(query);
    watched.read += rows.length;
    watched.queries.push(query);
    return rows.map((row) => watched.forge(row));
  };
  const get = requests.get.bind(requests);
  requests.get = async (requestId) => {
    const row = await get(requestId);
    return row && watched.forge(row);
  };
  return watched;
}
