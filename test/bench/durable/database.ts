import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ThreadStore } from 'holdpoint';
import { postgresStore } from 'holdpoint/stores/postgres';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { Pool } from 'pg';
import { z } from 'zod';

const connectionSchema = z.object({
  host: z.string(),
  port: z.int(),
  user: z.string(),
  password: z.string(),
  database: z.string(),
});

/** Where to find a database; it goes to other processes as JSON. */
export const databaseSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('sqlite'), folder: z.string() }),
  z.object({
    kind: z.literal('postgres'),
    prepare: z.boolean(),
    connection: connectionSchema,
  }),
]);

/** Where to find a database. */
export type Database = z.infer<typeof databaseSchema>;

/** A database as one worker has it open. */
export interface OpenDatabase extends AsyncDisposable {
  store: ThreadStore;
  /** Makes one row durable, in a transaction of its own. */
  insert(text: string): Promise<void>;
}

/** What tables call a database. */
export function databaseName(database: Database): string {
  if (database.kind === 'sqlite') return 'SQLite';
  return database.prepare ? 'Postgres, prepared' : 'Postgres';
}

/**
 * Whether a database is looked at from all sides. Postgres without prepared statements is not: it differs in the price of a
 * statement alone, and its processes and histories would show the same again.
 */
export function isRepresentative(database: Database): boolean {
  return database.kind === 'sqlite' || database.prepare;
}

/** Creates the table of the raw inserts; the store creates its own. */
export async function createRawTable(database: Database): Promise<void> {
  if (database.kind === 'sqlite') {
    using raw = new DatabaseSync(rawFile(database.folder));
    raw.exec('pragma journal_mode = wal');
    raw.exec('create table rows (id integer primary key, text text not null) strict');
    return;
  }
  const pool = new Pool(database.connection);
  await pool.query(
    'create table if not exists rows (id bigint generated always as identity primary key, text text not null)',
  );
  await pool.end();
}

/** Opens a database for one worker: a file handle or a pool of its own. */
export function openDatabase(database: Database, connections = 10): OpenDatabase {
  return database.kind === 'sqlite'
    ? openSqlite(database.folder)
    : openPostgres(database.connection, database.prepare, connections);
}

function openSqlite(folder: string): OpenDatabase {
  const store = sqliteStore(join(folder, 'threads.sqlite'));
  const raw = new DatabaseSync(rawFile(folder), { timeout: 10_000 });
  raw.exec('pragma synchronous = full');
  const insert = raw.prepare('insert into rows (text) values (?)');
  return {
    store,
    async insert(text) {
      insert.run(text);
    },
    async [Symbol.asyncDispose]() {
      raw.close();
      store.close();
    },
  };
}

function openPostgres(
  connection: z.infer<typeof connectionSchema>,
  prepare: boolean,
  max: number,
): OpenDatabase {
  const pool = new Pool({ ...connection, max });
  const query = {
    ...(prepare ? { name: 'raw-insert' } : {}),
    text: 'insert into rows (text) values ($1)',
  };
  return {
    store: postgresStore(pool, { prepare }),
    async insert(text) {
      await pool.query({ ...query, values: [text] });
    },
    async [Symbol.asyncDispose]() {
      await pool.end();
    },
  };
}

function rawFile(folder: string): string {
  return join(folder, 'raw.sqlite');
}
