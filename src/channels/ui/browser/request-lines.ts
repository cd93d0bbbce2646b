import type { ApprovalRequest } from '../../../content/approval.ts';
import type { Remember } from '../../../content/approval-terms.ts';
import { describeDeadlineAction } from '../../../content/deadline-action.ts';
import { describeDeadline } from '../../../content/deadline-words.ts';
import { inertText } from '../../../content/inert-text.ts';
import { lookAlikeWarnings } from '../../../content/look-alikes.ts';
import type { QuestionRequestContent } from '../../../content/question.ts';
import {
  refusalWords,
  renderAnswerer,
  renderAsker,
  renderRemember,
  renderTerms,
} from '../../../content/request-text.ts';
import type { RequestRights } from '../../../content/request-rights.ts';
import { votesOfOthers } from '../../../content/vote.ts';
import type { PageDecision } from './page-messages.ts';

/** Lines that are safe to show: everything that a request says besides its text and its call. */
export function describeRequest(
  request: ApprovalRequest | QuestionRequestContent,
  now: number,
): string[] {
  const { expiresAt } = request;
  const isApproval = request.type === 'approval-request';
  const then = isApproval ? `, then ${describeDeadlineAction(request.onExpiry).text}` : '';
  const until =
    expiresAt === undefined ? [] : [`Until ${describeDeadline(expiresAt, { now })}${then}`];
  const lines = [...renderAsker(request), ...(isApproval ? describeTerms(request) : []), ...until];
  return [...lines, ...lookAlikeWarnings(request)];
}

/** Lines that are safe to show: what remains to be said of a request that is over. */
export function describeEnded(request: ApprovalRequest | QuestionRequestContent): string[] {
  if (request.type === 'question-request') return renderAsker(request);
  const { type, requestId, threadId, text, digest, createdAt, reason, edit } = request;
  const ended = { type, requestId, threadId, text, digest, createdAt, ...(edit && { edit }) };
  const why = reason === undefined ? [] : [inertText(`Why: ${reason}`)];
  return [...why, ...renderAsker(request), ...renderTerms(ended), ...lookAlikeWarnings(request)];
}

/** One line that is safe to show: how a request was decided, by whom and why. */
export function describeWhoDecided(
  request: ApprovalRequest | QuestionRequestContent,
  { status, person, onBehalfOf }: PageDecision,
  reason: string | undefined,
): string {
  const people = person === undefined ? [] : [{ person, onBehalfOf }];
  const isShared = status === 'approved' && request.type === 'approval-request';
  const others = isShared ? votesOfOthers(request.votes ?? [], { person, onBehalfOf }) : [];
  const names = [...others, ...people].map(renderAnswerer).join(', ');
  const by = names === '' ? '' : ` by ${names}`;
  const why = reason === undefined ? '' : `: ${inertText(reason)}`;
  return `${decided[status]}${by}${why}`;
}

const decided: Record<PageDecision['status'], string> = {
  approved: 'Approved',
  rejected: 'Rejected',
  answered: 'Answered',
  dismissed: 'Skipped',
  expired: 'Expired',
  cancelled: 'Cancelled',
  invalidated: 'No longer valid',
};

function describeTerms(request: ApprovalRequest): string[] {
  /* The form shows what may be edited and whether a reason is needed, and a page shows its dates in the reader's words. */
  const { expiresAt: _until, remindAt: _reminder, editable: _editable, ...rest } = request;
  const { requireReason: _required, reason, votes = [], ...terms } = rest;
  const spoken = votes.flatMap(({ person, reason: why }) =>
    why === undefined ? [] : [inertText(`${person} has approved: ${why}`)],
  );
  const why = reason === undefined ? [] : [inertText(`Why: ${reason}`)];
  return [...why, ...renderTerms({ ...terms, votes }), ...spoken];
}

/** Why a person has no buttons for a request; `undefined` if they have. */
export function describeWhyNot(
  request: ApprovalRequest | QuestionRequestContent,
  { mayAnswer, refusal }: RequestRights,
): string | undefined {
  if (mayAnswer) return undefined;
  if (refusal === 'already-voted' && request.type === 'approval-request') {
    const { votes = [], quorum = 1 } = request;
    return `You have approved; ${votes.length} of ${quorum}.`;
  }
  return refusalWords[refusal ?? 'not-approver'];
}

/** What a standing approval covers, as one line that is safe to show. */
export function describeRemember(
  remember: Remember,
  { isForQuorum }: { isForQuorum: boolean },
): string {
  const begin = isForQuorum ? 'If approved, also approve later calls' : 'Also decide later calls';
  return `${begin}: ${renderRemember(remember)}`;
}
