import { z } from 'zod';
import { type CallPlace, pickToolCall } from '../../content/tool-call.ts';
import { userInputRequestSchema } from '../../content/user-input.ts';
import { always, mirrored, namedBy, placeFields, traceparentSchema } from './fields.ts';
import {
  type AnyEvent,
  requireOpenApproval,
  endAsking,
  endRequest,
  type HeadDraft,
  openCallAt,
  takeRequest,
  makeTamperedError,
} from './head-draft.ts';

/* Requests: what people are asked, until it is answered or closed. */

/**
 * A person is asked something: about the call at `place`, which waits for the answer; during the call at `beside`, by its tool or its
 * sub-agent; by the `step` of a custom agent, whose next step waits for the answer; or, without these, by the app. `request` repeats a
 * call only if it is a sub-agent's. `replyTo` is the address at which the tool or sub-agent receives the answer, and is never shown to
 * people. `traceparent` is the span of the request, if it was traced; spans that follow, even days later, link to it.
 */
const requestOpened = z.strictObject({
  type: z.literal('request-opened'),
  ...always,
  place: z.strictObject(placeFields).optional(),
  beside: z.strictObject(placeFields).optional(),
  step: z.int().optional(),
  replyTo: z.unknown().optional(),
  request: userInputRequestSchema,
  traceparent: traceparentSchema.optional(),
});

export function applyRequestOpened(event: z.infer<typeof requestOpened>, draft: HeadDraft): void {
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
  const shown = { ...request, toolCall: pickToolCall(call) };
  draft.requests.set(request.requestId, { request: shown, place });
}

/** Opens a request of a custom agent's step: its next step waits for it. */
function openByStep(
  { head, requests }: HeadDraft,
  event: z.infer<typeof requestOpened>,
  step: number,
): void {
  const { request, place, beside } = event;
  const isOther = place !== undefined || beside !== undefined;
  if (isOther || step !== head.steps - 1)
    throw makeTamperedError(event, `step ${step} can't ask this`);
  requests.set(request.requestId, { request, step });
  head.isAnswered = false;
}

/** Refuses a request id that was used before: an answer to one request must not answer another. */
function refuseKnown(
  { requests, endedRequests, head }: HeadDraft,
  event: AnyEvent,
  requestId: string,
): void {
  const isKnown =
    requests.has(requestId) ||
    endedRequests.has(requestId) ||
    head.newlyPast.requests.has(requestId);
  if (isKnown) throw makeTamperedError(event, `an earlier request has the id ${requestId}`);
}

/**
 * Opens a request during a call. A tool asks one question at a time, and no longer needs the answer to an earlier one. A sub-agent may have
 * several requests, about its own calls.
 */
function openDuringCall(
  draft: HeadDraft,
  event: z.infer<typeof requestOpened>,
  beside: CallPlace,
): void {
  const { request, place, replyTo } = event;
  const call = openCallAt(draft, event, beside, ['started', 'deferred', 'indeterminate']);
  if (request.path !== undefined && place === undefined) {
    draft.openDuringCall({ request, beside, replyTo });
    return;
  }
  if (request.type !== 'question-request' || place !== undefined) {
    throw makeTamperedError(event, 'only a question can be asked during a call');
  }
  endAsking(draft, event, beside);
  const shown = { ...request, toolCall: pickToolCall(call) };
  draft.openDuringCall({ request: shown, beside, replyTo });
}

/** The request's `remindAt` has passed, and it is still open. */
const requestReminded = z.strictObject({
  type: z.literal('request-reminded'),
  ...always,
  requestId: z.string(),
});

export function applyReminded(event: z.infer<typeof requestReminded>, draft: HeadDraft): void {
  const { open } = requireOpenApproval(draft, event, event.requestId);
  draft.requests.set(event.requestId, { ...open, isReminded: true });
}

/**
 * The request was closed without an answer; or, for an answered one, its answer no longer counts. With the cause `cancelled`, `principal`
 * and `person` are the person who ended it, if one did and is known.
 */
const requestClosed = z.strictObject({
  type: z.literal('request-closed'),
  ...always,
  requestId: z.string(),
  cause: z.enum(['expired', 'cancelled', 'invalidated']),
  reason: z.string().optional(),
  ...namedBy,
  ...mirrored,
});

export function applyRequestClosed(event: z.infer<typeof requestClosed>, draft: HeadDraft): void {
  const { requestId, cause, principal, channel, person } = event;
  const answered =
    draft.head.newlyPast.requests.get(requestId) ?? draft.endedRequests.get(requestId);
  const open = answered ?? takeRequest(draft, event, requestId);
  const isByPerson = (principal ?? channel) !== undefined;
  const closedBy = isByPerson ? { closedBy: { principal, channel, person } } : {};
  endRequest(draft, event, { ...open, cause, ...closedBy });
  const { place } = open;
  if (place === undefined) return;
  const call = openCallAt(draft, event, place, ['waiting', 'approved']);
  call.status = 'proposed';
  call.held = undefined;
}

export const requestSchemas = [requestOpened, requestReminded, requestClosed] as const;
