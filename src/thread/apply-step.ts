import type { ToolCallRecord } from '../content/tool-call.ts';
import { endBeside } from './apply-request.ts';
import { proposedCalls } from './proposed-calls.ts';
import type { ThreadEventOf } from './thread-event.ts';
import { endsTurn, isModelDue } from './thread-state.ts';
import { toolParts } from './tool-result.ts';
import { callAt, tampered, type Writing } from './writing.ts';

/** Writes what happens to messages, steps and calls. */
export function addMessage(
  writing: Writing,
  { message, place, principal }: ThreadEventOf<'message-added'>,
): void {
  const { draft } = writing;
  const { calls, queuedMessages, newlyPast } = draft;
  if (calls.length > 0) queuedMessages.push(message);
  else newlyPast.messages.push(message);
  if (calls.length === 0 && place === undefined) {
    const { modelIsNext, isStopped, requestedBy } = draft;
    draft.unanswered = [...draft.unanswered, { modelIsNext, isStopped, requestedBy }];
  }
  draft.modelIsNext = true;
  if (place !== undefined) return;
  draft.requestedBy = principal;
  draft.isStopped = false;
  draft.failure = undefined;
}

/** The last message leaves the history, and the thread stands where it stood before it. */
export function retractMessage(
  { draft }: Writing,
  event: ThreadEventOf<'message-retracted'>,
): void {
  const { unanswered, newlyPast } = draft;
  const before = unanswered.at(-1);
  if (before === undefined) throw tampered(event, 'no message is without a reply');
  if (newlyPast.messages.pop() === undefined) newlyPast.retracted += 1;
  draft.unanswered = unanswered.slice(0, -1);
  draft.modelIsNext = before.modelIsNext;
  draft.isStopped = before.isStopped;
  draft.requestedBy = before.requestedBy;
  draft.failure = undefined;
}

/** A run takes the thread, or keeps it; a renewal does not undo that somebody wants the run to end. */
export function holdThread(
  { draft }: Writing,
  { type, runId, leaseUntil }: ThreadEventOf<'run-started' | 'run-renewed'>,
): void {
  draft.run = { ...(type === 'run-renewed' ? draft.run : {}), runId, leaseUntil };
  draft.isOutOfSteps = false;
}

export function endRun(
  { draft }: Writing,
  { error, aborted, stopped, retryAt }: ThreadEventOf<'run-ended'>,
): void {
  draft.run = undefined;
  if (stopped === true) stopTurn(draft);
  /* A run that nothing stopped, and that did not bring the model's turn to its end, had no step left. */
  draft.isOutOfSteps = error === undefined && isModelDue(draft);
  if (error === undefined) draft.failure = undefined;
  else if (aborted !== true) {
    draft.failure = { failures: (draft.failure?.failures ?? 0) + 1, error, retryAt };
  }
}

/* The messages without a reply are of the turn, too: to withdraw the last of them does not bring it back. */
function stopTurn(draft: Writing['draft']): void {
  draft.modelIsNext = false;
  draft.isStopped = true;
  draft.unanswered = draft.unanswered.map((before) => ({
    ...before,
    modelIsNext: false,
    isStopped: true,
  }));
}

export function finishStep(writing: Writing, event: ThreadEventOf<'step-finished'>): void {
  const { draft } = writing;
  const { newlyPast } = draft;
  if (draft.calls.length > 0 || event.step !== draft.steps) {
    throw tampered(event, `step ${draft.steps} is next, and open calls must end before it`);
  }
  draft.steps += 1;
  draft.unanswered = [];
  draft.modelIsNext = false;
  if (event.message === undefined) return;
  newlyPast.messages.push(event.message);
  draft.calls = proposedCalls(event.message, event.step);
  for (const { toolCallId } of draft.calls) newlyPast.toolCallIds.push(toolCallId);
}

