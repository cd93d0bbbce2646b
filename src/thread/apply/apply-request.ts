import { type CallPlace, plainCall } from '../../content/tool-call.ts';
import type { UserInputRequest } from '../../content/user-input.ts';
import type { ThreadEvent, ThreadEventOf } from '../thread-event.ts';
import { type EndedRequest, endsTurn, isSamePlace, type OpenRequest } from '../thread-head.ts';
import { votesOfOthers } from '../../content/vote.ts';
import { applyEdit, withEdit } from './apply-vote.ts';
import { type HeadDraft, openCallAt, tampered } from './head-draft.ts';

/* Applies events of requests, and of answers that tools wait for, to a head. */

export function applyRequestOpened(draft: HeadDraft, event: ThreadEventOf<'request-opened'>): void {
  const { request, place, beside, step } = event;
  refuseKnown(draft, event, request.requestId);
  if (step !== undefined) {
    openByStep(draft, event, step);
    return;
  }
  if (beside !== undefined) {
    openDuringCall(draft, event, beside);
    return;
  }
  if (place === undefined) {
    draft.requests.set(request.requestId, { request, place });
    return;
  }
  const call = openCallAt(draft, event, place, ['proposed']);
  call.status = 'waiting';
  call.requestId = request.requestId;
  const shown = { ...request, toolCall: plainCall(call) };
  draft.requests.set(request.requestId, { request: shown, place });
}

/** The next step of a custom agent waits for the requests of the latest one. */
function openByStep(
  { head, requests }: HeadDraft,
  event: ThreadEventOf<'request-opened'>,
  step: number,
): void {
  const { request, place, beside } = event;
  const isOther = place !== undefined || beside !== undefined;
  if (isOther || step !== head.steps - 1) throw tampered(event, `step ${step} can't ask this`);
  requests.set(request.requestId, { request, step });
  head.isAnswered = false;
}

/** A request id is never used again: an answer to one request must not answer another. */
function refuseKnown(
  { requests, endedRequests, head }: HeadDraft,
  event: ThreadEvent,
  requestId: string,
): void {
  const isKnown =
    requests.has(requestId) ||
    endedRequests.has(requestId) ||
    head.newlyPast.requests.some(({ request }) => request.requestId === requestId);
  if (isKnown) throw tampered(event, `an earlier request has the id ${requestId}`);
}

/**
 * A tool asks one question at a time, and no longer needs the answer to an earlier one. A sub-agent may have several requests,
 * about its own calls.
 */
function openDuringCall(
  draft: HeadDraft,
  event: ThreadEventOf<'request-opened'>,
  beside: CallPlace,
): void {
  const { request, place, replyTo } = event;
  const call = openCallAt(draft, event, beside, ['started', 'deferred', 'indeterminate']);
  if (request.path !== undefined && place === undefined) {
    draft.requests.set(request.requestId, { request, beside, replyTo });
    return;
  }
  if (request.type !== 'question-request' || place !== undefined) {
    throw tampered(event, 'only a question can be asked during a call');
  }
  refuseOpenDuring(draft, event, beside);
  dropUnsent(draft, beside);
  const shown = { ...request, toolCall: plainCall(call) };
  draft.requests.set(request.requestId, { request: shown, beside, replyTo });
}

export function applyRequestAnswered(
  draft: HeadDraft,
  event: ThreadEventOf<'request-answered'>,
): void {
  const { response, principal, channel } = event;
  const open = takeRequest(draft, event, response.requestId);
  const { place } = open;
  draft.head.failure = undefined;
  draft.head.isStopped = false;
  const request = decidedRequest(open.request, event);
  endRequest(draft, event, { ...open, request, response, principal, channel });
  queueAnswer(draft, { ...open, request }, event);
  const approved = response.type === 'approval-response' && response.approved;
  if (place === undefined || !approved) return;
  const call = openCallAt(draft, event, place, ['waiting']);
  call.status = 'approved';
  if (request.type === 'approval-request') applyEdit(call, request);
}

