/** The part of a `Pool` of `pg` that the store uses. */
export interface PostgresPool {
  /** Runs one statement on any connection. */
  query(query: PostgresQuery): Promise<PostgresResult>;
  /** Takes a connection out of the pool, for a transaction. */
  connect(): Promise<PostgresConnection>;
  /** The options of the pool. `max` is the maximum number of connections; `subscribe` needs it. */
  readonly options?: { readonly max?: number | undefined } | undefined;
}

/** A statement and its values. A statement with a name is prepared once for each connection. */
export interface PostgresQuery {
  name?: string;
  text: string;
  values?: unknown[];
  /** Parsers for the values of a result, by the ids of their types in the server's catalog: apps replace the parsers of `pg`. */
  types?: { getTypeParser(typeId: number): (text: string) => unknown };
}

/** The result of a statement. */
export interface PostgresResult {
  rows: Record<string, unknown>[];
  rowCount: number | null;
}

/** The part of a pooled connection that `subscribe` and `onWake` use. */
export interface PostgresConnection {
  query(query: PostgresQuery): Promise<PostgresResult>;
  on(
    event: 'notification',
    listener: (message: { channel?: string | undefined; payload?: string | undefined }) => void,
  ): unknown;
  on(event: 'error' | 'end', listener: () => void): unknown;
  release(destroy: boolean): void;
}
