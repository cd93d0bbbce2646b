import { join } from 'node:path';
import type { ThreadStore } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { postgresStore } from 'holdpoint/stores/postgres';
import { Pool } from 'pg';

/** A store, and how to close it. */
interface OpenStore {
  store: ThreadStore;
  close: () => Promise<void> | void;
}

/** Opens the store of the office: the database of `DATABASE_URL`, otherwise a SQLite file in the folder. */
export function openStore(folder: string): OpenStore {
  const { DATABASE_URL: connectionString } = process.env;
  if (connectionString === undefined || connectionString === '') {
    const store = sqliteStore(join(folder, 'threads.sqlite'));
    return { store, close: () => store.close() };
  }
  const pool = new Pool({ connectionString });
  pool.on('error', (error) => console.error(error.message));
  return { store: postgresStore(pool), close: () => pool.end() };
}
