/** The part of a `Pool` of `pg` that the store uses. */
export interface PostgresPool {
  query(query: PostgresQuery): Promise<PostgresResult>;
  connect(): Promise<PostgresConnection>;
  /** The options of the pool, if known. `max` is the maximum number of connections. */
  readonly options?: { readonly max?: number | undefined };
}

/** A statement and its values. A statement with a name is prepared once for each connection. */
export interface PostgresQuery {
  name?: string;
  text: string;
  values?: unknown[];
}

/** The result of a statement. */
export interface PostgresResult {
  rows: Record<string, unknown>[];
  rowCount: number | null;
}

/** The part of a pooled connection that `subscribe` and `onWake` use. */
export interface PostgresConnection {
  query(query: PostgresQuery): Promise<PostgresResult>;
  on(event: 'notification', listener: (message: { payload?: string | undefined }) => void): unknown;
  on(event: 'error' | 'end', listener: () => void): unknown;
  release(destroy: boolean): void;
}

const uniqueViolation = '23505';
const serializationFailure = '40001';

/** An empty result after an error that a concurrent write caused. Throws any other error again. */
export function ignoreConflict(error: unknown): PostgresResult {
  if (isSerializationFailure(error) || isUniqueViolation(error)) {
    return { rows: [], rowCount: 0 };
  }
  throw error;
}

/** Whether an error is that of a transaction which may succeed when it is run again. */
export function isSerializationFailure(error: unknown): boolean {
  return readSqlState(error) === serializationFailure;
}

/** Whether an error is that of a row whose key is in the table. */
export function isUniqueViolation(error: unknown): boolean {
  return readSqlState(error) === uniqueViolation;
}

function readSqlState(error: unknown): unknown {
  return Reflect.get(Object(error), 'code');
}
