/** A time that a timer can hold, in milliseconds. Throws a `TypeError` for any other: a timer that is set for longer goes off at once. */
export function checkedMs(milliseconds: number, what: string, shortest = 1): number {
  if (milliseconds >= shortest && milliseconds < 2 ** 31) return milliseconds;
  throw new TypeError(
    `${what} is ${milliseconds}; it must be ${shortest} or more, and below 2^31.`,
  );
}

/** How many there may be. Throws a `TypeError` for what is no count: nothing is more than NaN, which would be no limit. */
export function checkedLimit(limit: number, what: string): number {
  if (limit >= 0 && (Number.isInteger(limit) || limit === Infinity)) return limit;
  throw new TypeError(`${what} must be a whole number, of 0 or more.`);
}
