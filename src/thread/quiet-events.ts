import type { ThreadEventType } from './thread-event.ts';

/*
 * Events that only listeners, the log and its audit report: they have nothing that a person is shown, and no span, and a replay doesn't use
 * them. A new event that is not listed here has to be handled by each of these.
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

/** The type of an event that people are shown or traces report. */
export type LoudEventType = Exclude<ThreadEventType, keyof typeof quietTypes>;

/** Checks whether an event has nothing for people and traces. */
export function isQuiet<EVENT extends { type: string }>(
  event: EVENT,
): event is EVENT & { type: keyof typeof quietTypes } {
  return Object.hasOwn(quietTypes, event.type);
}
