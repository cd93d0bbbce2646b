/** A value for a `?` of a statement. */
export type SqliteValue = string | number | null;

/** A row of a result: the values in the order of the selected columns. */
export type SqliteRow = readonly unknown[];

/** One SQL statement, and the values for each `?` in it. */
export interface SqliteStatement {
  text: string;
  values: readonly SqliteValue[];
}

/**
 * How a store reaches a SQLite database: two functions, which may return promises. Both return the rows of statements that return rows, and
 * `[]` for others.
 */
export interface SqliteDriver {
  /** Runs one statement, which only reads. */
  query(statement: SqliteStatement): readonly SqliteRow[] | Promise<readonly SqliteRow[]>;
  /**
   * Runs the statements in their order in one transaction that no other writer comes between (`begin immediate`), and returns the rows of
   * each. It is durable when it returns. If a statement fails, it throws, and nothing is written.
   */
  batch(
    statements: readonly SqliteStatement[],
  ): readonly (readonly SqliteRow[])[] | Promise<readonly (readonly SqliteRow[])[]>;
}
