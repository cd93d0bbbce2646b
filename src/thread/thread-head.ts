import type { ModelMessage } from 'ai';
import type { ThreadCaller } from '../content/caller.ts';
import type { Grant } from '../content/grant.ts';
import { awaitedBy, type CallPlace, type ToolCallRecord } from '../content/tool-call.ts';
import type {
  UserInputRequest,
  UserInputResponseContent,
  RequestDecision,
} from '../content/user-input.ts';
import type { ParentCall } from './events/fields.ts';
import type { LogEnd, ThreadStatus, ThreadSummary } from './thread-store.ts';

/** The failure of the latest runs. */
export interface RunFailure {
  /** The number of runs in a row that have failed. */
  failures: number;
  /** The message of the latest failure. */
  error: string;
  /** The time when the run is retried, in milliseconds since 1970. Absent: only when the app runs it. */
  retryAt?: number | undefined;
}

/** A request without an answer. */
export interface OpenRequest {
  request: UserInputRequest;
  /** The call that it is about. */
  place?: CallPlace | undefined;
  /** The call during which its tool or sub-agent asks. */
  beside?: CallPlace | undefined;
  /** The step of a custom agent that asks. */
  step?: number | undefined;
  /** The address at which the tool or sub-agent receives the answer. */
  replyTo?: unknown;
  /** True if its reminder is recorded. */
  isReminded?: true;
}

/** A request that was answered or closed. */
export interface EndedRequest extends OpenRequest, Omit<RequestDecision, 'status' | 'request'> {
  response?: UserInputResponseContent;
  /** The time until which an approval can start something, in milliseconds since 1970; afterwards it is asked again. */
  startBy?: number;
  cause?: 'expired' | 'cancelled' | 'invalidated';
  /** The person in whose right it was answered, if another person answered it. */
  onBehalfOf?: string | undefined;
  /** Among those of a custom agent's latest step: a stop holds this approval, and the next step waits until a person releases it. */
  held?: true | undefined;
}

/** An answer that the tool or sub-agent of a call may not have received yet. */
export interface UnsentAnswer {
  request: UserInputRequest;
  response: UserInputResponseContent;
  beside: CallPlace;
  replyTo?: unknown;
  principal?: unknown;
  channel?: string | undefined;
}

/** The part of a thread that can change. Its size doesn't grow with the length of the log. */
export interface ThreadHead {
  created: boolean;
  /** The name of the agent that the thread belongs to. */
  agent: string | undefined;
  /** The delegated call, in a child thread. */
  parent: ParentCall | undefined;
  /** The principal of the latest message. */
  requestedBy: unknown;
  /** The senders of the messages that are unanswered, or else were answered last, each once. `null` stands for an unknown person. */
  requesters: readonly unknown[];
  /** True if the model has answered the messages of `requesters`: a later message is not theirs. */
  isAnswered: boolean;
  /** The number of finished steps. */
  steps: number;
  /** The progress that a custom agent's latest step returned. */
  progress: unknown;
  /** The requests of a custom agent's latest step that are no longer open, in the order in which they ended. */
  decided: EndedRequest[];
  /** The run that holds the thread. With `isStopping`, it was asked to stop. */
  run: { runId: string; leaseUntil: number; isStopping?: true } | undefined;
  /** Set if the latest run failed, until an input arrives or a run succeeds. */
  failure: RunFailure | undefined;
  /** The caller from outside that waits for the outcome. */
  caller: ThreadCaller | undefined;
  /** All calls of the latest step, in the model's order, while one of them is open; otherwise none. */
  calls: ToolCallRecord[];
  openRequests: OpenRequest[];
  /** The standing approvals of this thread, oldest first: neither revoked nor used up. They may have expired. */
  grants: readonly {
    grant: Grant;
    /** The number of further calls that it decides. Absent: no limit, as a snapshot can't express `Infinity`. */
    usesLeft?: number | undefined;
  }[];
  /** Answers that tools have not received, oldest first. */
  unsentAnswers: UnsentAnswer[];
  /** Messages that arrived while calls were open. */
  queuedMessages: ModelMessage[];
  /** The states to restore if messages are retracted: one for each message from the app that has no reply. */
  unanswered: readonly Pick<
    ThreadHead,
    'modelIsNext' | 'isStopped' | 'requestedBy' | 'requesters' | 'isAnswered'
  >[];
  /** True if the model is called next. */
  modelIsNext: boolean;
  /** True if a person stopped the turn: later results don't make the model next. */
  isStopped: boolean;
  /** True if the latest run reached its step limit; the app decides whether the turn resumes. */
  isOutOfSteps: boolean;
  /** The messages, calls and requests that events which are proposed and not yet appended made past; empty afterwards. */
  newlyPast: {
    messages: ModelMessage[];
    /** The number of the thread's earlier messages that were retracted. */
    retracted: number;
    calls: ToolCallRecord[];
    /** The requests, by id. One that was answered and then closed is there as it was closed. */
    requests: Map<string, EndedRequest>;
    toolCallIds: string[];
  };
}

