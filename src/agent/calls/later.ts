/**
 * What `execute` returns when the result comes later, from outside: the call stays open, the run ends with `waiting`, and
 * `agent.deliver(thread, toolCallId, outcome)` brings the result, once, from any process.
 *
 * @example
 * execute: async (input, { toolCallId }) => {
 *   await queue.add({ input, toolCallId });
 *   return later;
 * }
 */
export const later: unique symbol = Symbol.for('holdpoint.later');

/** A result that comes later, or not at all. */
export interface Later {
  readonly [later]: { expiresAfterMs?: number };
}

/**
 * The same as `later`, for so long, in milliseconds: a call whose result has not come by then fails when the thread goes on (a worker
 * sees to that), and what comes after is refused. The model is told that it is not known whether the call took effect.
 *
 * Throws a `TypeError` for what is no time to come.
 *
 * @example
 * return laterWithin(3_600_000);
 */
export function laterWithin(milliseconds: number): Later {
  const expiresAfterMs = Math.ceil(milliseconds);
  if (isTime(expiresAfterMs)) return { [later]: { expiresAfterMs } };
  throw new TypeError(`A result can't come within ${milliseconds} milliseconds.`);
}

/** How a call goes on outside, if what its tool returned says that it does; without a time, where it says none that can come. */
export function deferralOf(output: unknown): { expiresAfterMs?: number } | undefined {
  if (output === later) return {};
  try {
    if (!isLater(output)) return undefined;
    const { expiresAfterMs } = output[later];
    return isTime(expiresAfterMs) ? { expiresAfterMs } : {};
  } catch {
    /* A tool may return anything: a proxy too, which throws when it is looked at. */
    return undefined;
  }
}

function isTime(milliseconds: unknown): milliseconds is number {
  return typeof milliseconds === 'number' && Number.isSafeInteger(milliseconds) && milliseconds > 0;
}

function isLater(output: unknown): output is Later {
  return typeof output === 'object' && output !== null && later in output;
}
