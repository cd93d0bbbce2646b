import { HoldpointError } from '../../errors.ts';
import type { RowField, Table } from '../rows/table.ts';

/** A table of SQL stores, with a column for each field. */
export interface SqlTable<ROW> {
  /** The fields by their columns, in the order of `columns`. */
  readonly fields: ReadonlyMap<string, RowField<ROW>>;
  /** The columns, for a statement. */
  readonly columns: string;
  /** A `?` for each column. */
  readonly placeholders: string;
  /** The columns of a table of this name in the statement. */
  readonly columnsOf: (alias: string) => string;
  /** The column of a field, or of `key`. */
  readonly nameOf: (field: string) => string;
  /** The values of a row in these columns; without them, in all. */
  readonly listValues: (row: ROW, names?: readonly string[]) => (string | number | null)[];
  /** The row in an object, or in an array of `columns`. Throws `log-tampered` for one that no holdpoint has written. */
  readonly parse: (row: unknown) => ROW;
}

/** Makes the SQL of a table. Its columns are the fields in snake case. */
export function makeSqlTable<ROW>({ key, fields, schema }: Table<ROW>): SqlTable<ROW> {
  const byColumn = new Map(fields.map((field) => [nameColumn(field.name), field]));
  const allNames = [...byColumn.keys()];
  return {
    fields: byColumn,
    columns: allNames.join(', '),
    placeholders: allNames.map(() => '?').join(', '),
    columnsOf: (alias) => allNames.map((name) => `${alias}.${name}`).join(', '),
    nameOf: (field) => nameColumn(field === 'key' ? key : field),
    listValues: (row, names = allNames) =>
      names.map((name) => byColumn.get(name)?.keep(row) ?? null),
    parse(row) {
      const values = listColumns(row, allNames);
      const present = fields.flatMap(({ name, read }, index): [string, unknown][] => {
        const value = read(values[index]);
        return value === undefined ? [] : [[name, value]];
      });
      const { success, data } = schema.safeParse(Object.fromEntries(present));
      if (!success) throw makeInvalidRowError();
      return data;
    },
  };
}

function listColumns(row: unknown, names: readonly string[]): readonly unknown[] {
  if (Array.isArray(row)) return row;
  const values = new Map<string, unknown>(Object.entries(row ?? {}));
  return names.map((name) => values.get(name));
}

function nameColumn(field: string): string {
  if (field === 'text') return 'body';
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The error for a row that no holdpoint has written. */
export function makeInvalidRowError(): HoldpointError {
  return new HoldpointError(
    'log-tampered',
    'A holdpoint table has an invalid row. Restore the database from a backup.',
  );
}