export function startCall(writing: Writing, event: ThreadEventOf<'call-started'>): void {
  const { run } = writing.draft;
  const call = ownCallAt(writing, event, ['proposed', 'approved', 'started', 'indeterminate']);
  if (call.status === 'started' && call.runId === run?.runId) {
    throw tampered(event, 'this run has started the call already');
  }
  call.status = 'started';
  call.runId = run?.runId;
  call.startedAt = event.at;
  call.attempts += 1;
  call.recoveries = undefined;
  call.recoverAt = undefined;
}

export function deferCall(writing: Writing, event: ThreadEventOf<'call-deferred'>): void {
  const call = ownCallAt(writing, event, ['proposed', 'approved', 'started', 'indeterminate']);
  call.status = 'deferred';
  if (event.expiresAt !== undefined) call.expiresAt = event.expiresAt;
}

export function abandonCall(writing: Writing, event: ThreadEventOf<'call-abandoned'>): void {
  callAt(writing, event, event, ['started', 'indeterminate']).status = 'proposed';
  endBeside(writing, event, event);
}

/** The run that started a call is gone. */
export function loseCall(writing: Writing, event: ThreadEventOf<'call-lost'>): void {
  const call = callAt(writing, event, event, ['started']);
  call.status = 'indeterminate';
  call.recoverAt = event.recoverAt;
}

/** A tool could not tell what became of a lost call. */
export function failRecovery(writing: Writing, event: ThreadEventOf<'recovery-failed'>): void {
  const call = callAt(writing, event, event, ['indeterminate']);
  call.recoveries = (call.recoveries ?? 0) + 1;
  call.recoverAt = event.recoverAt;
}

const unended = [
  'proposed',
  'waiting',
  'approved',
  'started',
  'deferred',
  'indeterminate',
] as const;

export function endCall(writing: Writing, event: ThreadEventOf<'call-ended'>): void {
  const call = callAt(writing, event, event, unended);
  refuseForeignEnd(event, call);
  /* Somebody looked into it: the run that follows is a new beginning. */
  if (event.source !== undefined) writing.draft.failure = undefined;
  if (event.source === 'delivered') writing.draft.isStopped = false;
  endBeside(writing, event, event);
  call.status = event.outcome.status;
  call.outcome = event.outcome;
  if (writing.draft.calls.every(({ outcome }) => outcome !== undefined)) completeStep(writing);
}

/** A call that begins: one that is ours to run. What the provider runs is never begun here, whatever a log says. */
function ownCallAt(
  writing: Writing,
  event: ThreadEventOf<'call-started' | 'call-deferred'>,
  statuses: readonly ToolCallRecord['status'][],
): ToolCallRecord {
  const call = callAt(writing, event, event, statuses);
  if (call.providerApprovalId === undefined) return call;
  throw tampered(event, `the provider runs call ${call.step}.${call.index}`);
}

/** A provider's call ends here when the provider is answered: with yes after a person's word alone, and never with a result. */
function refuseForeignEnd(event: ThreadEventOf<'call-ended'>, call: ToolCallRecord): void {
  const { status } = event.outcome;
  const isForeign =
    call.providerApprovalId === undefined
      ? status === 'forwarded'
      : status === 'succeeded' || (status === 'forwarded' && call.status !== 'approved');
  if (!isForeign) return;
  throw tampered(event, `call ${call.step}.${call.index} can't be ${status}`);
}

/** Every call has its result: the tool message is written, in the model's order, and the model is next, unless one ended the turn. */
function completeStep({ draft }: Writing): void {
  const { calls, queuedMessages, newlyPast } = draft;
  newlyPast.messages.push({ role: 'tool', content: calls.flatMap(toolParts) });
  newlyPast.messages.push(...queuedMessages);
  newlyPast.calls.push(...calls);
  draft.calls = [];
  draft.queuedMessages = [];
  draft.unanswered = [];
  draft.modelIsNext = !draft.isStopped && !calls.some(endsTurn);
}
