import { describeDeadline, type TimeReader } from '../../content/deadline-words.ts';
import { inertLine, inertText } from '../../content/inert-text.ts';
import { type AnswerRefusal, refusalWords } from '../../content/refusal-words.ts';
import { renderWaiting } from '../../content/request-text.ts';
import type { UserInputRequest } from '../../content/user-input.ts';
import { stateWords } from '../../view/state-words.ts';
import { html } from './html.ts';
import type { DecidedRequest } from './linked-request.ts';
import { makeNoticePage, makePageResponse } from './page-response.ts';

/* Pages that a link shows instead of its request. The holder of a link may not be its person, so no page says more than it must. */

/** Makes the refusal for every invalid link, the same byte by byte: it doesn't reveal the reason. */
export async function refuseLink(): Promise<Response> {
  const text =
    'It may have ended, or may not be complete. If you were asked for something, ask for a new link.';
  return makeNoticePage(404, 'This link is not valid', text);
}

/** Makes the page for a request that was edited since the link was made. */
export async function refuseChanged(): Promise<Response> {
  const text =
    'What you were asked about has been changed since, so this link can’t answer it. Nothing was recorded. Ask for a new link.';
  return makeNoticePage(409, 'This has changed', text);
}

/** Makes the page for a request that is over, for a person who may not know how it ended. */
export async function refuseClosed(): Promise<Response> {
  return makeNoticePage(410, 'This request is closed', 'There is nothing left to answer.');
}

/** Makes the page for a person who may not answer the request, or already has. */
export async function makeLinkRefusal(
  request: UserInputRequest,
  refusal: AnswerRefusal,
  isPost: boolean,
): Promise<Response> {
  if (refusal === 'already-voted' && request.type === 'approval-request') {
    const text = renderWaiting(request, request.votes?.length ?? 0);
    return makeNoticePage(isPost ? 409 : 200, 'You have approved this', text);
  }
  return makeNoticePage(
    refusal === 'closed' ? 410 : 403,
    'You can’t answer this',
    `${refusalWords[refusal]} Nothing was recorded.`,
  );
}

/** Makes the page for a request that is over: how it ended, by whom, and when. `lead` says what that means for the reader. */
export async function makeDecisionPage(
  { decision, person, at }: DecidedRequest,
  reader: TimeReader,
  { status, lead }: { status: number; lead: string },
): Promise<Response> {
  const title = stateWords[decision.status];
  const { request } = decision;
  const votes = request.type === 'approval-request' ? (request.votes ?? []) : [];
  const named = [...votes.map((vote) => inertLine(vote.person)), person].filter(
    (each) => each !== undefined,
  );
  const people = decision.status === 'approved' ? named : named.slice(-1);
  const by = people.length === 0 ? '' : `By ${[...new Set(people)].join(', ')}. `;
  /* The decision may be later than the start of the visit. */
  const now = Math.max(reader.now, at ?? 0);
  const when = at === undefined ? '' : `${describeDeadline(at, { ...reader, now })}.`;
  const body = html`<h1>${title}</h1>
    <p>${lead}</p>
    <p>${by}${when}</p>`;
  return makePageResponse({ status, title, body });
}

/** Makes the page after an approval that waits for those of other people. */
export async function makeVoteNotice(request: UserInputRequest): Promise<Response> {
  const text =
    request.type === 'approval-request'
      ? renderWaiting(request, request.votes?.length ?? 0)
      : inertText(request.text);
  return makeNoticePage(200, 'Your approval is recorded', text);
}
