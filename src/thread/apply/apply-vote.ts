import type { ApprovalRequest } from '../../content/approval.ts';
import type { ToolCallRecord } from '../../content/tool-call.ts';
import { type RequestEdit, votesOfOthers } from '../../content/vote.ts';
import type { ThreadEvent, ThreadEventOf } from '../thread-event.ts';
import type { OpenRequest } from '../thread-state.ts';
import { type HeadDraft, tampered } from './head-draft.ts';

/* Applies events of requests that are still open: votes, edits, reassignments and reminders. */

export function applyVoted(draft: HeadDraft, event: ThreadEventOf<'request-voted'>): void {
  const { response, person, onBehalfOf, principal, channel, at, edit } = event;
  const { open, request } = approvalAt(draft, event, response.requestId);
  if (!response.approved) throw tampered(event, 'a rejection decides the request');
  const { reason, remember } = response;
  const vote = { person, onBehalfOf, principal, channel, reason, remember, at };
  /* An approval counts for the input that was shown. */
  const votes = edit === undefined ? (request.votes ?? []) : [];
  const others = votesOfOthers(votes, event);
  if (others.length + 1 >= (request.quorum ?? 1)) {
    throw tampered(event, `request ${request.requestId} has enough approvals`);
  }
  const voted = { ...withEdit(request, event), votes: [...others, vote] };
  draft.requests.set(request.requestId, { ...open, request: voted });
}

export function applyVoteWithdrawn(draft: HeadDraft, event: ThreadEventOf<'vote-withdrawn'>): void {
  const { requestId, person } = event;
  const { open, request } = approvalAt(draft, event, requestId);
  const { votes = [] } = request;
  const others = votes.filter((vote) => vote.person !== person);
  if (others.length === votes.length) throw tampered(event, `${person} has no vote`);
  draft.requests.set(requestId, { ...open, request: { ...request, votes: others } });
}

export function applyReassigned(
  draft: HeadDraft,
  event: ThreadEventOf<'request-reassigned'>,
): void {
  const { requestId, from, to, principal, channel } = event;
  const { open, request } = approvalAt(draft, event, requestId);
  const reassignment = { from, to, principal, channel };
  const reassignments = [...(request.reassignments ?? []), reassignment];
  draft.requests.set(requestId, { ...open, request: { ...request, reassignments } });
}

export function applyReminded(draft: HeadDraft, event: ThreadEventOf<'request-reminded'>): void {
  const { open } = approvalAt(draft, event, event.requestId);
  draft.requests.set(event.requestId, { ...open, isReminded: true });
}

/** The request with the edit of an approval; without an edit, as it is. */
export function withEdit(
  request: ApprovalRequest,
  { edit, person, principal, channel, at }: ThreadEventOf<'request-answered' | 'request-voted'>,
): ApprovalRequest {
  if (edit === undefined) return request;
  const { edit: earlier, digest: shown, ...unedited } = request;
  const { input, patches, digest } = edit;
  if (patches.length === 0) return { ...unedited, digest };
  const originalDigest = earlier?.originalDigest ?? shown;
  const by = { person, principal, channel };
  return { ...unedited, digest, edit: { input, patches, originalDigest, ...by, at } };
}

/** A person's edit becomes the input of the call. */
export function applyEdit(call: ToolCallRecord, edit: RequestEdit | undefined): void {
  if (edit === undefined) return;
  const { input, patches, person, principal } = edit;
  call.edit = { original: call.input, patches, person, principal };
  call.input = input;
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
