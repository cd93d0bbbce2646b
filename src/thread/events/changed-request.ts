import type { z } from 'zod';
import {
  type ApprovalRequest,
  type ApprovalResponseContent,
  undoEdit,
} from '../../content/approval.ts';
import { type RequestEdit, votesOfOthers } from '../../content/vote.ts';
import type { editSchema } from './fields.ts';

/* Applies votes, edits and reassignments to a request, for the fold and for the channels that show it. It loads no schema. */

/** An act that may have changed the input, and who did it when. */
interface Editing extends Omit<RequestEdit, 'original' | 'patches'> {
  edit?: z.infer<typeof editSchema> | undefined;
}

/** The request with the edit of an approval; without an edit, as it is. */
export function withEdit(
  request: ApprovalRequest,
  { edit, person, onBehalfOf, principal, channel, at }: Editing,
): ApprovalRequest {
  if (edit === undefined) return request;
  const asked = { ...undoEdit(request), wasEdited: true as const };
  const { toolCall, text: askedText, digest: askedDigest } = asked;
  const { input, patches, digest, text = askedText } = edit;
  if (patches.length === 0 || toolCall === undefined) return { ...asked, digest };
  const original = { input: toolCall.input, text: askedText, digest: askedDigest };
  const made = { original, patches, person, onBehalfOf, principal, channel, at };
  return { ...asked, toolCall: { ...toolCall, input }, text, digest, edit: made };
}

/** Applies a vote, a withdrawal or a reassignment to the open request. */
export function applyToRequest(
  request: ApprovalRequest,
  event: Editing &
    (
      | { type: 'request-voted'; person: string; response: ApprovalResponseContent }
      | { type: 'vote-withdrawn'; person: string; endsEdit?: true | undefined }
      | { type: 'request-reassigned'; from: string; to: string }
    ),
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
      if (event.endsEdit === true) return { ...undoEdit(request), votes: [] };
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
