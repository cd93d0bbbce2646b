import type { ThreadEventType } from './thread-event.ts';

/*
 * Events of which only listeners, the log and its audit tell: they change nothing that a person is shown, a span reports, or a replay
 * decides by. A new event that is not listed here has to be handled by each of these.
 */
const quietTypes = {
  'thread-created': true,
  'messages-imported': true,
  'agent-changed': true,
  'run-started': true,
  'run-renewed': true,
  'stop-requested': true,
  'run-ended': true,
  'approvals-released': true,
  'request-reminded': true,
  'answer-delivered': true,
  'grant-created': true,
  'grant-revoked': true,
  'call-abandoned': true,
  'recovery-failed': true,
  'late-result': true,
  'caller-changed': true,
} as const satisfies { readonly [TYPE in ThreadEventType]?: true };

/** The type of an event that tells people or traces something. */
export type LoudEventType = Exclude<ThreadEventType, keyof typeof quietTypes>;

/** Whether an event tells people and traces nothing. */
export function isQuiet<EVENT extends { type: string }>(
  event: EVENT,
): event is EVENT & { type: keyof typeof quietTypes } {
  return Object.hasOwn(quietTypes, event.type);
}
