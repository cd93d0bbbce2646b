import { makeRandomId } from '../../content/crypto.ts';
import { waitForTimer } from '../../content/waiting.ts';
import type { LogEntry } from '../../thread/thread-store.ts';
import type { RowQuery } from '../rows/row-query.ts';
import { readPlace, type Table } from '../rows/table.ts';
import type { RowChange, StorePort, StoreRow } from './store-port.ts';
import { parseRow } from './tables.ts';

/** Reads rows, and collects what is to be written if none of them has changed meanwhile. */
export class Transaction {
  readonly #port: StorePort;
  readonly #read = new Map<string, Promise<StoreRow | undefined>>();
  readonly #written = new Map<string, RowChange>();
  readonly #deletedLogs: string[] = [];
  #appended: { threadId: string; entries: readonly LogEntry[] } | undefined;

  constructor(port: StorePort) {
    this.#port = port;
  }

  /** The row with this key, as this transaction has it. */
  async find<ROW>(table: Table<ROW>, key: string): Promise<ROW | undefined> {
    const row = await this.#present(table, key);
    return row && parseRow(table, row);
  }

  /** All rows that a query selects. */
  async select<ROW>(table: Table<ROW>, query: Omit<RowQuery, 'table' | 'limit'>): Promise<ROW[]> {
    const rows = await selectAll(this.#port, { ...query, table: table.name });
    return rows.map((row) => this.know(table, row));
  }

  /** Takes a row as it was read outside. */
  know<ROW>(table: Table<ROW>, row: StoreRow): ROW {
    this.#read.set(identify(table, row.key), Promise.resolve(row));
    return parseRow(table, row);
  }

  /** Writes a row, in place of the one with its key. */
  async put<ROW>(table: Table<ROW>, row: NoInfer<ROW>): Promise<void> {
    const after = makeStoreRow(table, row);
    await this.#change(table, after.key, after);
  }

  /**
   * Changes fields of a row as this transaction has read it. Everything else stays as it is stored: a newer holdpoint may have written it.
   */
  async change<ROW>(table: Table<ROW>, key: string, fields: Partial<ROW>): Promise<void> {
    const row = await this.#present(table, key);
    if (row === undefined) throw new TypeError(`There is no row ${key} to change.`);
    const changed = { ...parseRow(table, row), ...fields };
    const stored: unknown = JSON.parse(row.text);
    const { columns, version } = makeStoreRow(table, changed);
    const own = Object.entries(columns).filter(([name]) => Object.hasOwn(fields, name));
    const after = {
      key: row.key,
      version,
      columns: { ...row.columns, ...Object.fromEntries(own) },
      text: JSON.stringify(Object.assign({}, stored, fields)),
    };
    await this.#change(table, row.key, after);
  }

  /** Writes a row whose key no row has. */
  add<ROW>(table: Table<ROW>, row: NoInfer<ROW>): void {
    const after = makeStoreRow(table, row);
    const change = { table: table.name, key: after.key, before: undefined, after };
    this.#written.set(identify(table, after.key), change);
  }

  async delete<ROW>(table: Table<ROW>, key: string): Promise<void> {
    await this.#change(table, key, undefined);
  }

  append(threadId: string, entries: readonly LogEntry[]): void {
    this.#appended = { threadId, entries };
  }

  deleteLog(threadId: string): void {
    this.#deletedLogs.push(threadId);
  }

  /** Resolves with false, having written nothing, if a row that it would write has changed since it was read. */
  async commit(): Promise<boolean> {
    if (this.#written.size === 0) return true;
    return this.#port.write({
      rows: [...this.#written.values()],
      ...(this.#appended === undefined ? {} : { appended: this.#appended }),
      deletedLogs: this.#deletedLogs,
    });
  }

  async #change<ROW>(table: Table<ROW>, key: string, after: StoreRow | undefined): Promise<void> {
    const id = identify(table, key);
    const before = (await this.#load(table, key))?.version;
    if (before === undefined && after === undefined) this.#written.delete(id);
    else this.#written.set(id, { table: table.name, key, before, after });
  }

  async #present<ROW>(table: Table<ROW>, key: string): Promise<StoreRow | undefined> {
    const id = identify(table, key);
    return this.#written.has(id) ? this.#written.get(id)?.after : this.#load(table, key);
  }

  async #load<ROW>({ name }: Table<ROW>, key: string): Promise<StoreRow | undefined> {
    const id = identify({ name }, key);
    const reading = this.#read.get(id) ?? this.#port.get(name, key);
    this.#read.set(id, reading);
    return reading;
  }
}

function makeStoreRow<ROW>(table: Table<ROW>, row: ROW): StoreRow {
  const columns = [...table.columns].filter(([name]) => name !== 'key');
  return {
    key: table.keyOf(row),
    version: makeRandomId(),
    columns: Object.fromEntries(columns.map(([name, read]) => [name, read(row)])),
    text: JSON.stringify(row),
  };
}

function identify({ name }: { name: string }, key: string): string {
  return `${name} ${key}`;
}

/** Does work in a transaction, and retries if another process has meanwhile written what it read. */
export async function transact<RESULT>(
  port: StorePort,
  work: (transaction: Transaction) => Promise<RESULT>,
): Promise<RESULT> {
  for (let attempt = 1; ; attempt += 1) {
    const transaction = new Transaction(port);
    const result = await work(transaction);
    if (await transaction.commit()) return result;
    /* At different moments, so that concurrent writers don't collide again. */
    await waitForTimer(Math.random() * Math.min(2 ** attempt, longestMs));
  }
}

const longestMs = 50;

const pageSize = 1_000;

/** All rows that a query selects, in its order. */
export async function selectAll(
  port: StorePort,
  query: Omit<RowQuery, 'limit'>,
): Promise<StoreRow[]> {
  const rows: StoreRow[] = [];
  for (let { after } = query; ;) {
    const page = await port.select({ ...query, ...(after && { after }), limit: pageSize });
    rows.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return rows;
    after = query.order.map(({ column }) =>
      readPlace(column === 'key' ? last.key : last.columns[column], column),
    );
  }
}
