import { closeSync, openSync, readSync, statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { describeKind } from '../../content/check-settings.ts';
import { HoldpointError } from '../../errors.ts';
import type { SqliteDriver, SqliteRow, SqliteStatement } from '../sqlite-on.ts';

/** A SQLite file in write-ahead-log mode. Throws `log-tampered` if the file is damaged. */
export class SqliteFile implements SqliteDriver {
  readonly #database: DatabaseSync;
  readonly #busyTimeoutMs: number;
  /* Preparing a statement takes longer than running most of them. */
  readonly #statements = new Map<string, Prepared>();
  /** True if the write-ahead log may still contain deleted data. */
  #isLogStale = false;

  /** Opens or creates the file and runs `schema`, which is run at every opening. */
  constructor(path: string, schema: string, busyTimeoutMs: number) {
    const { DatabaseSync: Database } = loadNodeSqlite();
    this.#busyTimeoutMs = busyTimeoutMs;
    try {
      refuseCutOff(path);
      this.#database = new Database(path, { timeout: busyTimeoutMs });
    } catch (error) {
      throw explainOpening(path, error);
    }
    try {
      useWriteAheadLog(this.#database, Date.now() + busyTimeoutMs);
      this.#database.exec('pragma synchronous = full; pragma secure_delete = on;');
      this.#database.exec(`begin immediate; ${schema} commit;`);
    } catch (error) {
      this.#database.close();
      throw explainDamage(error);
    }
  }

  query({ text, values }: SqliteStatement): readonly SqliteRow[] {
    return this.#explaining(() => this.#run(text, values));
  }

  batch(statements: readonly SqliteStatement[]): readonly (readonly SqliteRow[])[] {
    return this.#explaining(() => {
      this.#run('begin immediate');
      try {
        const results = statements.map(({ text, values }) => this.#run(text, values));
        this.#run('commit');
        if (this.#isLogStale) this.truncateLog();
        return results;
      } catch (error) {
        /* SQLite itself ends the transaction if the disk is full or fails. */
        if (this.#database.isTransaction) this.#run('rollback');
        throw error;
      }
    });
  }

  /** A number that changes when another connection commits; `undefined` if it can't be read. */
  version(): number | undefined {
    try {
      const [row] = this.query({ text: 'pragma data_version', values: [] });
      return Number(row?.[0]);
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
      const [row] = this.query({ text: 'pragma wal_checkpoint(truncate)', values: [] });
      const isBusy = row?.[0] !== 0;
      this.#isLogStale = isBusy;
    } catch {
      this.#isLogStale = true;
    } finally {
      this.#database.exec(`pragma busy_timeout = ${this.#busyTimeoutMs}`);
    }
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #run(text: string, values: SqliteStatement['values'] = []): readonly SqliteRow[] {
    const { statement, hasRows } = this.#prepared(text);
    if (hasRows) {
      const rows: unknown[] = statement.all(...values);
      /* With `setReturnArrays`, all rows are arrays. */
      return rows.filter((row) => Array.isArray(row));
    }
    statement.run(...values);
    return [];
  }

  #prepared(text: string): Prepared {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(text);
    statement.setReturnArrays(true);
    const prepared = { statement, hasRows: statement.columns().length > 0 };
    this.#statements.set(text, prepared);
    return prepared;
  }

  #explaining<RESULT>(work: () => RESULT): RESULT {
    try {
      return work();
    } catch (error) {
      throw explainDamage(error);
    }
  }
}

/** A statement, prepared. */
interface Prepared {
  statement: StatementSync;
  hasRows: boolean;
}

/* The header of a SQLite file, in bytes. It contains the page size. */
const headerLength = 100;

/*
 * SQLite pads a truncated last page and returns its remains. A file with a write-ahead log may be truncated, as SQLite restores it from the
 * log.
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

/* SQLite names neither the file nor the problem. */
function explainOpening(path: unknown, error: unknown): unknown {
  if (HoldpointError.isInstance(error)) return error;
  if (typeof path !== 'string')
    return new TypeError(`sqliteStore needs the path of a file; got ${describeKind(path)}.`);
  const why = error instanceof Error ? error.message : String(error);
  return new Error(
    `The SQLite file ${path} can't be opened: ${why}. Its folder must exist, and this process must be allowed to write there.`,
    { cause: error },
  );
}

/* Not imported, because the import would fail on an older Node without saying which version is needed. */
function loadNodeSqlite(): typeof import('node:sqlite') {
  const sqlite = globalThis.process?.getBuiltinModule?.('node:sqlite');
  if (sqlite !== undefined) return sqlite;
  throw new Error(
    `holdpoint/stores/sqlite needs the module node:sqlite, which Node has from 22.18 on; this is Node ${process.version}.`,
  );
}

/**
 * Switches a file to a write-ahead log. If two processes do so at once with a new file, SQLite fails one of them without waiting, as they
 * could deadlock.
 */
function useWriteAheadLog(database: DatabaseSync, until: number): void {
  for (;;) {
    try {
      database.exec('pragma journal_mode = wal');
      return;
    } catch (error) {
      if (readPrimaryCode(error) !== busy || Date.now() >= until) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

/* Result codes of `sqlite3.h`. */
const busy = 5;
const corrupt = 11;
const notADatabase = 26;

function readPrimaryCode(error: unknown): number {
  return error instanceof Error ? Number(Reflect.get(error, 'errcode')) & 0xff : 0;
}

/*
 * Turns the errors of a damaged file into `log-tampered`, including that of an integer which JavaScript can't represent. Errors of a full
 * or failing disk stay as they are.
 */
function explainDamage(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const isDamage =
    [corrupt, notADatabase].includes(readPrimaryCode(error)) ||
    Reflect.get(error, 'code') === 'ERR_OUT_OF_RANGE';
  if (!isDamage) return error;
  return new HoldpointError(
    'log-tampered',
    `The database is damaged: ${error.message}. Restore it from a backup.`,
    { cause: error },
  );
}
