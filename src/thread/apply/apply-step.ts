import { partsOf, proposedCalls } from '../proposed-calls.ts';
import type { ThreadEventOf } from '../thread-event.ts';
import { isModelDue, isStoppedBeforeReply } from '../due-work.ts';
import type { ThreadHead } from '../thread-head.ts';
import { type HeadDraft, tampered } from './head-draft.ts';

/* Applies events of messages, runs and steps to a head. */

/* A reply that ended so is not whole: the messages before it are still to be answered. */
const cutOff = new Set(['length', 'content-filter', 'error', 'interrupted']);

export function applyMessageAdded(
  { head }: HeadDraft,
  { message, place, principal, requesters = [principal ?? null] }: ThreadEventOf<'message-added'>,
): void {
  const { calls, queuedMessages, newlyPast } = head;
  if (calls.length > 0) queuedMessages.push(message);
  else newlyPast.messages.push(message);
  if (calls.length === 0 && place === undefined) {
    const { modelIsNext, isStopped, requestedBy, requesters: earlier, isAnswered } = head;
    const before = { modelIsNext, isStopped, requestedBy, requesters: earlier, isAnswered };
    head.unanswered = [...head.unanswered, before];
  }
  head.modelIsNext = true;
  if (place !== undefined) return;
  head.requestedBy = principal;
  head.requesters = withoutRepetition([...(head.isAnswered ? [] : head.requesters), ...requesters]);
  head.isAnswered = false;
  head.isStopped = false;
  head.failure = undefined;
}

function withoutRepetition(principals: readonly unknown[]): unknown[] {
  return [...new Map(principals.map((each) => [JSON.stringify(each), each])).values()];
}

/** A conversation from elsewhere. Its calls are history, but a later call must not have the id of one. */
export function applyMessagesImported(
  { head }: HeadDraft,
  { messages }: ThreadEventOf<'messages-imported'>,
): void {
  const { newlyPast } = head;
  for (const message of messages) {
    newlyPast.messages.push(message);
    for (const part of partsOf(message)) {
      if (part.type === 'tool-call') newlyPast.toolCallIds.push(part.toolCallId);
    }
  }
  const last = messages.at(-1)?.role;
  head.modelIsNext = last === 'user' || last === 'tool';
  /* Whoever imports messages did not write them, and who did is not known. */
  head.requesters = [null];
  head.isAnswered = !head.modelIsNext;
}

/** The last message leaves the history, and the thread is again as it was before it. */
export function applyMessageRetracted(
  { head }: HeadDraft,
  event: ThreadEventOf<'message-retracted'>,
): void {
  const { unanswered, newlyPast } = head;
  const before = unanswered.at(-1);
  if (before === undefined) throw tampered(event, 'no message is without a reply');
  if (newlyPast.messages.pop() === undefined) newlyPast.retracted += 1;
  head.unanswered = unanswered.slice(0, -1);
  head.modelIsNext = before.modelIsNext;
  head.isStopped = before.isStopped;
  head.requestedBy = before.requestedBy;
  head.requesters = before.requesters;
  head.isAnswered = before.isAnswered;
  head.failure = undefined;
}

/** A run takes or keeps the lease. A renewal does not undo a stop request. */
export function applyRunHeld(
  { head }: HeadDraft,
  event: ThreadEventOf<'run-started' | 'run-renewed'>,
): void {
  const { type, runId, leaseUntil } = event;
  head.run = { ...(type === 'run-renewed' ? head.run : {}), runId, leaseUntil };
  head.isOutOfSteps = false;
  if (type !== 'run-started' || event.resumesStopped !== true) return;
  if (!isStoppedBeforeReply(head)) throw tampered(event, 'no turn was stopped before its reply');
  head.isStopped = false;
  head.modelIsNext = true;
}

export function applyStopRequested(
  { head }: HeadDraft,
  event: ThreadEventOf<'stop-requested'>,
): void {
  if (head.run?.runId !== event.runId) throw tampered(event, `run ${event.runId} is not running`);
  head.run = { ...head.run, isStopping: true };
}

export function applyRunEnded(
  { head }: HeadDraft,
  { error, aborted, stopped, retryAt }: ThreadEventOf<'run-ended'>,
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
  head.modelIsNext = false;
  head.isStopped = true;
  head.unanswered = head.unanswered.map((before) => ({
    ...before,
    modelIsNext: false,
    isStopped: true,
  }));
}

export function applyStepFinished(
  { head, requests }: HeadDraft,
  event: ThreadEventOf<'step-finished'>,
): void {
  const { newlyPast } = head;
  const isWaiting = [...requests.values()].some(({ step }) => step !== undefined);
  if (head.calls.length > 0 || isWaiting || event.step !== head.steps) {
    throw tampered(
      event,
      `step ${head.steps} is next, and open calls and requests must end before it`,
    );
  }
  head.steps += 1;
  head.unanswered = [];
  head.progress = event.progress;
  head.decided = [];
  head.modelIsNext = event.continues === true;
  head.isAnswered = event.continues !== true && !cutOff.has(event.finishReason);
  if (event.message === undefined) return;
  newlyPast.messages.push(event.message);
  head.calls = proposedCalls(event.message, event.step);
  if (head.calls.length > 0) head.isAnswered = false;
  const toolCallIds = head.calls.map(({ toolCallId }) => toolCallId);
  if (new Set(toolCallIds).size < toolCallIds.length) {
    throw tampered(event, 'two of its calls have the same id');
  }
  newlyPast.toolCallIds.push(...toolCallIds);
}
