import type { CallPlace, ToolCallRecord, ToolCallStatus } from '../content/tool-call.ts';
import { HoldpointError } from '../errors.ts';
import { isSamePlace, isUnfinished, type ThreadHead } from './thread-head.ts';
import { callsOf, type ThreadState } from './thread-state.ts';

/** The call of the open step at a place. */
export function callAt(
  { calls }: Pick<ThreadHead, 'calls'>,
  place: CallPlace | undefined,
): ToolCallRecord | undefined {
  return place && calls.find((call) => isSamePlace(call, place));
}

/** The call at a place, in the open step or a past one. */
export function anyCallAt(
  { head, pastCalls }: Readonly<ThreadState>,
  place: CallPlace,
): ToolCallRecord | undefined {
  return callAt(head, place) ?? pastCalls.findLast((call) => isSamePlace(place, call));
}

/** The call of an attempt, while the result of that attempt is still awaited. */
export function awaitedCall(
  head: ThreadHead,
  attempted: CallPlace & { attempt: number },
): ToolCallRecord | undefined {
  const call = callAt(head, attempted);
  const isAwaited = call !== undefined && (isUnfinished(call) || call.status === 'deferred');
  return isAwaited && call.attempts === attempted.attempt ? call : undefined;
}

/** The call with this id. Throws `not-found`. */
export function callOfId(
  state: Readonly<ThreadState>,
  toolCallId: string,
  now: number,
): ToolCallRecord {
  const call = callsOf(state, now).find((other) => other.toolCallId === toolCallId);
  if (call !== undefined) return call;
  throw new HoldpointError(
    'not-found',
    `Thread ${state.threadId} has no call ${toolCallId}. Its calls are in thread.calls.`,
  );
}

/** Throws `not-allowed` unless the call has one of `statuses`; `action` describes what they allow. */
export function refuseUnless(
  { toolCallId, status }: ToolCallRecord,
  statuses: readonly ToolCallStatus[],
  action: string,
): void {
  if (statuses.includes(status)) return;
  throw new HoldpointError(
    'not-allowed',
    `Call ${toolCallId} is ${status}; ${action} only while it is ${statuses.join(' or ')}.`,
  );
}
