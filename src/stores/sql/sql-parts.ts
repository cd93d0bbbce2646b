import type { RowCondition, RowOrder, RowPage } from '../rows/row-query.ts';
import type { SqlTable } from './sql-table.ts';

/*
 * Queries of SQL stores, in SQL that their dialects share. Conditions of absent filters are left out, because no index serves
 * `? is null or …`.
 */

/** A part of a statement, with a `?` for each of its values. */
export interface SqlPart {
  text: string;
  values: (string | number | null)[];
}

type Columns = Pick<SqlTable<never>, 'nameOf' | 'fields'>;

/** Writes a condition of a column. The text depends only on the column and the number of values. */
export function writeCondition({ nameOf, fields }: Columns, condition: RowCondition): SqlPart {
  const column = nameOf(condition.column);
  if ('above' in condition) {
    const isAbove = { text: `${column} > ?`, values: [condition.above] };
    if (fields.get(column)?.kind !== 'optionalEnd') return isAbove;
    return { ...isAbove, text: `(${column} is null or ${isAbove.text})` };
  }
  if ('below' in condition) return { text: `${column} < ?`, values: [condition.below] };
  if ('noneOf' in condition) {
    const values = [...condition.noneOf];
    return { text: `${column} not in (${listMarks(values)})`, values };
  }
  const [first = null, ...others] = condition.oneOf;
  const isNull = first === null ? [`${column} is null`] : [];
  const values = first === null ? others : [first, ...others];
  const isOne = values.length === 1 ? `${column} = ?` : `${column} in (${listMarks(values)})`;
  const tests = values.length === 0 ? isNull : [...isNull, isOne];
  return { text: tests.length === 1 ? tests.join('') : `(${tests.join(' or ')})`, values };
}

function listMarks(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

/** Makes the conditions that a page begins after its place, and its order and length. */
export function makePageLimits(
  table: Columns,
  page: RowPage,
): { isAfter: SqlPart[]; end: SqlPart } {
  const { order, after, limit } = page;
  return {
    isAfter: after === undefined ? [] : [makeAfterCondition(table, order, after)],
    end: { text: `${writeOrder(table, order)} limit ?`, values: [limit] },
  };
}

export function writeOrder({ nameOf }: Columns, order: readonly RowOrder[]): string {
  const terms = order.map(
    ({ column, isDescending }) => nameOf(column) + (isDescending ? ' desc' : ''),
  );
  return `order by ${terms.join(', ')}`;
}

/** Makes the condition that a row comes after a place. All columns before the key have one direction. */
function makeAfterCondition(
  { nameOf }: Columns,
  order: readonly RowOrder[],
  place: readonly (string | number)[],
): SqlPart {
  const [first, last] = [order[0], order.at(-1)];
  const compare = (count: number, sign: string): string => {
    const columns = order.slice(0, count).map(({ column }) => nameOf(column));
    return `(${columns.join(', ')}) ${sign} (${listMarks(columns)})`;
  };
  const sign = pickSign(first);
  if (sign === pickSign(last)) return { text: compare(order.length, sign), values: [...place] };
  const count = order.length - 1;
  const [values, key] = [place.slice(0, count), place.slice(count)];
  return {
    /* The first comparison is for the index. */
    text: `${compare(count, `${sign}=`)} and (${compare(count, sign)} or ${nameOf('key')} ${pickSign(last)} ?)`,
    values: [...values, ...values, ...key],
  };
}

/** The sign between a value and that of a place before it. */
function pickSign(column: RowOrder | undefined): string {
  return column?.isDescending === true ? '<' : '>';
}

export function joinConditions(conditions: readonly SqlPart[]): SqlPart {
  const { text, values } = joinParts(conditions, ' and ');
  return { text: text === '' ? '' : `where ${text}`, values };
}

export function joinParts(parts: readonly SqlPart[], separator = ' '): SqlPart {
  return {
    text: parts.map(({ text }) => text).join(separator),
    values: parts.flatMap(({ values }) => values),
  };
}
