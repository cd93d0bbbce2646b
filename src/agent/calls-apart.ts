/**
 * Marks the options of an agent that makes a separate thread for each call, as a gate does. Its rules never see another call, so a rule
 * that reads `calls`, such as a budget, can't let a call run. The value tells people so, and what to do.
 */
export const callsApart: unique symbol = Symbol.for('holdpoint.calls-apart');

/** Options that may be marked. */
export interface CallsApartOptions {
  [callsApart]?: string;
}
