/** True where all is tried: in the deep tests, and where mutants are. `npm test` tries a sample, so that it stays short. */
export const triesAll = process.env['HOLDPOINT_CASES'] === 'all';

/** The number of trials of a property: a tenth of it in `npm test`. */
export function countTrials(all: number): number {
  return triesAll ? all : Math.ceil(all / 10);
}

/** All cases; in `npm test` so many of them, spread over the list, with the first one. */
export function pickCases<CASE>(cases: readonly CASE[], few = 1): CASE[] {
  const step = triesAll ? 1 : Math.max(1, cases.length / few);
  return cases.filter((_, index) => Math.floor(index % step) === 0);
}
