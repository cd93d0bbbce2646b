import type { ColumnValue, RowQuery } from '../rows/row-query.ts';
import { takePage } from '../rows/take-rows.ts';
import type { StoreRow } from './store-port.ts';

/** Selects the rows of a query from all rows of its table: for a store that has no index for it. */
export function selectRows(rows: Iterable<StoreRow>, query: RowQuery): StoreRow[] {
  return takePage(rows, query, findReader);
}

function findReader(column: string): (row: StoreRow) => ColumnValue {
  return ({ key, columns }) => (column === 'key' ? key : (columns[column] ?? null));
}
