import { awaitedBy, type ToolCallRecord } from '../content/tool-call.ts';
import { isUnfinished, type ThreadHead } from './thread-head.ts';

/* What a run of a thread would do next. */

/** Whether the model can be called now: it is next, no call is open, and no request of the latest step. */
export function isModelDue({ modelIsNext, calls, openRequests }: ThreadHead): boolean {
  return modelIsNext && calls.length === 0 && openRequests.every(({ step }) => step === undefined);
}

/** Whether a person stopped the turn before its reply began, so that it can be resumed: no message of it is lost. */
export function isStoppedBeforeReply({ isStopped, unanswered }: ThreadHead): boolean {
  return isStopped && unanswered.length > 0;
}

/**
 * The calls that can proceed now: those that run here at once, and those that the provider runs when no other call of the step is open,
 * because their answers are part of the next request to the model. Until then they can expire or be cancelled. With a `limit` of calls
 * that run at once, those whose turn it is.
 */
export function dueCalls({ calls }: ThreadHead, limit = Infinity): ToolCallRecord[] {
  const allowed = calls.filter(isUnstarted);
  const own = allowed.filter(({ providerApprovalId }) => providerApprovalId === undefined);
  const open = calls.filter(({ outcome }) => outcome === undefined);
  if (own.length === 0 && open.length === allowed.length) return allowed;
  return own.slice(0, freeSlots({ calls }, limit));
}

/** How many more calls may start if `limit` may run at once. */
export function freeSlots({ calls }: Pick<ThreadHead, 'calls'>, limit: number): number {
  return Math.max(0, limit - calls.filter(isUnfinished).length);
}

/** Whether a call may start and has not: it is approved, or needs no approval and waits for its turn. */
export function isUnstarted({ status }: Pick<ToolCallRecord, 'status'>): boolean {
  return awaitedBy[status] === 'start';
}

/** Whether a delegated call is due to be resumed at `now`. */
export function isResumable({ status, resumeAt = Infinity }: ToolCallRecord, now: number): boolean {
  return status === 'deferred' && resumeAt <= now;
}

/** Whether a call can start, or be resumed at `now`. */
export function hasDueCalls(head: ThreadHead, now: number): boolean {
  return dueCalls(head).length > 0 || head.calls.some((call) => isResumable(call, now));
}

/** Whether a run would have work: a call to start, one to resume by `now` (default: immediately), an answer to send, or a step. */
export function needsRun(head: ThreadHead, now = 0): boolean {
  return isModelDue(head) || head.unsentAnswers.length > 0 || hasDueCalls(head, now);
}
