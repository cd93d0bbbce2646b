import { type ApprovalRequest, withoutEdit } from '../../content/approval.ts';
import type { ToolCallRecord } from '../../content/tool-call.ts';
import { votesOfOthers } from '../../content/vote.ts';
import type { ThreadEvent, ThreadEventOf } from '../thread-event.ts';
import type { OpenRequest } from '../thread-head.ts';
import { type HeadDraft, tampered } from './head-draft.ts';

/* Applies events of requests that are still open: votes, edits, reassignments and reminders. */

export function applyVoted(draft: HeadDraft, event: ThreadEventOf<'request-voted'>): void {
  const { response } = event;
  const { open, request } = approvalAt(draft, event, response.requestId);
  if (!response.approved) throw tampered(event, 'a rejection decides the request');
  const voted = requestAfter(request, event);
  if ((voted.votes?.length ?? 0) >= (request.quorum ?? 1)) {
    throw tampered(event, `request ${request.requestId} has enough approvals`);
  }
  draft.requests.set(request.requestId, { ...open, request: voted });
}

export function applyVoteWithdrawn(draft: HeadDraft, event: ThreadEventOf<'vote-withdrawn'>): void {
  const { requestId, person, endsEdit } = event;
  const { open, request } = approvalAt(draft, event, requestId);
  if (!(request.votes ?? []).some((vote) => vote.person === person)) {
    throw tampered(event, `${person} has no vote`);
  }
  if (endsEdit === true && request.edit === undefined) {
    throw tampered(event, `request ${requestId} is not edited`);
  }
  draft.requests.set(requestId, { ...open, request: requestAfter(request, event) });
}

export function applyReassigned(
  draft: HeadDraft,
  event: ThreadEventOf<'request-reassigned'>,
): void {
  const { requestId } = event;
  const { open, request } = approvalAt(draft, event, requestId);
  draft.requests.set(requestId, { ...open, request: requestAfter(request, event) });
}

/** The open request after a vote, a withdrawal or a reassignment. */
export function requestAfter(
  request: ApprovalRequest,
  event: ThreadEventOf<'request-voted' | 'vote-withdrawn' | 'request-reassigned'>,
): ApprovalRequest {
  const { principal, channel, at } = event;
  switch (event.type) {
    case 'request-voted': {
      const { person, onBehalfOf, edit } = event;
      const { reason, remember } = event.response;
      const vote = { person, onBehalfOf, principal, channel, reason, remember, at };
      /* An approval counts for the input that was shown. */
      const votes = edit === undefined ? (request.votes ?? []) : [];
      return { ...withEdit(request, event), votes: [...votesOfOthers(votes, event), vote] };
    }
    case 'vote-withdrawn': {
      if (event.endsEdit === true) return { ...withoutEdit(request), votes: [] };
      const votes = (request.votes ?? []).filter(({ person }) => person !== event.person);
      return { ...request, votes };
    }
    case 'request-reassigned': {
      const { from, to } = event;
      const reassignments = [...(request.reassignments ?? []), { from, to, principal, channel }];
      return { ...request, reassignments };
    }
  }
}

export function applyReminded(draft: HeadDraft, event: ThreadEventOf<'request-reminded'>): void {
  const { open } = approvalAt(draft, event, event.requestId);
  draft.requests.set(event.requestId, { ...open, isReminded: true });
}

/** An approval that may have changed the input, and who gave it. */
type Editing = Omit<ThreadEventOf<'request-answered'>, 'type' | 'response'>;

/** The request with the edit of an approval; without an edit, as it is. */
export function withEdit(
  request: ApprovalRequest,
  { edit, person, onBehalfOf, principal, channel, at }: Editing,
): ApprovalRequest {
  if (edit === undefined) return request;
  const asked = withoutEdit(request);
  const { toolCall, text: askedText, digest: askedDigest } = asked;
  const { input, patches, digest, text = askedText } = edit;
  if (patches.length === 0 || toolCall === undefined) return { ...asked, digest };
  const original = { input: toolCall.input, text: askedText, digest: askedDigest };
  const made = { original, patches, person, onBehalfOf, principal, channel, at };
  return { ...asked, toolCall: { ...toolCall, input }, text, digest, edit: made };
}

/** The edited input becomes that of the call. One that was edited before keeps what the model asked for, and every change. */
export function applyEdit(call: ToolCallRecord, { edit, toolCall }: ApprovalRequest): void {
  if (edit === undefined) return;
  const { patches, person, principal } = edit;
  const { original, patches: earlier } = call.edit ?? { original: call.input, patches: [] };
  call.edit = { original, patches: [...earlier, ...patches], person, principal };
  call.input = toolCall?.input;
}

function approvalAt(
  { requests }: HeadDraft,
  event: ThreadEvent,
  requestId: string,
): { open: OpenRequest; request: ApprovalRequest } {
  const open = requests.get(requestId);
  if (open?.request.type !== 'approval-request') {
    throw tampered(event, `approval request ${requestId} is not open`);
  }
  return { open, request: open.request };
}
