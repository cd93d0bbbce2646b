import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { postgresSchema } from 'holdpoint/stores/postgres';
import { sqliteSchema } from 'holdpoint/stores/sqlite-on';
import { Pool } from 'pg';
import { seedManyOnPostgres, seedRequests } from '../../support/many-requests.ts';
import { seedEntries, seedThreads } from '../../support/many-threads.ts';
import { createRawTable, type Database } from '../durable/database.ts';

/**
 * Fills a database with an open and a decided request for each of 100,000 threads. Those are all threads on SQLite, and a tenth of them on
 * Postgres.
 */
export async function fillInbox(database: Database): Promise<void> {
  await createRawTable(database);
  if (database.kind === 'sqlite') {
    using file = new DatabaseSync(join(database.folder, 'threads.sqlite'));
    for (const seed of [sqliteSchema, seedThreads, seedEntries, ...seedRequests]) file.exec(seed);
    return;
  }
  const pool = new Pool(database.connection);
  for (const seed of [postgresSchema, ...seedManyOnPostgres]) await pool.query(seed);
  await pool.query('vacuum analyze');
  await pool.end();
}
