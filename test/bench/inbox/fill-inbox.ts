import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { postgresSchema } from 'holdpoint/stores/postgres';
import { sqliteSchema } from 'holdpoint/stores/sqlite-on';
import { Pool } from 'pg';
import { seedManyOnPostgres, seedRequests } from '../../support/many-requests.ts';
import { seedEntries, seedThreads } from '../../support/many-threads.ts';
import { createRawTable, type Database } from '../durable/database.ts';

const writeTexts = `
  update holdpoint_requests set body =
    '{"type":"approval-request","requestId":"' || request_id || '","threadId":"' || thread_id || '",' ||
    case when approvers = '[]' then '' else '"approvers":' || approvers || ',' end ||
    '"text":"Pay 40 EUR to ACME?","toolCall":{"toolCallId":"c1","toolName":"pay","input":{"to":"ACME","euros":40}},' ||
    '"requesters":["eve"],"digest":"digest","createdAt":' || created_at || '}'`;

/**
 * Fills a database with an open and a decided request for each of 100,000 threads. Those are all threads on SQLite, and a tenth of them on
 * Postgres.
 */
export async function fillInbox(database: Database): Promise<void> {
  await createRawTable(database);
  if (database.kind === 'sqlite') {
    using file = new DatabaseSync(join(database.folder, 'threads.sqlite'));
    for (const seed of [sqliteSchema, seedThreads, seedEntries, ...seedRequests]) {
      file.exec(seed);
    }
    return;
  }
  const pool = new Pool(database.connection);
  for (const seed of [postgresSchema, ...seedManyOnPostgres]) await pool.query(seed);
  await pool.query('vacuum analyze');
  await pool.end();
}

/** Writes the text of each row as an agent writes it, so that rights can be found out from it. */
export async function writeRequestTexts(database: Database): Promise<void> {
  if (database.kind === 'sqlite') {
    using file = new DatabaseSync(join(database.folder, 'threads.sqlite'));
    file.exec(writeTexts);
    return;
  }
  const pool = new Pool(database.connection);
  await pool.query(writeTexts);
  await pool.query('vacuum analyze holdpoint_requests');
  await pool.end();
}
