import type { RowQuery } from '../rows/row-query.ts';
import type { StorePort } from './store-port.ts';
import { selectAll } from './transaction.ts';

/** Counts the rows that a query selects, no more than `atMost`. */
export async function countRows(
  port: StorePort,
  query: Omit<RowQuery, 'limit'>,
  atMost = Infinity,
): Promise<number> {
  const limit = Math.min(atMost, Number.MAX_SAFE_INTEGER);
  if (port.count !== undefined) return port.count({ ...query, limit });
  return Math.min((await selectAll(port, query)).length, atMost);
}