/** A request as the answer left it: with the answer's edit. Throws if too few people have approved it. */
function decidedRequest(
  request: UserInputRequest,
  event: ThreadEventOf<'request-answered'>,
): UserInputRequest {
  const { response } = event;
  if (request.type !== 'approval-request' || response.type !== 'approval-response') return request;
  if (!response.approved) return request;
  const { requestId, quorum = 1 } = request;
  if (quorum > 1) {
    const others = votesOfOthers(request.votes ?? [], event);
    const isKnown = event.person !== undefined && event.edit === undefined;
    if (!isKnown || others.length + 1 < quorum) {
      throw tampered(event, `request ${requestId} needs ${quorum} approvals of the same input`);
    }
  }
  return withEdit(request, event);
}

/** A request is no longer open. A custom agent takes its next step once those of its latest one are, unless a person ended the turn. */
function endRequest({ head }: HeadDraft, event: ThreadEvent, ended: EndedRequest): void {
  const { newlyPast, decided } = head;
  newlyPast.requests.push(ended);
  const { step, request } = ended;
  if (step === undefined) return;
  if (step !== head.steps - 1) throw tampered(event, `step ${step} is over`);
  const others = decided.filter((other) => other.request.requestId !== request.requestId);
  head.decided = [...others, ended];
  head.modelIsNext = !head.isStopped && !newlyPast.calls.some(endsTurn);
}

function queueAnswer(
  { head }: HeadDraft,
  { request, beside, replyTo }: OpenRequest,
  { response, principal, channel }: ThreadEventOf<'request-answered'>,
): void {
  if (beside === undefined) return;
  head.unsentAnswers.push({ request, response, beside, replyTo, principal, channel });
}

export function applyRequestClosed(draft: HeadDraft, event: ThreadEventOf<'request-closed'>): void {
  const { requestId, cause, principal, channel, person } = event;
  const answered =
    draft.head.newlyPast.requests.find(({ request }) => request.requestId === requestId) ??
    draft.endedRequests.get(requestId);
  const open = answered ?? takeRequest(draft, event, requestId);
  const isByPerson = (principal ?? channel) !== undefined;
  const closedBy = isByPerson ? { closedBy: { principal, channel, person } } : {};
  endRequest(draft, event, { ...open, cause, ...closedBy });
  const { place } = open;
  if (place === undefined) return;
  openCallAt(draft, event, place, ['waiting', 'approved']).status = 'proposed';
}

/** The tool has received the answer, or never will. */
export function applyAnswerDelivered(
  { head }: HeadDraft,
  event: ThreadEventOf<'answer-delivered'>,
): void {
  const { requestId } = event;
  const sent = head.unsentAnswers.find(({ request }) => request.requestId === requestId);
  if (sent === undefined) {
    throw tampered(event, `no tool waits for the answer to request ${requestId}`);
  }
  head.unsentAnswers = head.unsentAnswers.filter((answer) => answer !== sent);
  const call = head.calls.find((each) => isSamePlace(sent.beside, each));
  if (call?.agent !== undefined && call.status === 'deferred') call.resumeAt = 0;
}

/** Drops the unsent answer of a call whose attempt is over. Throws `log-tampered` if its question is still open. */
export function endAsking(draft: HeadDraft, event: ThreadEvent, place: CallPlace): void {
  refuseOpenDuring(draft, event, place);
  dropUnsent(draft, place);
}

function refuseOpenDuring(draft: HeadDraft, event: ThreadEvent, place: CallPlace): void {
  for (const { request, beside } of draft.requests.values()) {
    if (!isSamePlace(beside, place)) continue;
    throw tampered(event, `request ${request.requestId}, which the call opened, is still open`);
  }
}

function dropUnsent({ head }: HeadDraft, place: CallPlace): void {
  if (head.unsentAnswers.length === 0) return;
  head.unsentAnswers = head.unsentAnswers.filter(({ beside }) => !isSamePlace(beside, place));
}

function takeRequest({ requests }: HeadDraft, event: ThreadEvent, requestId: string): OpenRequest {
  const open = requests.get(requestId);
  if (open === undefined) throw tampered(event, `request ${requestId} is not open`);
  requests.delete(requestId);
  return open;
}