/** An empty `newlyPast`. */
export function makeNewlyPast(): ThreadHead['newlyPast'] {
  return { messages: [], retracted: 0, calls: [], requests: new Map(), toolCallIds: [] };
}

/** Checks whether a run holds the thread. */
export function isRunning(head: ThreadHead, now: number): boolean {
  return head.run !== undefined && now < head.run.leaseUntil;
}

/** Checks whether a call was started and its outcome is unknown. */
export function isUnfinished({ status }: Pick<ToolCallRecord, 'status'>): boolean {
  return awaitedBy[status] === 'attempt';
}

/** Checks whether a lost call waits for a person: it is not recovered by itself. */
export function needsSettling({
  status,
  recoverAt,
}: Pick<ToolCallRecord, 'status' | 'recoverAt'>): boolean {
  return status === 'indeterminate' && recoverAt === undefined;
}

/** Checks whether too many runs in a row have failed, and none is in progress: a person or the app has to retry. */
export function isStuck({ run, calls, failure }: ThreadHead): boolean {
  const isFailed = failure !== undefined && failure.retryAt === undefined;
  return isFailed && run === undefined && !calls.some(isUnfinished);
}

/** Checks whether a run has not ended but its lease has expired: its process has died or stalled. */
export function isAbandoned({ run }: ThreadHead, now: number): boolean {
  return run !== undefined && now >= run.leaseUntil;
}

/** Checks whether two places are the same call. */
export function isSamePlace(one: CallPlace | undefined, { step, index }: CallPlace): boolean {
  return one?.step === step && one.index === index;
}

/** The call of the open step at a place. */
export function callAt(
  { calls }: Pick<ThreadHead, 'calls'>,
  place: CallPlace | undefined,
): ToolCallRecord | undefined {
  const call = place && calls[place.index];
  return call?.step === place?.step ? call : undefined;
}

/** The call of an attempt, while the result of that attempt is still awaited. */
export function findAwaitedCall(
  head: ThreadHead,
  attempted: CallPlace & { attempt: number },
): ToolCallRecord | undefined {
  const call = callAt(head, attempted);
  const isAwaited = call !== undefined && (isUnfinished(call) || call.status === 'deferred');
  return isAwaited && call.attempts === attempted.attempt ? call : undefined;
}

/** Checks whether a request or a deferred call has expired; without `expiresAt` it never does. */
export function isExpired(
  { expiresAt = Infinity }: { expiresAt?: number | undefined },
  now: number,
): boolean {
  return expiresAt <= now;
}

/** Checks whether a request of a custom agent's latest step is approved, which the next step would use. */
export function isUnusedApproval({ response, cause }: EndedRequest): boolean {
  return cause === undefined && response?.type === 'approval-response' && response.approved;
}

/** Checks whether a request, or the call during which it is asked, has expired. */
export function isOverdue(
  head: Pick<ThreadHead, 'calls'>,
  { request, beside }: OpenRequest,
  now: number,
): boolean {
  const call = callAt(head, beside);
  return isExpired(request, now) || (call !== undefined && isExpired(call, now));
}

