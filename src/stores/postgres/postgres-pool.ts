/** What the store needs of a `Pool` of `pg`. */
export interface PostgresPool {
  query(query: PostgresQuery): Promise<PostgresResult>;
  connect(): Promise<PostgresConnection>;
  /** How the pool was made, where it says so; `max` is how many connections it opens. */
  readonly options?: { readonly max?: number | undefined };
}

/** A statement with what goes into it; one with a name is prepared once for each connection. */
export interface PostgresQuery {
  name?: string;
  text: string;
  values?: unknown[];
}

/** What came of a statement. */
export interface PostgresResult {
  rows: Record<string, unknown>[];
  rowCount: number | null;
}

/** What `subscribe` needs of a connection of the pool. */
export interface PostgresConnection {
  query(sql: string): Promise<unknown>;
  on(event: 'notification', listener: (message: { payload?: string | undefined }) => void): unknown;
  on(event: 'error' | 'end', listener: () => void): unknown;
  release(destroy: boolean): void;
}
