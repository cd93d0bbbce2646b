/** Selects a page of a list. `PLACE` is the part of a row by which it is ordered. */
interface Page<PLACE> {
  compare: (one: PLACE, other: PLACE) => number;
  /** Only rows after this one. */
  after: PLACE | undefined;
  limit: number;
}

/** The first rows in an order. Whatever the number of rows, it sorts no more than two pages at a time. */
export function takePage<PLACE, ROW extends PLACE>(
  rows: Iterable<ROW>,
  { compare, after, limit }: Page<PLACE>,
): ROW[] {
  let page: ROW[] = [];
  let last: ROW | undefined;
  const cut = (): void => {
    page = page.toSorted(compare).slice(0, limit);
    last = page[limit - 1];
  };
  for (const row of rows) {
    if (after !== undefined && compare(row, after) <= 0) continue;
    if (last !== undefined && compare(row, last) > 0) continue;
    page.push(row);
    if (page.length > 2 * limit) cut();
  }
  cut();
  return page;
}
