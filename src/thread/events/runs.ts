import { z } from 'zod';
import {
  callAt,
  isHeld,
  isModelDue,
  isStoppedBeforeReply,
  type ThreadHead,
} from '../thread-head.ts';
import { always, by, namedBy } from './fields.ts';
import { type HeadDraft, holdApprovals, makeTamperedError } from './head-draft.ts';

/* Runs: who holds the thread, and until when. */

/**
 * A run holds the thread until `leaseUntil`, in milliseconds since 1970. The `principal` is the person who caused it, or in a child thread
 * the parent's run; absent in a worker. With `resumesStopped`, this person resumed a turn that had been stopped before its reply.
 */
const runStarted = z.strictObject({
  type: z.literal('run-started'),
  ...always,
  runId: z.string(),
  leaseUntil: z.number(),
  resumesStopped: z.literal(true).optional(),
  ...by,
});

/** The run holds the thread for longer. */
const runRenewed = z.strictObject({
  type: z.literal('run-renewed'),
  ...always,
  runId: z.string(),
  leaseUntil: z.number(),
});

/** Applies that a run takes or keeps the lease. A renewal does not undo a stop request. */
export function applyRunHeld(
  event: z.infer<typeof runStarted> | z.infer<typeof runRenewed>,
  { head }: HeadDraft,
): void {
  const { type, runId, leaseUntil } = event;
  head.run = { ...(type === 'run-renewed' ? head.run : {}), runId, leaseUntil };
  head.isOutOfSteps = false;
  if (type !== 'run-started' || event.resumesStopped !== true) return;
  if (!isStoppedBeforeReply(head))
    throw makeTamperedError(event, 'no turn was stopped before its reply');
  head.isStopped = false;
  head.modelIsNext = true;
}

/** A person asked the run to stop, from this process or another. */
const stopRequested = z.strictObject({
  type: z.literal('stop-requested'),
  ...always,
  runId: z.string(),
  ...by,
});

export function applyStopRequested(
  event: z.infer<typeof stopRequested>,
  { head }: HeadDraft,
): void {
  if (head.run?.runId !== event.runId)
    throw makeTamperedError(event, `run ${event.runId} is not running`);
  head.run = { ...head.run, isStopping: true };
}

/**
 * The run no longer holds the thread. `error` is set if the run did not finish its work. With `aborted`, the app's signal ended it.
 * Otherwise the run failed, and is retried at `retryAt`, in milliseconds since 1970, or, without that, only when the app runs it. With
 * `stopped`, a person ended the turn: the model is not called before the next message or answer, and approved calls that have not begun are
 * held. The person is recorded here if no run held the thread, and in `stop-requested` otherwise.
 */
const runEnded = z.strictObject({
  type: z.literal('run-ended'),
  ...always,
  error: z.string().optional(),
  aborted: z.literal(true).optional(),
  stopped: z.literal(true).optional(),
  retryAt: z.number().optional(),
  ...namedBy,
});

export function applyRunEnded(
  { error, aborted, stopped, retryAt }: z.infer<typeof runEnded>,
  { head }: HeadDraft,
): void {
  head.run = undefined;
  if (stopped === true) stopTurn(head);
  /* A run that ended without an error while the model was due had reached its step limit. */
  head.isOutOfSteps = error === undefined && isModelDue(head);
  if (error === undefined) head.failure = undefined;
  else if (aborted !== true) {
    head.failure = { failures: (head.failure?.failures ?? 0) + 1, error, retryAt };
  }
}

/* The messages without a reply are part of the turn: retracting the last of them must not resume it. */
function stopTurn(head: ThreadHead): void {
  holdApprovals(head, { andRestarts: true });
  head.modelIsNext = false;
  head.isStopped = true;
  head.unanswered = head.unanswered.map((before) => ({
    ...before,
    modelIsNext: false,
    isStopped: true,
  }));
}

/**
 * A person who may reject these requests released their approvals, which a stop had held: the approved calls can start. In the thread of a
 * delegated call, these are requests of the sub-agent, which has recorded it.
 */
const approvalsReleased = z.strictObject({
  type: z.literal('approvals-released'),
  ...always,
  requestIds: z.array(z.string()).min(1),
  ...namedBy,
});

export function applyApprovalsReleased(
  event: z.infer<typeof approvalsReleased>,
  draft: HeadDraft,
): void {
  const { head } = draft;
  const decided = new Map(head.decided.map(({ request }, index) => [request.requestId, index]));
  for (const requestId of event.requestIds) {
    if (!release(draft, requestId, decided.get(requestId) ?? -1))
      throw makeTamperedError(event, `no approval of request ${requestId} is held`);
  }
  head.isStopped = false;
  head.failure = undefined;
}

/** Releases the approval of a request, which may be the one at `index` of `decided`. Returns whether there was one to release. */
function release({ head, endedRequests }: HeadDraft, requestId: string, index: number): boolean {
  const ended = head.newlyPast.requests.get(requestId) ?? endedRequests.get(requestId);
  const call = callAt(head, ended?.place);
  if (call?.requestId === requestId && isHeld(call)) {
    call.held = undefined;
    return true;
  }
  const decision = head.decided[index];
  if (decision !== undefined && isHeld(decision)) {
    head.decided[index] = { ...decision, held: undefined };
    head.modelIsNext = true;
    return true;
  }
  /* A sub-agent's: its call is resumed. */
  const delegated = callAt(head, ended?.beside);
  if (delegated?.status === 'deferred') delegated.resumeAt = 0;
  return delegated !== undefined;
}

export const runSchemas = [
  runStarted,
  runRenewed,
  stopRequested,
  runEnded,
  approvalsReleased,
] as const;
