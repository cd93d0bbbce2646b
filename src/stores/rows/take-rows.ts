import type { ColumnValue, RowCondition, RowQuery } from './row-query.ts';

/* Rows in memory, found as a database finds them. */

/** Finds the function that reads a column, or the `key`, of a row. */
type FindReader<ROW> = (column: string) => (row: ROW) => ColumnValue;

/** Makes the check that a row meets all conditions: once for a query, as it runs for each row. */
function makeFilter<ROW>(
  where: readonly RowCondition[],
  findReader: FindReader<ROW>,
): (row: ROW) => boolean {
  const checks = where.map((condition) => makeCheck(condition, findReader(condition.column)));
  return (row) => {
    for (const isMet of checks) if (!isMet(row)) return false;
    return true;
  };
}

/** Makes the check of a condition, once for all rows. */
function makeCheck<ROW>(
  condition: RowCondition,
  read: (row: ROW) => ColumnValue,
): (row: ROW) => boolean {
  if ('above' in condition) {
    const { above } = condition;
    return (row) => toNumber(read(row)) > above;
  }
  if ('below' in condition) {
    const { below } = condition;
    return (row) => toNumber(read(row)) < below;
  }
  if ('noneOf' in condition) {
    const { noneOf } = condition;
    return (row) => !includesOne(noneOf, read(row));
  }
  const { oneOf } = condition;
  const [only = null] = oneOf;
  if (oneOf.length !== 1) return (row) => includesOne(oneOf, read(row));
  return (row) => {
    const value = read(row);
    return value === only || (typeof value === 'object' && includesOne(oneOf, value));
  };
}

/** The number in a column; NaN, which is neither above nor below any, for another value. */
function toNumber(value: ColumnValue): number {
  return typeof value === 'number' ? value : Number.NaN;
}

function includesOne(wanted: readonly (string | number | null)[], value: ColumnValue): boolean {
  if (value === null || typeof value !== 'object') return wanted.includes(value);
  return value.some((each) => wanted.includes(each));
}

/** Takes a page of the rows that meet all conditions. It never sorts more than two pages at a time, with any number of rows. */
export function takePage<ROW>(
  rows: Iterable<ROW>,
  { where, order, after, limit }: Omit<RowQuery, 'table'>,
  findReader: FindReader<ROW>,
): ROW[] {
  const isMet = makeFilter(where, findReader);
  const terms = order.map(({ column, isDescending }) => ({
    read: findReader(column),
    sign: isDescending ? -1 : 1,
  }));
  const compare = (row: ROW, place: readonly ColumnValue[]): number => {
    let index = 0;
    for (const { read, sign } of terms) {
      const compared = compareValues(read(row), place[index]);
      if (compared !== 0) return sign * compared;
      index += 1;
    }
    return 0;
  };
  let page: { row: ROW; place: readonly ColumnValue[] }[] = [];
  let last: readonly ColumnValue[] | undefined;
  const cut = (): void => {
    page = page.toSorted((one, other) => compare(one.row, other.place)).slice(0, limit);
    last = page[limit - 1]?.place;
  };
  for (const row of rows) {
    if (after !== undefined && compare(row, after) <= 0) continue;
    if (last !== undefined && compare(row, last) > 0) continue;
    if (!isMet(row)) continue;
    page.push({ row, place: terms.map(({ read }) => read(row)) });
    if (page.length > 2 * limit) cut();
  }
  cut();
  return page.map(({ row }) => row);
}

/** Counts the rows that meet all conditions. */
export function countMet<ROW>(
  rows: Iterable<ROW>,
  where: readonly RowCondition[],
  findReader: FindReader<ROW>,
): number {
  const isMet = makeFilter(where, findReader);
  let count = 0;
  for (const row of rows) if (isMet(row)) count += 1;
  return count;
}

function compareValues(one: ColumnValue, other: ColumnValue = null): number {
  if (one === null || other === null || one === other) return 0;
  return one > other ? 1 : -1;
}
