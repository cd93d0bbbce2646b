import { z } from 'zod';
import { always } from './fields.ts';
import type { HeadDraft } from './head-draft.ts';

/* The caller from outside that waits for the outcome of its call: a client of a gate. */

/**
 * A change of the caller, by the id of its connection. `waiting`: it waits, until `until` at the latest, in milliseconds since 1970.
 * `pending`: it was told that nothing has happened yet, and to call again. `left`: it has gone without an answer. `informed`: the outcome
 * was sent to it. It decides nothing.
 */
const callerChanged = z.strictObject({
  type: z.literal('caller-changed'),
  ...always,
  callerId: z.string(),
  state: z.enum(['waiting', 'pending', 'left', 'informed']),
  until: z.number().optional(),
});

export function applyCallerChanged(
  { callerId, state, until, at }: z.infer<typeof callerChanged>,
  { head }: HeadDraft,
): void {
  head.caller = { callerId, state, ...(until === undefined ? {} : { until }), at };
}

export const callerSchemas = [callerChanged] as const;
