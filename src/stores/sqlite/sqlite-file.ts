import { closeSync, openSync, readSync, statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { HoldpointError } from '../../errors.ts';

/** A value for a `?` of a statement. */
type SqlValue = string | number | null;

/** A SQLite file in write-ahead-log mode. Throws `log-tampered` if the file is damaged. */
export class SqliteFile {
  readonly #database: DatabaseSync;
  readonly #busyTimeoutMs: number;
  /* Preparing a statement takes longer than running most of them. */
  readonly #statements = new Map<string, StatementSync>();
  /** Whether the write-ahead log may still contain deleted data. */
  #isLogStale = false;

  /** Opens or creates the file and runs `schema`, which is run at every opening. */
  constructor(path: string, schema: string, busyTimeoutMs: number) {
    const { DatabaseSync: Database } = nodeSqlite();
    this.#busyTimeoutMs = busyTimeoutMs;
    refuseCutOff(path);
    this.#database = new Database(path, { timeout: busyTimeoutMs });
    try {
      useWriteAheadLog(this.#database, Date.now() + busyTimeoutMs);
      this.#database.exec('pragma synchronous = full; pragma secure_delete = on;');
      this.#database.exec(`begin immediate; ${schema} commit;`);
    } catch (error) {
      this.#database.close();
      throw explained(error);
    }
  }

  /** The rows of a query. */
  rows(text: string, values: readonly SqlValue[] = []): Record<string, unknown>[] {
    return this.#explaining(() => this.#prepared(text).all(...values));
  }

  /** Runs a statement that writes. Returns how many rows it changed. */
  write(text: string, values: readonly SqlValue[] = []): number {
    return this.#explaining(() => Number(this.#prepared(text).run(...values).changes));
  }

  /** Runs `work` in a transaction, which is rolled back if it throws. No other process writes meanwhile. */
  transaction<RESULT>(work: () => RESULT): RESULT {
    this.write('begin immediate');
    try {
      const result = work();
      this.write('commit');
      if (this.#isLogStale) this.truncateLog();
      return result;
    } catch (error) {
      /* SQLite itself ends the transaction if the disk is full or fails. */
      if (this.#database.isTransaction) this.write('rollback');
      throw error;
    }
  }

  /** A number that changes when another connection commits; `undefined` if it can't be read. */
  version(): number | undefined {
    try {
      return Number(this.#prepared('pragma data_version').get()?.['data_version']);
    } catch {
      return undefined;
    }
  }

  /**
   * Empties the write-ahead log, which still contains deleted data. If another process is reading or writing, the next transaction
   * retries instead.
   */
  truncateLog(): void {
    try {
      this.#database.exec('pragma busy_timeout = 0');
      const result = this.#prepared('pragma wal_checkpoint(truncate)').get();
      this.#isLogStale = result?.['busy'] !== 0;
    } catch {
      this.#isLogStale = true;
    } finally {
      this.#database.exec(`pragma busy_timeout = ${this.#busyTimeoutMs}`);
    }
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #prepared(text: string): StatementSync {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(text);
    this.#statements.set(text, statement);
    return statement;
  }

  #explaining<RESULT>(work: () => RESULT): RESULT {
    try {
      return work();
    } catch (error) {
      throw explained(error);
    }
  }
}

/* The header of a SQLite file, in bytes. It contains the page size. */
const headerLength = 100;

/*
 * SQLite pads a truncated last page and returns what is left of it. A file with a write-ahead log may be truncated, as SQLite restores it
 * from the log.
 */
function refuseCutOff(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const logSize = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (size < headerLength || logSize > 0) return;
  const header = Buffer.alloc(headerLength);
  const file = openSync(path, 'r');
  readSync(file, header, 0, headerLength, 0);
  closeSync(file);
  /* 1 stands for 65,536, which doesn't fit into the field. */
  const pageSize = header.readUInt16BE(16);
  if (size % (pageSize === 1 ? 65_536 : pageSize) === 0) return;
  throw new HoldpointError(
    'log-tampered',
    'The database is damaged: its last page is cut off. Restore it from a backup.',
  );
}

/* Not imported, because the import would fail on an older Node without saying which version is needed. */
function nodeSqlite(): typeof import('node:sqlite') {
  const sqlite = globalThis.process?.getBuiltinModule?.('node:sqlite');
  if (sqlite !== undefined) return sqlite;
  throw new Error(
    `holdpoint/stores/sqlite needs the module node:sqlite, which Node has from 22.18 on; this is Node ${process.version}.`,
  );
}

/** If two processes switch a new file to a write-ahead log at once, SQLite fails one of them without waiting, as they could deadlock. */
function useWriteAheadLog(database: DatabaseSync, until: number): void {
  for (;;) {
    try {
      database.exec('pragma journal_mode = wal');
      return;
    } catch (error) {
      if (primaryCode(error) !== busy || Date.now() >= until) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

/* Result codes of `sqlite3.h`. */
const busy = 5;
const corrupt = 11;
const notADatabase = 26;

function primaryCode(error: unknown): number {
  return error instanceof Error ? Number(Reflect.get(error, 'errcode')) & 0xff : 0;
}

/*
 * Turns the errors of a damaged file into `log-tampered`, including that of an integer which JavaScript can't represent. Errors of a full or
 * failing disk stay as they are.
 */
function explained(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const isDamage =
    [corrupt, notADatabase].includes(primaryCode(error)) ||
    Reflect.get(error, 'code') === 'ERR_OUT_OF_RANGE';
  if (!isDamage) return error;
  return new HoldpointError(
    'log-tampered',
    `The database is damaged: ${error.message}. Restore it from a backup.`,
    { cause: error },
  );
}
