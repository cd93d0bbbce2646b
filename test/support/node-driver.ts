import type { DatabaseSync } from 'node:sqlite';
import type { SqliteDriver, SqliteRow, SqliteStatement } from 'holdpoint/stores/sqlite-on';

/** A driver for a database that the app has opened itself. */
export function nodeDriver(database: DatabaseSync): SqliteDriver {
  const query = ({ text, values }: SqliteStatement): SqliteRow[] =>
    database
      .prepare(text)
      .all(...values)
      .map((row) => Object.values(row));
  return {
    query,
    batch(statements) {
      database.exec('begin immediate');
      try {
        const results = statements.map(query);
        database.exec('commit');
        return results;
      } catch (error) {
        if (database.isTransaction) database.exec('rollback');
        throw error;
      }
    },
  };
}
