import { vi } from 'vitest';

/*
 * Vitest's own default of a second is too short on a busy machine. A test that fails for this reason alone says nothing, so these wait for
 * much longer, and still end before the test's own time limit.
 */
const timeout = Number(process.env['HOLDPOINT_WAIT_MS'] ?? 20_000);

/** Asks again until it is so, and returns what the last call returned. The test fails when it takes too long. */
export const waitUntil: typeof vi.waitUntil = (isSo, options) =>
  vi.waitUntil(isSo, withTimeout(options));

/** Tries again until `check` does not throw, and returns what it returned. The test fails with its error when it takes too long. */
export const waitFor: typeof vi.waitFor = (check, options) =>
  vi.waitFor(check, withTimeout(options));

function withTimeout(options: Parameters<typeof vi.waitFor>[1]): {
  timeout: number;
  interval?: number;
} {
  return typeof options === 'number' ? { timeout: options } : { timeout, ...options };
}
