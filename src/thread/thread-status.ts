import { needsRun } from './due-work.ts';
import {
  isRunning,
  isUnfinished,
  remindAtOf,
  type RunFailure,
  type ThreadHead,
} from './thread-head.ts';
import type { LogEnd, ThreadStatus, ThreadSummary } from './thread-store.ts';

/** The status of a thread at a time: leases expire without a write. */
export function statusOf(head: ThreadHead, now: number): ThreadStatus {
  if (isRunning(head, now)) return 'running';
  if (head.calls.some(isUnfinished)) return 'indeterminate';
  if (head.failure !== undefined && head.failure.retryAt === undefined) return 'stuck';
  return head.openRequests.length > 0 || head.calls.length > 0 ? 'waiting' : 'idle';
}

/**
 * When the thread needs a run, in milliseconds since 1970; 0 means now, and `undefined` that it waits for people or the app alone. The time
 * is derived from the log, so that it doesn't depend on which worker polls, or how often.
 */
export function nextDeadlineOf(head: ThreadHead): number | undefined {
  const deferred = head.calls.filter(({ status }) => status === 'deferred');
  const expiring = [...head.openRequests.map(({ request }) => request), ...deferred];
  const deadlines = expiring.flatMap(({ expiresAt }) => expiresAt ?? []);
  deadlines.push(...head.openRequests.flatMap((open) => remindAtOf(open) ?? []));
  const lost = head.calls.filter(isUnfinished);
  if (head.run !== undefined) deadlines.push(head.run.leaseUntil);
  else if (lost.length > 0) deadlines.push(...lost.flatMap(({ recoverAt }) => recoverAt ?? []));
  else {
    const [runAt] = runDue(head.failure);
    const resumed = deferred.flatMap(({ resumeAt }) => resumeAt ?? []);
    if (needsRun(head) && !head.isOutOfSteps) resumed.push(0);
    if (runAt !== undefined) deadlines.push(...resumed.map((at) => Math.max(at, runAt)));
  }
  return deadlines.length === 0 ? undefined : Math.min(...deadlines);
}

function runDue(failure: RunFailure | undefined): number[] {
  if (failure === undefined) return [0];
  return failure.retryAt === undefined ? [] : [failure.retryAt];
}

/** The summary that a store keeps of a thread whose log ends at `end`. */
export function summaryOf(
  threadId: string,
  head: ThreadHead,
  { end, now }: { end: LogEnd; now: number },
): ThreadSummary {
  const nextDeadline = nextDeadlineOf(head);
  return {
    threadId,
    ...(head.agent === undefined ? {} : { agent: head.agent }),
    status: statusOf(head, now),
    ...end,
    openRequests: head.openRequests.length,
    failures: head.failure?.failures ?? 0,
    ...(nextDeadline === undefined ? {} : { nextDeadline }),
    updatedAt: now,
  };
}
