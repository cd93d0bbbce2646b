import { closeSync, openSync, readSync, statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { HoldpointError } from '../../errors.ts';

/** What a statement takes for a `?`. */
type SqlValue = string | number | null;

/** One SQLite file in write-ahead-log mode. Throws `log-tampered` for a file that is damaged. */
export class SqliteFile {
  readonly #database: DatabaseSync;
  readonly #busyTimeoutMs: number;
  /* Preparing costs more than most statements themselves. */
  readonly #statements = new Map<string, StatementSync>();
  /** Whether the write-ahead log may still hold what was deleted. */
  #isLogStale = false;

  /** Opens the file, or creates it, and runs `schema`, which must allow for being run again. */
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

  /** The rows that a query gives. */
  rows(text: string, values: readonly SqlValue[] = []): Record<string, unknown>[] {
    return this.#explaining(() => this.#prepared(text).all(...values));
  }

  /** Writes, and says how many rows that changed. */
  write(text: string, values: readonly SqlValue[] = []): number {
    return this.#explaining(() => Number(this.#prepared(text).run(...values).changes));
  }

  /** Does all that `work` writes, or nothing of it when it throws. No other process writes meanwhile. */
  transaction<RESULT>(work: () => RESULT): RESULT {
    this.write('begin immediate');
    try {
      const result = work();
      this.write('commit');
      if (this.#isLogStale) this.truncateLog();
      return result;
    } catch (error) {
      /* SQLite ends a transaction itself where the disk is full or fails. */
      if (this.#database.isTransaction) this.write('rollback');
      throw error;
    }
  }

  /** A number that changes when another connection has committed; `undefined` where it can't be read. */
  version(): number | undefined {
    try {
      return Number(this.#prepared('pragma data_version').get()?.['data_version']);
    } catch {
      return undefined;
    }
  }

  /**
   * Empties the write-ahead log, which still holds what was deleted. Waits for no other process that reads or writes: the next
   * transaction tries again then.
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

/* The first bytes of every SQLite file, which say how long its pages are. */
const headerLength = 100;

/*
 * SQLite fills up a last page that was cut off, and answers from what is left of it. A file whose write-ahead log is there may be cut off:
 * SQLite makes it whole from that.
 */
function refuseCutOff(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const logSize = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (size < headerLength || logSize > 0) return;
  const header = Buffer.alloc(headerLength);
  const file = openSync(path, 'r');
  readSync(file, header, 0, headerLength, 0);
  closeSync(file);
  /* 1 stands for 65,536, which the field can't hold. */
  const pageSize = header.readUInt16BE(16);
  if (size % (pageSize === 1 ? 65_536 : pageSize) === 0) return;
  throw new HoldpointError(
    'log-tampered',
    'The database is damaged: its last page is cut off. Restore it from a backup.',
  );
}

/* Not imported, as an import of a module that an older Node lacks fails without saying which Node has it. */
function nodeSqlite(): typeof import('node:sqlite') {
  const sqlite = globalThis.process?.getBuiltinModule?.('node:sqlite');
  if (sqlite !== undefined) return sqlite;
  throw new Error(
    `holdpoint/stores/sqlite needs the module node:sqlite, which Node has from 22.18 on; this is Node ${process.version}.`,
  );
}

/** SQLite refuses one of two processes that switch a new file to its log at once, without waiting: they might wait for each other. */
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

/* What `sqlite3.h` calls them. */
const busy = 5;
const corrupt = 11;
const notADatabase = 26;

function primaryCode(error: unknown): number {
  return error instanceof Error ? Number(Reflect.get(error, 'errcode')) & 0xff : 0;
}

/*
 * A damaged file becomes an error of ours, also where it holds an integer that JavaScript can't. A full or failing disk stays what
 * SQLite says it is.
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
