import { createGrantIndex } from '../sql/grant-rows.ts';
import { createThreadIndexes } from '../sql/summary-query.ts';
import type { SqliteStatement } from './sqlite-driver.ts';

/*
 * The tables have a rowid. `without rowid`, SQLite would load whole rows to compare keys: to find a thread, it would read megabytes of
 * entries of other threads, and to filter by an index, every row.
 */

/** The SQL that creates the tables, for a migration of your own. It may run any number of times. */
export const sqliteSchema = `
create table if not exists holdpoint_entries (
  thread_id text not null,
  revision integer not null,
  entry text not null,
  primary key (thread_id, revision)
) strict;
create table if not exists holdpoint_threads (
  thread_id text primary key not null,
  agent text not null,
  status text not null,
  revision integer not null,
  hash text not null,
  open_requests integer not null,
  failures integer not null,
  next_deadline real,
  updated_at real not null
) strict;
${createThreadIndexes}
create table if not exists holdpoint_grants (
  grant_id text primary key not null,
  agent text not null,
  tool_name text not null,
  person text,
  body text not null,
  created_at real not null,
  expires_at real,
  uses_left integer
) strict;
${createGrantIndex}
`;

/** The statements of the schema, one by one. */
export const schemaStatements: readonly SqliteStatement[] = sqliteSchema
  .split(';')
  .map((text) => ({ text: text.trim(), values: [] }))
  .filter(({ text }) => text !== '');
