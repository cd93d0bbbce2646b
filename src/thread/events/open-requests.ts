import type { ApprovalRequest } from '../../content/approval.ts';
import type { CallPlace } from '../../content/tool-call.ts';
import { type EndedRequest, type OpenRequest, endsTurn, isSamePlace } from '../thread-head.ts';
import { type AnyEvent, type HeadDraft, tampered } from './head-draft.ts';

/* Requests that are open in a draft. */

export function approvalAt(
  { requests }: HeadDraft,
  event: AnyEvent,
  requestId: string,
): { open: OpenRequest; request: ApprovalRequest } {
  const open = requests.get(requestId);
  if (open?.request.type !== 'approval-request') {
    throw tampered(event, `approval request ${requestId} is not open`);
  }
  return { open, request: open.request };
}

export function takeRequest(
  { requests }: HeadDraft,
  event: AnyEvent,
  requestId: string,
): OpenRequest {
  const open = requests.get(requestId);
  if (open === undefined) throw tampered(event, `request ${requestId} is not open`);
  requests.delete(requestId);
  return open;
}

/** A request is no longer open. A custom agent takes its next step once those of its latest one are, unless a person ended the turn. */
export function endRequest({ head }: HeadDraft, event: AnyEvent, ended: EndedRequest): void {
  const { newlyPast, decided } = head;
  newlyPast.requests.push(ended);
  const { step, request } = ended;
  if (step === undefined) return;
  if (step !== head.steps - 1) throw tampered(event, `step ${step} is over`);
  const others = decided.filter((other) => other.request.requestId !== request.requestId);
  head.decided = [...others, ended];
  head.modelIsNext = !head.isStopped && !newlyPast.calls.some(endsTurn);
}

/** Drops the unsent answer of a call whose attempt is over. Throws `log-tampered` if its question is still open. */
export function endAsking(draft: HeadDraft, event: AnyEvent, place: CallPlace): void {
  refuseOpenDuring(draft, event, place);
  dropUnsent(draft, place);
}

export function refuseOpenDuring(draft: HeadDraft, event: AnyEvent, place: CallPlace): void {
  for (const { request, beside } of draft.requests.values()) {
    if (!isSamePlace(beside, place)) continue;
    throw tampered(event, `request ${request.requestId}, which the call opened, is still open`);
  }
}

export function dropUnsent({ head }: HeadDraft, place: CallPlace): void {
  if (head.unsentAnswers.length === 0) return;
  head.unsentAnswers = head.unsentAnswers.filter(({ beside }) => !isSamePlace(beside, place));
}
