import type { ToolCallRecord } from '../../content/tool-call.ts';
import { equalJson } from '../../policy/digest.ts';
import type { Proposal } from '../../thread/proposal.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import { isSamePlace, isUnsettled, type ThreadHead } from '../../thread/thread-state.ts';
import type { AgentContext } from './agent-context.ts';
import { endEvents } from '../calls/close-requests.ts';
import type { Attempt, Finished } from './executions.ts';
import { lostEvent } from './lost-calls.ts';

/** The events that record results. A result of a call that has ended otherwise, or was begun again, is kept as a late one. */
export function resultEvents(
  context: AgentContext,
  proposal: Proposal,
  finished: readonly Finished[],
): ThreadEvent[] {
  const { head } = proposal;
  const at = context.now();
  return finished.flatMap(({ attempt, execution }): ThreadEvent[] => {
    const { step, index } = attempt;
    const call = callOf(head, attempt);
    if (call === undefined) return lateEvents(proposal, { attempt, execution }, at);
    if (execution.type === 'ended') {
      return endEvents(head, { type: 'call-ended', at, step, index, outcome: execution.outcome });
    }
    if (execution.type === 'lost') {
      return call.status === 'started' ? [lostEvent(context, call, at, at + context.leaseMs)] : [];
    }
    if (call.status === 'deferred') return [];
    const { expiresAfterMs } = execution;
    const expiry = expiresAfterMs === undefined ? {} : { expiresAt: at + expiresAfterMs };
    return [{ type: 'call-deferred', at, step, index, ...expiry }];
  });
}

/** The call of an attempt, while that attempt is the one whose result is awaited. */
export function callOf(
  { calls }: ThreadHead,
  { step, index, attempt }: Attempt,
): ToolCallRecord | undefined {
  const call = calls[index];
  const isAwaited = call !== undefined && (isUnsettled(call) || call.status === 'deferred');
  return isAwaited && call.step === step && call.attempts === attempt ? call : undefined;
}

/* What was recorded as the outcome already is no news: it was delivered, and then returned. */
function lateEvents(
  { state, head }: Proposal,
  { attempt: { attempt, ...place }, execution }: Finished,
  at: number,
): ThreadEvent[] {
  const calls = [...head.calls, ...head.settling.calls, ...state.settledCalls];
  const call = calls.find((each) => isSamePlace(each, place));
  if (call === undefined || execution.type !== 'ended') return [];
  const { outcome } = execution;
  if (call.attempts === attempt && call.outcome !== undefined && equalJson(call.outcome, outcome))
    return [];
  return [{ type: 'late-result', at, ...place, attempt, outcome }];
}
