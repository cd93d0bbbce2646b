import { describeDeadline, type TimeReader } from '../../content/deadline-words.ts';
import { inertLine, inertText } from '../../content/inert-text.ts';
import type { AnswerRefusal } from '../../content/request-rights.ts';
import { refusalWords, renderWaiting } from '../../content/request-text.ts';
import type { RequestDecision, UserInputRequest } from '../../content/user-input.ts';
import { html } from './html.ts';
import type { DecidedRequest } from './linked-request.ts';
import { makeNoticePage, makePageResponse } from './page-response.ts';

/* What a link shows instead of its request. Whoever has the link may not be its person, so nothing says more than it must. */

/** One refusal for every link that is not valid, byte by byte: it says nothing about why. */
export async function refuseLink(): Promise<Response> {
  const text =
    'It may have ended, or may not be complete. If you were asked for something, ask for a new link.';
  return makeNoticePage(404, 'This link is not valid', text);
}

/** The page of a request that somebody has edited since the link was made. */
export async function refuseChanged(): Promise<Response> {
  const text =
    'What you were asked about has been changed since, so this link can’t answer it. Nothing was recorded. Ask for a new link.';
  return makeNoticePage(409, 'This has changed', text);
}

/** The page of a request that is over, for somebody who may not know how it ended. */
export async function refuseClosed(): Promise<Response> {
  return makeNoticePage(410, 'This request is closed', 'There is nothing left to answer.');
}

/** The page for somebody who may not answer the request, or has. */
export async function makeLinkRefusal(
  request: UserInputRequest,
  refusal: AnswerRefusal,
  isPost: boolean,
): Promise<Response> {
  if (refusal === 'closed') {
    return makeNoticePage(
      410,
      'It is too late',
      'This can’t be answered any more. Nothing was recorded.',
    );
  }
  if (refusal === 'already-voted' && request.type === 'approval-request') {
    const text = renderWaiting(request, request.votes?.length ?? 0);
    return makeNoticePage(isPost ? 409 : 200, 'You have approved this', text);
  }
  return makeNoticePage(
    403,
    'You can’t answer this',
    `${refusalWords[refusal]} Nothing was recorded.`,
  );
}

/** The page of a request that is over: how it ended, by whom, and when. `lead` says what that means for who reads it. */
export async function makeDecisionPage(
  { decision, person, at }: DecidedRequest,
  reader: TimeReader,
  { status, lead }: { status: number; lead: string },
): Promise<Response> {
  const title = titles[decision.status];
  const { request } = decision;
  const votes = request.type === 'approval-request' ? (request.votes ?? []) : [];
  const named = [...votes.map((vote) => inertLine(vote.person)), person].filter(
    (each) => each !== undefined,
  );
  const people = decision.status === 'approved' ? named : named.slice(-1);
  const by = people.length === 0 ? '' : `By ${[...new Set(people)].join(', ')}. `;
  /* It may have happened after the visit began. */
  const now = Math.max(reader.now, at ?? 0);
  const when = at === undefined ? '' : `${describeDeadline(at, { ...reader, now })}.`;
  const body = html`<h1>${title}</h1>
    <p>${lead}</p>
    <p>${by}${when}</p>`;
  return makePageResponse({ status, title, body });
}

const titles: Record<RequestDecision['status'], string> = {
  approved: 'Approved',
  rejected: 'Rejected',
  answered: 'Answered',
  dismissed: 'Left unanswered',
  expired: 'Expired',
  cancelled: 'Cancelled',
  invalidated: 'No longer asked',
};

/** The page after an approval that waits for those of other people. */
export async function makeVoteNotice(request: UserInputRequest): Promise<Response> {
  const text =
    request.type === 'approval-request'
      ? renderWaiting(request, request.votes?.length ?? 0)
      : inertText(request.text);
  return makeNoticePage(200, 'Your approval is recorded', text);
}
