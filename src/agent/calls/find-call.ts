import type { ToolCallRecord, ToolCallStatus } from '../../content/tool-call.ts';
import { HoldpointError } from '../../errors.ts';
import { callsOf, type ThreadState } from '../../thread/thread-state.ts';

/** The call of an id. Throws `unknown-call`. */
export function callNamed(
  state: Readonly<ThreadState>,
  toolCallId: string,
  now: number,
): ToolCallRecord {
  const call = callsOf(state, now).find((other) => other.toolCallId === toolCallId);
  if (call !== undefined) return call;
  throw new HoldpointError(
    'unknown-call',
    `Thread ${state.threadId} has no call ${toolCallId}. Its calls are in thread.calls.`,
  );
}

/** Throws `not-allowed` for a call that stands otherwise; `what` can be done for one of these statuses alone. */
export function refuseUnless(
  { toolCallId, status }: ToolCallRecord,
  statuses: readonly ToolCallStatus[],
  what: string,
): void {
  if (statuses.includes(status)) return;
  throw new HoldpointError(
    'not-allowed',
    `Call ${toolCallId} is ${status}; ${what} for one that is ${statuses.join(' or ')}.`,
  );
}
