import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import type { Database } from './durable/database.ts';
import type { SharedStores } from './holdpoint-contenders.ts';

/** A folder for database files, gone when it is disposed of. */
export class TemporaryFiles implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'holdpoint-bench-'));
  readonly #open = new DisposableStack();

  /** One file, opened twice as two processes would: each opens it when it starts, not at every cycle. */
  sharedFile(): SharedStores & { path: string } {
    const path = join(this.#folder, 'threads.sqlite');
    return {
      path,
      asking: this.#open.use(sqliteStore(path)),
      resuming: this.#open.use(sqliteStore(path)),
    };
  }

  /** A database in files of its own. */
  database(): Database {
    return { kind: 'sqlite', folder: this.#folder };
  }

  /** A function that makes one row of about 1 KB durable, in its own file with the store's settings. */
  rawInsert(): () => void {
    const database = new DatabaseSync(join(this.#folder, 'raw.sqlite'));
    this.#open.defer(() => database.close());
    database.exec('pragma journal_mode = wal; pragma synchronous = full;');
    database.exec('create table rows (id integer primary key, text text not null) strict');
    const insert = database.prepare('insert into rows (text) values (?)');
    const row = 'x'.repeat(1_000);
    return () => {
      insert.run(row);
    };
  }

  [Symbol.dispose](): void {
    this.#open.dispose();
    rmSync(this.#folder, { recursive: true });
  }
}
