/**
 * Returned by `execute` when the result comes later, from elsewhere: the call stays open, the run ends with `waiting`, and
 * `agent.deliver(thread, toolCallId, outcome)` delivers the outcome, once, from any process.
 *
 * @example
 * execute: async (input, { toolCallId }) => {
 *   await queue.add({ input, toolCallId });
 *   return later;
 * }
 */
export const later: unique symbol = Symbol.for('holdpoint.later');

/** A result that comes later, before a deadline. */
export interface Later {
  readonly [later]: { expiresAfterMs?: number };
}

/**
 * Like `later`, with a deadline in milliseconds: a call without an outcome by then fails when the thread is next run (a worker does that),
 * and a later outcome is refused. The error that the model gets says that it is unknown whether the call took effect.
 *
 * Throws a `TypeError` unless `milliseconds` is a number above 0.
 *
 * @example
 * return laterWithin(3_600_000);
 */
export function laterWithin(milliseconds: number): Later {
  const expiresAfterMs = Math.ceil(milliseconds);
  if (isTime(expiresAfterMs)) return { [later]: { expiresAfterMs } };
  throw new TypeError(`laterWithin takes a number of milliseconds above 0; got ${milliseconds}.`);
}

/**
 * The deadline of a call whose tool returned `later` or `laterWithin`; empty without a valid deadline, `undefined` for any other output.
 */
export function readDeferral(output: unknown): { expiresAfterMs?: number } | undefined {
  if (output === later) return {};
  try {
    if (!isLater(output)) return undefined;
    const { expiresAfterMs } = output[later];
    return isTime(expiresAfterMs) ? { expiresAfterMs } : {};
  } catch {
    /* A tool may return anything, such as a proxy that throws. */
    return undefined;
  }
}

function isTime(milliseconds: unknown): milliseconds is number {
  return typeof milliseconds === 'number' && Number.isSafeInteger(milliseconds) && milliseconds > 0;
}

function isLater(output: unknown): output is Later {
  return typeof output === 'object' && output !== null && later in output;
}
