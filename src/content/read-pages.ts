/**
 * Reads all pages of a list, each after the last row of the one before. The last page is one with fewer rows than `size`; without `size`, an
 * empty one.
 */
export async function* readPages<ROW>(
  readPage: (after: ROW | undefined) => Promise<readonly ROW[]>,
  size = 1,
): AsyncGenerator<readonly ROW[]> {
  let after: ROW | undefined;
  for (;;) {
    const page = await readPage(after);
    after = page.at(-1);
    if (after === undefined) return;
    yield page;
    if (page.length < size) return;
  }
}
