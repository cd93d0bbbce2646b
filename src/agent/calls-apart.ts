/**
 * Marks the options of an agent each of whose calls is a thread of its own, as those of a gate are. Its rules never see another call, so one
 * that reads `calls`, such as a budget, can't let a call run. The value says so to people, and what to do.
 */
export const callsApart: unique symbol = Symbol.for('holdpoint.calls-apart');

/** Options that may be marked. */
export interface CallsApartOptions {
  [callsApart]?: string;
}
