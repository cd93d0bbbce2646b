import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from 'bun:sqlite';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { bunDriver, sqliteStoreOn } from 'holdpoint/stores/sqlite-on';
import { playAll } from './plays.ts';
import { playStore } from './stores.ts';

const newFile = (): string => join(mkdtempSync(join(tmpdir(), 'holdpoint-bun-')), 'threads.sqlite');

function openBun(file: string): Database {
  const database = new Database(file);
  database.run('pragma journal_mode = wal');
  database.run('pragma synchronous = full');
  database.run('pragma busy_timeout = 10000');
  return database;
}

const results = {
  plays: await playAll(),
  'bun:sqlite': await playStore(async () => {
    const file = newFile();
    return (hooks) => sqliteStoreOn(bunDriver(openBun(file)), { ...hooks, snapshots: true });
  }),
  'sqliteStore in Bun': await playStore(async () => {
    const file = newFile();
    return (hooks) => sqliteStore(file, hooks);
  }),
};
console.log(JSON.stringify(results));
process.exit(0);
