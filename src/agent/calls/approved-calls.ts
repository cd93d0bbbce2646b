import type { ThreadEvent } from '../../thread/thread-event.ts';
import { dueCalls, type ThreadHead, type ThreadState } from '../../thread/thread-state.ts';
import { type ApprovedCall, checkApproved } from './check-approved.ts';
import type { DecisionInput } from './decide-calls.ts';

/** What was found out about approved calls, by request: the events of their start, or of why they may not start. */
export type CheckedCalls = ReadonlyMap<string, readonly ThreadEvent[]>;

/** Checks a last time the calls of a head that a person approved and that can go on now. Nothing is recorded here. */
export async function checkApprovedCalls(
  decisions: DecisionInput,
  state: ThreadState,
  head: ThreadHead,
): Promise<CheckedCalls> {
  const checked = await Promise.all(
    approvedCalls(state, head).map(async (approved): Promise<[string, readonly ThreadEvent[]]> => [
      approved.request.requestId,
      await checkApproved(decisions, approved),
    ]),
  );
  return new Map(checked.filter(([, events]) => events.length > 0));
}

/** Each of those calls, with what was shown. */
function approvedCalls(state: ThreadState, head: ThreadHead): ApprovedCall[] {
  const justEnded = new Map(
    head.settling.requests.map((ended) => [ended.request.requestId, ended]),
  );
  return dueCalls(head).flatMap((call) => {
    if (call.requestId === undefined) return [];
    const ended = justEnded.get(call.requestId) ?? state.endedRequests.get(call.requestId);
    return ended?.request.type === 'approval-request' ? [{ call, request: ended.request }] : [];
  });
}

/** What was found out, for the calls of a newer head that can go on still. */
export function eventsOfApproved(head: ThreadHead, checked: CheckedCalls): ThreadEvent[] {
  return dueCalls(head).flatMap((call) => checked.get(call.requestId ?? '') ?? []);
}
