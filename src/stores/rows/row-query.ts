/** The tables of a store. Each row is found by its key, and some by columns. */
export type StoreTable = 'threads' | 'requests' | 'grants' | 'changes' | 'snapshots' | 'counters';

/** The value by which a row is found. A list is found by each of its texts. */
export type ColumnValue = string | number | null | readonly string[];

/** A condition of a row's value in a column, or of its `key`. */
export type RowCondition =
  | {
      /** The column, or `key`. */
      readonly column: string;
      /** The value is one of these; of a list, one of its texts is. */
      readonly oneOf: readonly (string | number | null)[];
    }
  | {
      /** The column, or `key`. */
      readonly column: string;
      /** The values that are excluded. */
      readonly noneOf: readonly (string | number | null)[];
    }
  | {
      /** The column. */
      readonly column: string;
      /** The value is a number above this. */
      readonly above: number;
    }
  | {
      /** The column. */
      readonly column: string;
      /** The value is a number below this. */
      readonly below: number;
    };

/** One of the columns that rows are ordered by. Its values are all numbers, by size, or all texts, as JavaScript compares them. */
export interface RowOrder {
  /** The column, or `key`. */
  readonly column: string;
  /** True if the highest value comes first. */
  readonly isDescending: boolean;
}

/** Selects a page of rows. */
export interface RowQuery {
  /** The table of the rows. */
  readonly table: StoreTable;
  /** The conditions, all of which must be met. */
  readonly where: readonly RowCondition[];
  /** The order. The last column is always the key, so that no two rows are equal. */
  readonly order: readonly RowOrder[];
  /** Only rows after the place with these values, one for each of `order`. */
  readonly after?: readonly (string | number)[];
  /** The maximum number of rows. */
  readonly limit: number;
}

/** The order, the start and the length of a page. */
export type RowPage = Pick<RowQuery, 'order' | 'after' | 'limit'>;
