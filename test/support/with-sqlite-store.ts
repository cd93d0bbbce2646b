import { join } from 'node:path';
import { type SqliteStore, sqliteStore } from 'holdpoint/stores/sqlite';
import { inFolder } from '../faults/in-folder.ts';

/** A file with a store on it, and what is gone afterwards. */
export async function withSqliteStore(
  work: (store: SqliteStore, path: string, folder: string) => Promise<void>,
): Promise<void> {
  await inFolder(async (folder) => {
    const path = join(folder, 'threads.sqlite');
    using store = sqliteStore(path);
    await work(store, path, folder);
  });
}
