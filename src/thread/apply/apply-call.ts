import { openCallStatuses, type ToolCallRecord } from '../../content/tool-call.ts';
import type { ThreadEventOf } from '../thread-event.ts';
import { endsTurn } from '../thread-head.ts';
import { endAsking } from './apply-request.ts';
import { type HeadDraft, openCallAt, tampered } from './head-draft.ts';
import { toolParts } from './tool-result.ts';

/* Applies events of calls to a head. */

export function applyCallStarted(draft: HeadDraft, event: ThreadEventOf<'call-started'>): void {
  const { run } = draft.head;
  const call = ownCallAt(draft, event, [...startableStatuses, 'deferred']);
  if (call.status === 'started' && call.runId === run?.runId) {
    throw tampered(event, 'this run has started the call already');
  }
  if (call.status === 'deferred' && call.agent === undefined) {
    throw tampered(event, 'the call continues elsewhere');
  }
  call.status = 'started';
  call.runId = run?.runId;
  call.startedAt = event.at;
  if (event.expiresAt !== undefined) call.expiresAt ??= event.expiresAt;
  call.attempts += 1;
  if (call.agent !== undefined) {
    const { name, threadId } = call.agent;
    call.agent = { name, threadId };
  }
  call.recoveries = undefined;
  call.recoverAt = undefined;
  call.resumeAt = undefined;
}

const startableStatuses = ['proposed', 'approved', 'started', 'indeterminate'] as const;

export function applyCallDeferred(draft: HeadDraft, event: ThreadEventOf<'call-deferred'>): void {
  const { expiresAt, agent, resumeAt } = event;
  const call = ownCallAt(draft, event, startableStatuses);
  call.status = 'deferred';
  call.resumeAt = resumeAt;
  if (expiresAt !== undefined) call.expiresAt = expiresAt;
  if (agent !== undefined) call.agent = agent;
}

export function applyCallAbandoned(draft: HeadDraft, event: ThreadEventOf<'call-abandoned'>): void {
  openCallAt(draft, event, event, ['started', 'indeterminate']).status = 'proposed';
  recoverOthers(draft, event.at);
  endAsking(draft, event, event);
}

export function applyCallLost(draft: HeadDraft, event: ThreadEventOf<'call-lost'>): void {
  const call = openCallAt(draft, event, event, ['started']);
  call.status = 'indeterminate';
  call.recoverAt = event.recoverAt;
}

export function applyRecoveryFailed(
  draft: HeadDraft,
  event: ThreadEventOf<'recovery-failed'>,
): void {
  const call = openCallAt(draft, event, event, ['indeterminate']);
  call.recoveries = (call.recoveries ?? 0) + 1;
  call.recoverAt = event.recoverAt;
}

/** Lost calls are restarted all together: one that was settled no longer prevents the recovery of the others. */
function recoverOthers({ head: { calls } }: HeadDraft, at: number): void {
  for (const call of calls) {
    if (call.status !== 'indeterminate' || call.recoveries === undefined) continue;
    call.recoveries = undefined;
    call.recoverAt = at;
  }
}

export function applyCallEnded(draft: HeadDraft, event: ThreadEventOf<'call-ended'>): void {
  const call = openCallAt(draft, event, event, openCallStatuses);
  refuseForeignEnd(event, call);
  /* Somebody has found out what happened: earlier failures of the run no longer count. */
  if (event.source !== undefined) {
    draft.head.failure = undefined;
    recoverOthers(draft, event.at);
  }
  if (event.source === 'delivered') draft.head.isStopped = false;
  endAsking(draft, event, event);
  call.status = event.outcome.status;
  call.outcome = event.outcome;
  if (draft.head.calls.every(({ outcome }) => outcome !== undefined)) completeStep(draft);
}

/** The call that an attempt begins. A call that the provider runs never begins here, whatever a log says. */
function ownCallAt(
  draft: HeadDraft,
  event: ThreadEventOf<'call-started' | 'call-deferred'>,
  statuses: readonly ToolCallRecord['status'][],
): ToolCallRecord {
  const call = openCallAt(draft, event, event, statuses);
  if (call.providerApprovalId === undefined) return call;
  throw tampered(event, `the provider runs call ${call.step}.${call.index}`);
}

/**
 * A call that the provider runs ends here once the provider's request is answered: with `forwarded` only after an approval, and never
 * with a result.
 */
function refuseForeignEnd(event: ThreadEventOf<'call-ended'>, call: ToolCallRecord): void {
  const { status } = event.outcome;
  const isForeign =
    call.providerApprovalId === undefined
      ? status === 'forwarded'
      : status === 'succeeded' || (status === 'forwarded' && call.status !== 'approved');
  if (!isForeign) return;
  throw tampered(event, `call ${call.step}.${call.index} can't be ${status}`);
}

/** All calls have ended: their results become the tool message, in the model's order, and the model is next unless one ended the turn. */
function completeStep({ head }: HeadDraft): void {
  const { calls, queuedMessages, newlyPast } = head;
  newlyPast.messages.push({ role: 'tool', content: calls.flatMap(toolParts) });
  newlyPast.messages.push(...queuedMessages);
  newlyPast.calls.push(...calls);
  head.calls = [];
  head.queuedMessages = [];
  head.unanswered = [];
  head.modelIsNext = !head.isStopped && !calls.some(endsTurn);
}
