import type { CallPlace } from '../content/tool-call.ts';
import type { UserInputResponseContent } from '../content/user-input.ts';
import type { ThreadEvent, ThreadEventOf } from './thread-event.ts';
import { isSamePlace, type OpenRequest } from './thread-state.ts';
import { callAt, tampered, type Writing } from './writing.ts';

/** Writes what happens to requests, and to the answers that tools are owed. */
export function openRequest(writing: Writing, event: ThreadEventOf<'request-opened'>): void {
  const { request, place, beside } = event;
  refuseKnown(writing, event, request.requestId);
  if (beside !== undefined) {
    openRequestOf(writing, event, beside);
    return;
  }
  if (place === undefined) {
    writing.requests.set(request.requestId, { request, place });
    return;
  }
  const call = callAt(writing, event, place, ['proposed']);
  call.status = 'waiting';
  call.requestId = request.requestId;
  const { toolCallId, toolName, input } = call;
  const shown = { ...request, toolCall: { toolCallId, toolName, input } };
  writing.requests.set(request.requestId, { request: shown, place });
}

/** An id names one request for ever: the answer to one must not be an answer to another. */
function refuseKnown(
  { requests, endedRequests, draft }: Writing,
  event: ThreadEvent,
  requestId: string,
): void {
  const isKnown =
    requests.has(requestId) ||
    endedRequests.has(requestId) ||
    draft.newlyPast.requests.some(({ request }) => request.requestId === requestId);
  if (isKnown) throw tampered(event, `there was a request ${requestId} before`);
}

/** One question at a time: an answer to the one before is not for this one, and is owed no more. */
function openRequestOf(
  writing: Writing,
  event: ThreadEventOf<'request-opened'>,
  beside: CallPlace,
): void {
  const { request, place, replyTo } = event;
  const { toolCallId, toolName, input } = callAt(writing, event, beside, [
    'started',
    'deferred',
    'indeterminate',
  ]);
  if (request.type !== 'question-request' || place !== undefined) {
    throw tampered(event, 'only a question is asked beside a call');
  }
  refuseOpenBeside(writing, event, beside);
  dropOwed(writing, beside);
  const shown = { ...request, toolCall: { toolCallId, toolName, input } };
  writing.requests.set(request.requestId, { request: shown, beside, replyTo });
}

export function answerRequest(writing: Writing, event: ThreadEventOf<'request-answered'>): void {
  const { response } = event;
  const open = takeRequest(writing, event, response.requestId);
  const { place } = open;
  writing.draft.failure = undefined;
  writing.draft.isStopped = false;
  writing.draft.newlyPast.requests.push({ ...open, response });
  oweAnswer(writing, open, response);
  const approved = response.type === 'approval-response' && response.approved;
  if (place !== undefined && approved)
    callAt(writing, event, place, ['waiting']).status = 'approved';
}

function oweAnswer(
  { draft }: Writing,
  { request, beside, replyTo }: OpenRequest,
  response: UserInputResponseContent,
): void {
  if (beside === undefined || request.type !== 'question-request') return;
  if (response.type !== 'question-response') return;
  draft.unsentAnswers.push({ request, response, beside, replyTo });
}

export function closeRequest(writing: Writing, event: ThreadEventOf<'request-closed'>): void {
  const { requestId, cause } = event;
  const answered =
    writing.draft.newlyPast.requests.find(({ request }) => request.requestId === requestId) ??
    writing.endedRequests.get(requestId);
  const open = answered ?? takeRequest(writing, event, requestId);
  writing.draft.newlyPast.requests.push({ ...open, cause });
  const { place } = open;
  if (place === undefined) return;
  callAt(writing, event, place, ['waiting', 'approved']).status = 'proposed';
}

/** A tool has its answer, or never will. */
export function deliverAnswer({ draft }: Writing, event: ThreadEventOf<'answer-delivered'>): void {
  const { requestId } = event;
  const others = draft.unsentAnswers.filter(({ request }) => request.requestId !== requestId);
  if (others.length === draft.unsentAnswers.length) {
    throw tampered(event, `no tool is owed the answer to request ${requestId}`);
  }
  draft.unsentAnswers = others;
}

/** An attempt is over: it asks nothing any more, and no answer is for it. */
export function endBeside(writing: Writing, event: ThreadEvent, place: CallPlace): void {
  refuseOpenBeside(writing, event, place);
  dropOwed(writing, place);
}

function refuseOpenBeside(writing: Writing, event: ThreadEvent, place: CallPlace): void {
  for (const { request, beside } of writing.requests.values()) {
    if (!isSamePlace(beside, place)) continue;
    throw tampered(event, `request ${request.requestId} is open beside the call`);
  }
}

function dropOwed({ draft }: Writing, place: CallPlace): void {
  if (draft.unsentAnswers.length === 0) return;
  draft.unsentAnswers = draft.unsentAnswers.filter(({ beside }) => !isSamePlace(beside, place));
}

function takeRequest({ requests }: Writing, event: ThreadEvent, requestId: string): OpenRequest {
  const open = requests.get(requestId);
  if (open === undefined) throw tampered(event, `request ${requestId} is not open`);
  requests.delete(requestId);
  return open;
}
