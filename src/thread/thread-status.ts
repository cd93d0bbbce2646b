import { awaitedBy, type ToolCallRecord } from '../content/tool-call.ts';
import { isRunning, isUnfinished, computeRemindAt, type ThreadHead } from './thread-head.ts';
import type { LogEnd, ThreadStatus, ThreadSummary } from './thread-store.ts';

/** The status of a thread at a time: leases expire without a write. */
export function computeThreadStatus(head: ThreadHead, now: number): ThreadStatus {
  if (isRunning(head, now)) return 'running';
  if (head.calls.some(isUnfinished)) return 'indeterminate';
  if (head.failure !== undefined && head.failure.retryAt === undefined) return 'stuck';
  return head.openRequests.length > 0 || head.calls.length > 0 ? 'waiting' : 'idle';
}

/**
 * When the thread needs a run, in milliseconds since 1970; 0 means now, and `undefined` that it waits for people or the app alone. The time
 * is derived from the log, so that it doesn't depend on which worker polls, or how often.
 */
export function computeNextDeadline(head: ThreadHead): number | undefined {
  let next = Infinity;
  const consider = (at: number | undefined): void => {
    if (at !== undefined && at < next) next = at;
  };
  for (const open of head.openRequests) {
    consider(open.request.expiresAt);
    consider(computeRemindAt(open));
  }
  for (const { status, expiresAt } of head.calls) if (status === 'deferred') consider(expiresAt);
  if (head.run !== undefined) consider(head.run.leaseUntil);
  else if (head.calls.some(isUnfinished)) {
    for (const call of head.calls) if (isUnfinished(call)) consider(call.recoverAt);
  } else {
    const runAt = head.failure === undefined ? 0 : head.failure.retryAt;
    if (runAt !== undefined) {
      for (const { status, resumeAt } of head.calls) {
        if (status === 'deferred' && resumeAt !== undefined) consider(Math.max(resumeAt, runAt));
      }
      if (needsRun(head) && !head.isOutOfSteps) consider(runAt);
    }
  }
  return next === Infinity ? undefined : next;
}

/** The summary that a store keeps of a thread whose log ends at `end`. */
export function summarizeThread(
  threadId: string,
  head: ThreadHead,
  { end, now }: { end: LogEnd; now: number },
): ThreadSummary {
  const nextDeadline = computeNextDeadline(head);
  return {
    threadId,
    ...(head.agent === undefined ? {} : { agent: head.agent }),
    status: computeThreadStatus(head, now),
    ...end,
    openRequests: head.openRequests.length,
    failures: head.failure?.failures ?? 0,
    ...(nextDeadline === undefined ? {} : { nextDeadline }),
    updatedAt: now,
  };
}

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
export function listDueCalls({ calls }: ThreadHead, limit = Infinity): ToolCallRecord[] {
  const own: ToolCallRecord[] = [];
  const forwarded: ToolCallRecord[] = [];
  let others = 0;
  for (const call of calls) {
    if (isUnstarted(call)) (call.providerApprovalId === undefined ? own : forwarded).push(call);
    else if (call.outcome === undefined) others += 1;
  }
  if (own.length === 0) return others === 0 ? forwarded : [];
  return own.slice(0, countFreeSlots({ calls }, limit));
}

/** How many more calls may start if `limit` may run at once. */
export function countFreeSlots({ calls }: Pick<ThreadHead, 'calls'>, limit: number): number {
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
  return listDueCalls(head).length > 0 || head.calls.some((call) => isResumable(call, now));
}

/** Whether a run would have work: a call to start, one to resume by `now` (default: immediately), an answer to send, or a step. */
export function needsRun(head: ThreadHead, now = 0): boolean {
  return isModelDue(head) || head.unsentAnswers.length > 0 || hasDueCalls(head, now);
}
