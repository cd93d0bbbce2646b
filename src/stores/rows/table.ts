import type { z } from 'zod';
import { risks } from '../../content/approval-terms.ts';
import type { ColumnValue, RowCondition, RowOrder, RowPage, StoreTable } from './row-query.ts';

/** The value of a field of a row. */
type FieldValue = string | number | null | undefined | readonly string[];

/** A kind of columns. No column that rows are ordered by is null, because databases disagree where null belongs. */
interface Kind {
  /** The value by which a row is found; absent for what no row is found by. */
  readonly find?: (value: FieldValue) => ColumnValue;
  /** The value in the column of a database. */
  readonly keep: (value: FieldValue) => string | number | null;
  /** The field's value, from that of the column; `undefined` if it is absent. */
  readonly read: (value: unknown) => unknown;
}

/* Finite, as some drivers send values as JSON, and later than any that an app would mean. */
const never = Number.MAX_VALUE;

/* A server may round the number to a few digits when it sends it. */
const latest = never / 2;

const undecided = -1;

/** The value in place of the approvers of a request without any. A name is never empty. */
export const anyApprover = '';

/** Lists the approvers by whom a request is found. */
export function listFoundBy(approvers: readonly string[]): readonly string[] {
  return approvers.length === 0 ? [anyApprover] : approvers;
}

const findAsIs = (value: FieldValue): ColumnValue => value ?? null;
const keepAsIs = (value: FieldValue): string | number | null =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : (value ?? null);
const readAsIs = (value: unknown): unknown => value;

function readNumber(value: unknown): number | undefined {
  return value === null ? undefined : Number(value);
}

function readTexts(value: unknown): unknown {
  try {
    return JSON.parse(String(value));
  } catch {
    return undefined;
  }
}

function readEnd(value: unknown): number | undefined {
  const time = readNumber(value);
  return time !== undefined && time >= latest ? undefined : time;
}

/** The value by which rows are found and ordered, and which databases keep. */
function write<VALUE extends string | number>(toValue: (value: FieldValue) => VALUE) {
  return { find: toValue, keep: toValue };
}

const writeAgent = write((value) => (typeof value === 'string' ? value : ''));
const writeEnd = write((value) => (typeof value === 'number' ? value : never));

const kinds = {
  /** A short text. */
  key: { find: findAsIs, keep: keepAsIs, read: readAsIs },
  text: { keep: keepAsIs, read: readAsIs },
  /** The name of an agent, which is never empty; null for an agent without a name. */
  agent: { ...writeAgent, read: (value) => (value === '' ? null : value) },
  /** The same, but absent for an agent without a name. */
  optionalAgent: { ...writeAgent, read: (value) => (value === '' ? undefined : value) },
  texts: { find: findAsIs, keep: keepAsIs, read: readTexts },
  approvers: {
    find: (value) => (typeof value === 'object' && value !== null ? listFoundBy(value) : null),
    keep: keepAsIs,
    read: readTexts,
  },
  /** 0 for none, then -1 for the lowest: the riskiest comes first, and a risk above the others can be added. */
  risk: {
    ...write((value) => -1 - risks.findIndex((risk) => risk === value)),
    read: (value) => risks[-1 - Number(value)] ?? null,
  },
  /** A number, such as of people, which a rule may choose as large as it likes. */
  count: { keep: keepAsIs, read: readNumber },
  /** A time in milliseconds. */
  time: { find: findAsIs, keep: keepAsIs, read: readNumber },
  /** The time of the end, if there is one. */
  end: { ...writeEnd, read: readEnd },
  /** The same, but null in databases if there is none. */
  optionalEnd: { find: writeEnd.find, keep: keepAsIs, read: readEnd },
  decision: {
    ...write((value) => (typeof value === 'number' ? value : undecided)),
    read: (value) => (Number(value) === undecided ? undefined : Number(value)),
  },
} satisfies Record<string, Kind>;

export type KindName = keyof typeof kinds;

/** A part of a row. A field without a value may be null. */
type Part<ROW> = { readonly [FIELD in keyof ROW]?: ROW[FIELD] | null | undefined };

/** A field of a row, and its column in a database. */
export interface RowField<ROW> extends Pick<Kind, 'read'> {
  readonly name: string;
  readonly kind: KindName;
  readonly keep: (row: ROW) => string | number | null;
}

/** A table: its rows, and the columns by which they are found. */
export interface Table<ROW> {
  readonly name: StoreTable;
  readonly key: string;
  readonly keyOf: (row: Part<ROW>) => string;
  readonly fields: readonly RowField<ROW>[];
  /** The columns by which rows are found, and `key`. */
  readonly columns: ReadonlyMap<string, (row: Part<ROW>) => ColumnValue>;
  readonly schema: z.ZodType<ROW>;
}

/** Declares a table, with the kind of each field. `derived` are columns that are no field. */
export function declareTable<ROW extends { [FIELD in keyof ROW]?: FieldValue }>({
  name,
  key,
  kinds: kindsOf,
  derived = {},
  schema,
}: {
  name: StoreTable;
  key: keyof ROW & string;
  kinds: { readonly [FIELD in keyof ROW]-?: KindName };
  derived?: Readonly<Record<string, (row: Part<ROW>) => ColumnValue>>;
  schema: z.ZodType<ROW>;
}): Table<ROW> {
  const fields: RowField<ROW>[] = [];
  const keyOf = (row: Part<ROW>): string => String(row[key]);
  const columns = new Map(Object.entries(derived)).set('key', keyOf);
  for (const field in kindsOf) {
    const { find, keep, read }: Kind = kinds[kindsOf[field]];
    if (find === findAsIs) columns.set(field, (row) => row[field] ?? null);
    else if (find !== undefined) columns.set(field, (row) => find(row[field]));
    fields.push({ name: field, kind: kindsOf[field], keep: (row) => keep(row[field]), read });
  }
  return { name, key, keyOf, fields, columns, schema };
}

/** Finds the function that reads a column, or the `key`, of a row. */
export function findReader<ROW>(
  { columns, name }: Table<ROW>,
  column: string,
): (row: Part<ROW>) => ColumnValue {
  const read = columns.get(column);
  if (read === undefined) throw new TypeError(`The table ${name} has no column ${column}.`);
  return read;
}

/** Lists the conditions that the columns of a row are those of this part. What is undefined is no condition. */
export function listEqual<ROW>({ columns }: Table<ROW>, part: Part<ROW>): RowCondition[] {
  return Object.entries(part).flatMap(([column, value]) => {
    const found = value === undefined ? undefined : columns.get(column)?.(part);
    if (found === undefined) return [];
    return { column, oneOf: typeof found === 'object' && found !== null ? found : [found] };
  });
}

/** Makes a page of a table, after the row of this part. */
export function makePage<ROW>(
  table: Table<ROW>,
  {
    order,
    after,
    limit = 100,
  }: { order: readonly RowOrder[]; after?: Part<ROW> | undefined; limit?: number | undefined },
): RowPage {
  const place =
    after && order.map(({ column }) => readPlace(findReader(table, column)(after), column));
  return { order, ...(place && { after: place }), limit };
}

/** The value of a place in a column by which rows are ordered. */
export function readPlace(value: ColumnValue | undefined, column: string): string | number {
  if (typeof value === 'string' || typeof value === 'number') return value;
  throw new TypeError(`Rows can't be ordered by ${column}, which is no text or number.`);
}

export function ascending(column: string): RowOrder {
  return { column, isDescending: false };
}

export function descending(column: string): RowOrder {
  return { column, isDescending: true };
}
