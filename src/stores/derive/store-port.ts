import type { LogEntry, StoreNotice } from '../../thread/thread-store.ts';
import type { ColumnValue, RowQuery, StoreTable } from '../rows/row-query.ts';

/** A row as a store keeps it. */
export interface StoreRow {
  /** The key, unique in its table. Any text: apps choose some keys. */
  readonly key: string;
  /** The version, a new one after each write of the row: a write names the version that it expects. */
  readonly version: string;
  /** The values by which the row is found. */
  readonly columns: Readonly<Record<string, ColumnValue>>;
  /** The whole row, which a store treats as opaque. */
  readonly text: string;
}

/** The change of a row. */
export interface RowChange {
  /** The table of the row. */
  readonly table: StoreTable;
  /** The key of the row. */
  readonly key: string;
  /** The version that the row must have now; `undefined` if there must be no row. */
  readonly before: string | undefined;
  /** The row after the change; `undefined` if there is none. */
  readonly after: StoreRow | undefined;
}

/** The changes that are written together, or not at all. */
interface StoreWrite {
  /** The changed rows, each once. */
  readonly rows: readonly RowChange[];
  /** Entries that are added to the end of a thread's log. */
  readonly appended?: { readonly threadId: string; readonly entries: readonly LogEntry[] };
  /** The threads whose logs are deleted. */
  readonly deletedLogs: readonly string[];
}

/**
 * The base from which `deriveStore` derives a whole store: a log for each thread, and rows. A database only has to be able to `write`
 * several rows at once, if each still is as expected. See ADR 79.
 */
export interface StorePort {
  /**
   * The entries of a thread with a revision above `afterRevision`, oldest first, with their texts byte for byte; `[]` for an unknown
   * thread.
   */
  read(threadId: string, afterRevision: number): Promise<LogEntry[]>;
  /** The row with this key; `undefined` if there is none. */
  get(table: StoreTable, key: string): Promise<StoreRow | undefined>;
  /** A page of rows. It must see everything that was written before the call; `selectRows` selects from rows in memory. */
  select(query: RowQuery): Promise<StoreRow[]>;
  /**
   * Writes all of it, in one transaction that is durable when it resolves with true. Writes nothing, and resolves with false, if one of the
   * rows is not as `before` says.
   */
  write(write: StoreWrite): Promise<boolean>;
  /** Counts the rows that a query selects, no more than its `limit`. Without this method, the rows are selected and counted. */
  count?(query: RowQuery): Promise<number>;
  /** The store's clock, in milliseconds since 1970. Without this method, each process uses its own. */
  now?(): Promise<number>;
  /** Sends a notice to the listeners of all processes. Nobody waits for it, and its errors are ignored. Without `send` and `listen`, workers and pages poll. */
  send?(notice: StoreNotice): unknown;
  /**
   * Calls the listener with every notice, also with those of this process, and without a notice when some may have been lost, such as after
   * a reconnection. Returns a function that ends it.
   */
  listen?(listener: (notice?: StoreNotice) => void): () => Promise<void>;
}
