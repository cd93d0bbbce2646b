import type { ApprovalRequest } from '../../content/approval.ts';
import type { ToolCallRecord } from '../../content/tool-call.ts';
import { type RequestEdit, votesOfOthers } from '../../content/vote.ts';
import type { ThreadEvent, ThreadEventOf } from '../thread-event.ts';
import type { OpenRequest } from '../thread-state.ts';
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
  const { requestId, person } = event;
  const { open, request } = approvalAt(draft, event, requestId);
  const left = requestAfter(request, event);
  if (left.votes?.length === (request.votes?.length ?? 0)) {
    throw tampered(event, `${person} has no vote`);
  }
  draft.requests.set(requestId, { ...open, request: left });
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

/** A person's edit becomes the input of the call. One that was edited before keeps what the model asked for, and every change. */
export function applyEdit(call: ToolCallRecord, edit: RequestEdit | undefined): void {
  if (edit === undefined) return;
  const { input, patches, person, principal } = edit;
  const { original, patches: earlier } = call.edit ?? { original: call.input, patches: [] };
  call.edit = { original, patches: [...earlier, ...patches], person, principal };
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
