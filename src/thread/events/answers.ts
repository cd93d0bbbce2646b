import { z } from 'zod';
import { type ApprovalRequest, readStartWithinMs } from '../../content/approval.ts';
import type { CallPlace, ToolCallRecord } from '../../content/tool-call.ts';
import { type UserInputRequest, userInputResponseSchema } from '../../content/user-input.ts';
import { votesOfOthers } from '../../content/vote.ts';
import { callAt } from '../thread-head.ts';
import { withEdit } from './changed-request.ts';
import { always, by, editSchema, mirrored, traceparentSchema, voter } from './fields.ts';
import {
  endRequest,
  type HeadDraft,
  openCallAt,
  takeRequest,
  makeTamperedError,
} from './head-draft.ts';

/* Answers that decide requests, and their way to the tools that asked. */

/**
 * The answer that decided a request, and the person who gave it. With `edit`, the call runs with the edited input; `patches` has the
 * changes in the model's input.
 */
const requestAnswered = z.strictObject({
  type: z.literal('request-answered'),
  ...always,
  response: userInputResponseSchema,
  ...by,
  ...voter,
  edit: editSchema.optional(),
  ...mirrored,
  traceparent: traceparentSchema.optional(),
});

export function applyRequestAnswered(
  event: z.infer<typeof requestAnswered>,
  draft: HeadDraft,
): void {
  const { response, principal, channel, onBehalfOf } = event;
  const open = takeRequest(draft, event, response.requestId);
  const { place } = open;
  draft.head.failure = undefined;
  /* A request of the app itself is not part of the turn. */
  if ((place ?? open.beside ?? open.step) !== undefined) draft.head.isStopped = false;
  const request = applyAnswerEdit(open.request, event);
  const startBy =
    request.type === 'approval-request' ? { startBy: event.at + readStartWithinMs(request) } : {};
  const answered = { response, principal, channel, onBehalfOf, ...startBy };
  endRequest(draft, event, { ...open, request, ...answered });
  const { beside, replyTo } = open;
  if (request.path !== undefined) resumeDelegated(draft, beside);
  else if (beside !== undefined) {
    /* The tool that asked receives the answer. */
    draft.head.unsentAnswers.push({ request, response, beside, replyTo, principal, channel });
  }
  const approved = response.type === 'approval-response' && response.approved;
  if (place === undefined || !approved) return;
  const call = openCallAt(draft, event, place, ['waiting']);
  call.status = 'approved';
  if (request.type === 'approval-request' && request.edit !== undefined) {
    applyEdit(call, request.edit, request.toolCall?.input);
  }
}

/** Resumes the delegated call: the sub-agent that asked has recorded the answer first. */
function resumeDelegated({ head }: HeadDraft, beside: CallPlace | undefined): void {
  const call = callAt(head, beside);
  if (call?.agent !== undefined && call.status === 'deferred') call.resumeAt = 0;
}

/** A request as the answer left it: with the answer's edit. Throws if too few people have approved it. */
function applyAnswerEdit(
  request: UserInputRequest,
  event: z.infer<typeof requestAnswered>,
): UserInputRequest {
  const { response } = event;
  if (request.type !== 'approval-request' || response.type !== 'approval-response') return request;
  if (!response.approved) return request;
  const { requestId, quorum = 1 } = request;
  if (quorum > 1) {
    const others = votesOfOthers(request.votes ?? [], event);
    const isKnown = event.person !== undefined && event.edit === undefined;
    if (!isKnown || others.length + 1 < quorum) {
      throw makeTamperedError(
        event,
        `request ${requestId} needs ${quorum} approvals of the same input`,
      );
    }
  }
  return event.edit === undefined ? request : withEdit(request, event);
}

/** Applies an edit to the call's input. A call that was edited before keeps the model's input, and every change. */
function applyEdit(
  call: ToolCallRecord,
  { patches, person, principal }: NonNullable<ApprovalRequest['edit']>,
  input: unknown,
): void {
  const { original, patches: earlier } = call.edit ?? { original: call.input, patches: [] };
  call.edit = { original, patches: [...earlier, ...patches], person, principal };
  call.given = undefined;
  call.inputTypes = undefined;
  call.isRemade = undefined;
  call.input = input;
}

/** The tool that asked during its call has received the answer; or, with `error`, never will, and why. */
const answerDelivered = z.strictObject({
  type: z.literal('answer-delivered'),
  ...always,
  requestId: z.string(),
  error: z.string().optional(),
});

/** Applies that the tool has received the answer, or never will. */
export function applyAnswerDelivered(
  event: z.infer<typeof answerDelivered>,
  { head }: HeadDraft,
): void {
  const { requestId } = event;
  const sent = head.unsentAnswers.find(({ request }) => request.requestId === requestId);
  if (sent === undefined) {
    throw makeTamperedError(event, `no tool waits for the answer to request ${requestId}`);
  }
  head.unsentAnswers = head.unsentAnswers.filter((answer) => answer !== sent);
}

export const answerSchemas = [requestAnswered, answerDelivered] as const;
