/** A value for a `?` of a statement. */
export type SqliteValue = string | number | null;

/** A row of a result: the values in the order of the selected columns. */
export type SqliteRow = readonly unknown[];

/** One SQL statement, and the values for each `?` in it. */
export interface SqliteStatement {
  /** The SQL, with a question mark for each value. */
  text: string;
  /** The values, in order. */
  values: readonly SqliteValue[];
}

/**
 * The access of a store to a SQLite database: two functions, which may return promises. Both return the rows of statements that return
 * rows, and `[]` for others.
 */
export interface SqliteDriver {
  /** Runs one statement, which only reads. */
  query(statement: SqliteStatement): readonly SqliteRow[] | Promise<readonly SqliteRow[]>;
  /**
   * Runs the statements in their order in one transaction that no other writer comes between (`begin immediate`), and returns the rows of
   * each. It is durable when it returns. If a statement fails, it throws an error whose message contains SQLite's own, and nothing is
   * written.
   */
  batch(
    statements: readonly SqliteStatement[],
  ): readonly (readonly SqliteRow[])[] | Promise<readonly (readonly SqliteRow[])[]>;
}

/* Only what the drivers use of the types of other packages, none of which has to be installed. */

/** A `Database` of `bun:sqlite`. */
interface BunDatabase {
  /** Prepares a statement. */
  query(text: string): { values(...values: SqliteValue[]): SqliteRow[] };
  /** Makes a function that runs in a transaction. */
  transaction(work: () => SqliteRow[][]): { immediate(): SqliteRow[][] };
}

/**
 * The driver for a `Database` of `bun:sqlite`. How durable an append is, and how long it waits for other processes, follows the database's
 * pragmas `journal_mode`, `synchronous` and `busy_timeout`.
 *
 * @example
 * const database = new Database('threads.sqlite');
 * database.run('pragma journal_mode = wal');
 * database.run('pragma synchronous = full');
 * database.run('pragma busy_timeout = 10000');
 * const store = sqliteStoreOn(bunDriver(database));
 */
export function bunDriver(database: BunDatabase): SqliteDriver {
  const query = ({ text, values }: SqliteStatement): SqliteRow[] =>
    database.query(text).values(...values);
  return {
    query,
    batch: (statements) => database.transaction(() => statements.map(query)).immediate(),
  };
}

/** The `storage` of a Durable Object whose storage is SQLite. */
interface ObjectStorage {
  /** Runs statements. */
  sql: { exec(text: string, ...values: SqliteValue[]): { raw(): Iterable<SqliteRow> } };
  /** Runs a function in a transaction. */
  transactionSync(work: () => SqliteRow[][]): SqliteRow[][];
}

/**
 * The driver for the SQLite storage of a Durable Object. The platform sends nothing from the object, neither a request nor a response,
 * before its writes are durable.
 *
 * @example
 * const store = sqliteStoreOn(durableObjectDriver(ctx.storage));
 */
export function durableObjectDriver(storage: ObjectStorage): SqliteDriver {
  const query = ({ text, values }: SqliteStatement): SqliteRow[] => [
    ...storage.sql.exec(text, ...values).raw(),
  ];
  return {
    query,
    batch: (statements) => storage.transactionSync(() => statements.map(query)),
  };
}

/** A prepared statement of D1. */
interface D1Statement {
  bind(...values: SqliteValue[]): D1Statement;
}

/** A D1 database, or a session of one. */
interface D1 {
  /** Prepares a statement. */
  prepare(text: string): D1Statement;
  /** Runs statements in one transaction. */
  batch(statements: D1Statement[]): Promise<{ results: unknown[] }[]>;
}

/**
 * The driver for a D1 database of Cloudflare. With read replication, pass the database itself or `withSession('first-primary')`, so that
 * no read is older than an append.
 *
 * @example
 * const store = sqliteStoreOn(d1Driver(env.DB));
 */
export function d1Driver(database: D1): SqliteDriver {
  const batch = async (statements: readonly SqliteStatement[]): Promise<SqliteRow[][]> => {
    const prepared = statements.map(({ text, values }) => database.prepare(text).bind(...values));
    const done = await database.batch(prepared);
    return done.map(({ results }) => results.map((row): unknown[] => Object.values(row ?? {})));
  };
  return {
    query: async (statement) => (await batch([statement])).flat(),
    batch,
  };
}

/** A statement of libsql. */
interface LibsqlStatement {
  sql: string;
  args: SqliteValue[];
}

/** A result of libsql. */
interface LibsqlResult {
  rows: ArrayLike<unknown>[];
}

/** A client of `@libsql/client`. */
interface LibsqlClient {
  /** Runs one statement. */
  execute(statement: LibsqlStatement): Promise<LibsqlResult>;
  /** Runs statements in one transaction. */
  batch(statements: LibsqlStatement[], mode: 'write'): Promise<LibsqlResult[]>;
}

/**
 * The driver for a client of `@libsql/client`, for Turso, sqld or a file.
 *
 * @example
 * const store = sqliteStoreOn(libsqlDriver(createClient({ url, authToken })));
 */
export function libsqlDriver(client: LibsqlClient): SqliteDriver {
  return {
    query: async (statement) => toRows(await client.execute(toLibsqlStatement(statement))),
    batch: async (statements) =>
      (await client.batch(statements.map(toLibsqlStatement), 'write')).map(toRows),
  };
}

function toLibsqlStatement({ text, values }: SqliteStatement): LibsqlStatement {
  return { sql: text, args: [...values] };
}

function toRows({ rows }: LibsqlResult): SqliteRow[] {
  return rows.map((row) => Array.from(row));
}
