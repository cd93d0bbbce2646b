/** Checks a number of milliseconds. Throws a `TypeError` for one that a timer can't wait for: above 2^31, it would fire at once. */
export function checkMs(milliseconds: number, what: string, shortest = 1): number {
  if (milliseconds >= shortest && milliseconds < 2 ** 31) return milliseconds;
  throw new TypeError(`${what} must be at least ${shortest} and below 2^31; got ${milliseconds}.`);
}

/** Checks a limit: a whole number, or `Infinity`. Throws a `TypeError` otherwise; NaN would be no limit, as comparisons with it are false. */
export function checkLimit(limit: number, what: string): number {
  if (limit >= 0 && (Number.isInteger(limit) || limit === Infinity)) return limit;
  throw new TypeError(`${what} must be a whole number of 0 or more; got ${limit}.`);
}
