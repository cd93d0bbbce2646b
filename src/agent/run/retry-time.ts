/**
 * Delays and limit for retries of failed runs. The delay doubles with each failure in a row, up to a maximum, and is shortened at random by
 * up to a half, so that threads which failed together don't retry together. The time is written to the log, so that all workers wait for
 * the same moment. The same options apply to asking tools about lost calls.
 */
export interface RetryOptions {
  /** The number of failures in a row after which the thread is `stuck`, and waits for a person or the app to run it. Default 10. */
  maxAttempts?: number;
  /** The delay after the first failure, in milliseconds. Default 1,000. */
  initialDelayMs?: number;
  /** The longest delay, in milliseconds. Default 300,000. */
  maxDelayMs?: number;
}

/** The options with their defaults. Throws a `TypeError` for an invalid number. */
export function checkRetry({
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

/** The facts that determine the time of the next attempt. */
interface FailedAttempt {
  /** The number of failures in a row, this one included. */
  failures: number;
  /** The time of the failure, in milliseconds since 1970. */
  at: number;
  /** The hash at the end of the log. It spreads the times: as good as random, and the same in every process. */
  hash: string;
}

/** Computes the time of the retry, in milliseconds since 1970; `undefined` after too many failures. */
export function retryTime(
  { maxAttempts, initialDelayMs, maxDelayMs }: Required<RetryOptions>,
  { failures, at, hash }: FailedAttempt,
): number | undefined {
  if (failures >= maxAttempts) return undefined;
  const delay = Math.min(initialDelayMs * 2 ** (failures - 1), maxDelayMs);
  return Math.ceil(at + delay * (1 - parseFraction(hash) / 2));
}

/** A number from 0 up to 1. */
function parseFraction(hash: string): number {
  const digits = Array.from(hash.slice(0, 8), (character) => character.charCodeAt(0) % 32);
  return digits.reduce((fraction, digit) => (fraction + digit) / 32, 0);
}
