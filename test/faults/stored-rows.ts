import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createAgent } from 'holdpoint';
import { type SqliteStore, sqliteStore } from 'holdpoint/stores/sqlite';
import { statelessModel } from './stateless-model.ts';

/** The rows of a thread in a SQLite file, to be damaged one at a time. */
export class StoredRows implements Disposable {
  readonly store: SqliteStore;
  readonly #folder = mkdtempSync(join(tmpdir(), 'holdpoint-rows-'));
  readonly #database: DatabaseSync;
  #sound: [revision: number, text: string][] = [];
  #written: number | undefined;

  constructor() {
    const path = join(this.#folder, 'threads.sqlite');
    this.store = sqliteStore(path);
    this.#database = new DatabaseSync(path);
    /* It only puts back what was; no test is about its durability. */
    this.#database.exec('pragma synchronous = off');
  }

  /** The rows of a thread, from its JSON form. */
  static async of(text: string): Promise<StoredRows> {
    const rows = new StoredRows();
    const model = statelessModel([], async (_prompt, answer) => answer());
    await createAgent({ model, store: rows.store }).restore(text);
    rows.#sound = rows.#read();
    rows.#database.exec('create table sound_threads as select * from holdpoint_threads');
    return rows;
  }

  /** The sound text of each row. */
  get texts(): readonly (readonly [revision: number, text: string])[] {
    return this.#sound;
  }

  /** Writes another text into a row. */
  write(revision: number, text: string): void {
    this.#update(revision, text);
    this.#written = revision;
  }

  /** Makes the file what it was. */
  undo(): void {
    const sound = this.#sound.find(([revision]) => revision === this.#written);
    if (sound !== undefined) this.#update(...sound);
    this.#database.exec(`
      begin immediate;
      delete from holdpoint_entries where revision > ${this.#sound.at(-1)?.[0] ?? 0};
      insert or replace into holdpoint_threads select * from sound_threads;
      commit;
    `);
  }

  #read(): [number, string][] {
    const rows = this.#database.prepare('select revision, entry from holdpoint_entries order by 1');
    return rows.all().map((row) => [Number(row['revision']), String(row['entry'])]);
  }

  #update(revision: number, text: string): void {
    this.#database
      .prepare('update holdpoint_entries set entry = ? where revision = ?')
      .run(text, revision);
  }

  [Symbol.dispose](): void {
    this.#database.close();
    this.store.close();
    rmSync(this.#folder, { recursive: true });
  }
}
