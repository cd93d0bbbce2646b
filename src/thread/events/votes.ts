import { z } from 'zod';
import { approvalResponseSchema } from '../../content/approval.ts';
import { applyToRequest } from './changed-request.ts';
import { always, by, editSchema, mirrored, voter } from './fields.ts';
import { requireOpenApproval, type HeadDraft, makeTamperedError } from './head-draft.ts';

/* Votes and reassignments: what changes a request that stays open. */

/**
 * A person approved a request that needs more approvals, or changed their approval. With `edit`, the approvals of another input no longer
 * count.
 */
const requestVoted = z.strictObject({
  type: z.literal('request-voted'),
  ...always,
  response: approvalResponseSchema,
  ...by,
  ...voter,
  person: z.string(),
  edit: editSchema.optional(),
  ...mirrored,
});

export function applyVoted(event: z.infer<typeof requestVoted>, draft: HeadDraft): void {
  const { response } = event;
  const { open, request } = requireOpenApproval(draft, event, response.requestId);
  if (!response.approved) throw makeTamperedError(event, 'a rejection decides the request');
  const voted = applyToRequest(request, event);
  if ((voted.votes?.length ?? 0) >= (request.quorum ?? 1)) {
    throw makeTamperedError(event, `request ${request.requestId} has enough approvals`);
  }
  draft.requests.set(request.requestId, { ...open, request: voted });
}

/** A person took back their approval, before the request was decided. */
const voteWithdrawn = z.strictObject({
  type: z.literal('vote-withdrawn'),
  ...always,
  requestId: z.string(),
  person: z.string(),
  /** Set if their edit ends with it: the request is again as it was asked, and no approval of the edited input counts. */
  endsEdit: z.literal(true).optional(),
  ...by,
  ...mirrored,
});

export function applyVoteWithdrawn(event: z.infer<typeof voteWithdrawn>, draft: HeadDraft): void {
  const { requestId, person, endsEdit } = event;
  const { open, request } = requireOpenApproval(draft, event, requestId);
  if (!(request.votes ?? []).some((vote) => vote.person === person)) {
    throw makeTamperedError(event, `${person} has no vote`);
  }
  if (endsEdit === true && request.edit === undefined) {
    throw makeTamperedError(event, `request ${requestId} is not edited`);
  }
  draft.requests.set(requestId, { ...open, request: applyToRequest(request, event) });
}

/** An approver (`from`, as text) asked another to answer instead: `to` is a name, role or team, as in the request's `approvers`. */
const requestReassigned = z.strictObject({
  type: z.literal('request-reassigned'),
  ...always,
  requestId: z.string(),
  from: z.string(),
  to: z.string(),
  ...by,
  ...mirrored,
});

export function applyReassigned(event: z.infer<typeof requestReassigned>, draft: HeadDraft): void {
  const { requestId } = event;
  const { open, request } = requireOpenApproval(draft, event, requestId);
  draft.requests.set(requestId, { ...open, request: applyToRequest(request, event) });
}

export const voteSchemas = [requestVoted, voteWithdrawn, requestReassigned] as const;
