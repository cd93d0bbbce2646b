/* Timers fire at once for more than this, and for what is no number. */
const longest = 2 ** 31 - 1;

/** Throws a `TypeError` for an option, in milliseconds, that no timer can wait for. */
export function checkDuration(name: string, milliseconds: number, shortest = 1): void {
  if (Number.isFinite(milliseconds) && milliseconds >= shortest && milliseconds <= longest) return;
  throw new TypeError(
    `${name} is ${milliseconds}; it must be a number from ${shortest} to ${longest} milliseconds.`,
  );
}