/** Computes when a reminder of an open request is due; `undefined` for never. A sub-agent reminds of its own requests. */
export function computeRemindAt({ request, isReminded, beside }: OpenRequest): number | undefined {
  const isDue = request.type === 'approval-request' && isReminded !== true && beside === undefined;
  return isDue ? request.remindAt : undefined;
}

/** Checks whether the outcome of a call ends the turn: the model is not called before the next message. */
export function endsTurn({ outcome }: Pick<ToolCallRecord, 'outcome'>): boolean {
  return outcome?.status === 'failed' && outcome.endsTurn === true;
}

/** The status of a thread at a time: leases expire without a write. */
export function computeThreadStatus(head: ThreadHead, now: number): ThreadStatus {
  if (isRunning(head, now)) return 'running';
  if (head.calls.some(isUnfinished)) return 'indeterminate';
  if (head.failure !== undefined && head.failure.retryAt === undefined) return 'stuck';
  if (head.openRequests.length > 0 || head.decided.some(isHeld)) return 'waiting';
  if (needsRun(head) && !head.isOutOfSteps) return 'due';
  return head.calls.length > 0 ? 'waiting' : 'idle';
}

/**
 * Computes when the thread needs a run, in milliseconds since 1970; 0 means now, and `undefined` that it waits only for people or the app.
 * The time is derived from the log, so that it doesn't depend on which worker polls, or how often.
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
  const summary: ThreadSummary = {
    threadId,
    status: computeThreadStatus(head, now),
    revision: end.revision,
    hash: end.hash,
    openRequests: head.openRequests.length,
    failures: head.failure?.failures ?? 0,
    updatedAt: now,
  };
  const nextDeadline = computeNextDeadline(head);
  if (head.agent !== undefined) summary.agent = head.agent;
  if (nextDeadline !== undefined) summary.nextDeadline = nextDeadline;
  return summary;
}

/* The next act of a thread's run. */

/** Checks whether the model can be called now: it is next, no call is open, and no request of the latest step, and no approval is held. */
export function isModelDue({ modelIsNext, calls, openRequests, decided }: ThreadHead): boolean {
  const isWaiting = openRequests.some(({ step }) => step !== undefined) || decided.some(isHeld);
  return modelIsNext && calls.length === 0 && !isWaiting;
}

/** Checks whether a person stopped the turn before its reply began, so that it can be resumed: no message of it is lost. */
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

/** Counts how many more calls may start if `limit` may run at once. */
export function countFreeSlots({ calls }: Pick<ThreadHead, 'calls'>, limit: number): number {
  return Math.max(0, limit - calls.filter(isUnfinished).length);
}

/** Checks whether a call may start and has not: it is approved and not held, or needs no approval and waits for its turn. */
export function isUnstarted(call: Pick<ToolCallRecord, 'status' | 'held'>): boolean {
  return awaitedBy[call.status] === 'start' && !isHeld(call);
}

/** Checks whether a stop holds what people have approved. */
export function isHeld({ held }: { held?: true | undefined }): boolean {
  return held === true;
}

/** Checks whether all that was decided for a custom agent's next step still is: nothing of it was taken back or held since. */
export function keepsDecisions(
  { decided }: Pick<ThreadHead, 'decided'>,
  before: Pick<ThreadHead, 'decided'>,
): boolean {
  return before.decided.every((ended) => decided.includes(ended));
}

/** Checks whether a delegated call is due to be resumed at `now`. */
export function isResumable({ status, resumeAt = Infinity }: ToolCallRecord, now: number): boolean {
  return status === 'deferred' && resumeAt <= now;
}

/** Checks whether a call can start, or be resumed at `now`. */
export function hasDueCalls(head: ThreadHead, now: number): boolean {
  return listDueCalls(head).length > 0 || head.calls.some((call) => isResumable(call, now));
}

/** Checks whether a run would have work: a call to start, one to resume by `now` (default: immediately), an answer to send, or a step. */
export function needsRun(head: ThreadHead, now = 0): boolean {
  return isModelDue(head) || head.unsentAnswers.length > 0 || hasDueCalls(head, now);
}
