/**
 * When failed runs are tried again. The delay doubles with each failure in a row, up to a cap, and is spread by up to a half, so that
 * threads which failed together don't come back together. The time is written into the log, so that all workers wait for the same one.
 * It holds for tools that are asked about lost calls, too.
 */
export interface RetryOptions {
  /** After how many failures in a row the thread is `stuck`: it waits for a person or the app to run it. Default 10. */
  maxAttempts?: number;
  /** The delay after the first failure, in milliseconds. Default 1,000. */
  initialDelayMs?: number;
  /** The longest delay, in milliseconds. Default 300,000. */
  maxDelayMs?: number;
}

/** The options with their defaults. Throws a `TypeError` for a number that can't be used. */
export function checkedRetry({
  maxAttempts = 10,
  initialDelayMs = 1_000,
  maxDelayMs = 300_000,
}: RetryOptions = {}): Required<RetryOptions> {
  if (!(maxAttempts >= 1)) {
    throw new TypeError(`retry.maxAttempts must be 1 or more; got ${maxAttempts}.`);
  }
  for (const [name, value] of Object.entries({ initialDelayMs, maxDelayMs })) {
    if (Number.isFinite(value) && value > 0) continue;
    throw new TypeError(`retry.${name} must be a number of milliseconds above 0; got ${value}.`);
  }
  return { maxAttempts, initialDelayMs, maxDelayMs };
}

/** What the time of the next attempt depends on. */
export interface FailedAttempt {
  /** How many attempts in a row have failed, this one included. */
  failures: number;
  /** When it failed, in milliseconds since 1970. */
  at: number;
  /** The hash at which the log stands: what spreads the times, as good as random and the same in every process. */
  hash: string;
}

/** When to try again, in milliseconds since 1970; `undefined` where too many attempts have failed. */
export function retryTime(
  { maxAttempts, initialDelayMs, maxDelayMs }: Required<RetryOptions>,
  { failures, at, hash }: FailedAttempt,
): number | undefined {
  if (failures >= maxAttempts) return undefined;
  const delay = Math.min(initialDelayMs * 2 ** (failures - 1), maxDelayMs);
  return Math.ceil(at + delay * (1 - fractionOf(hash) / 2));
}

/** A number from 0 up to 1. */
function fractionOf(hash: string): number {
  const digits = Array.from(hash.slice(0, 8), (character) => character.charCodeAt(0) % 32);
  return digits.reduce((fraction, digit) => (fraction + digit) / 32, 0);
}
