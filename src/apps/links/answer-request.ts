import { inertText } from '../../content/inert-text.ts';
import type { UserInputResponseContent } from '../../content/user-input.ts';
import { HoldpointError, type HoldpointErrorCode } from '../../errors.ts';
import { type AnswerFault, placeFault } from '../../view/answer-form.ts';
import { type FilledForm, makeFormAnswer, parseForm } from './answer-form.ts';
import { makeFormCode } from './link-token.ts';
import { findLinkedRequest, isOneOf, type LinkState, readLinkState } from './linked-request.ts';
import type { LinkVisit } from './link-visit.ts';
import { makeNoticePage, makePageResponse } from './page-response.ts';
import { needsConfirmation, renderConfirmPage, renderRequestPage } from './request-page.ts';
import {
  makeDecisionPage,
  makeLinkRefusal,
  makeVoteNotice,
  refuseChanged,
  refuseClosed,
  refuseLink,
} from './state-page.ts';

type OpenState = Extract<LinkState, { type: 'open' }>;

/** Shows the page of a visited link: the request with its form, or the reason for not having one. Records nothing. */
export async function showState(
  visit: LinkVisit,
  state: LinkState,
  { isPost }: { isPost: boolean },
): Promise<Response> {
  switch (state.type) {
    case 'open':
      return showRequest(visit, state);
    case 'changed':
      return refuseChanged();
    case 'closed':
      return refuseClosed();
    case 'closed-to-person':
      return makeLinkRefusal(state.request, state.refusal, isPost);
    case 'decided': {
      const lead = isPost
        ? 'It was over before: nothing was recorded now.'
        : 'There is nothing left to answer.';
      return makeDecisionPage(state, visit.reader, { status: isPost ? 409 : 200, lead });
    }
  }
}

async function showRequest(
  visit: LinkVisit,
  { shown: { request, masked }, rights }: OpenState,
  refused?: { filled: FilledForm; fault: AnswerFault | undefined },
): Promise<Response> {
  const code = await makeFormCode(visit.token, 'answer');
  const body = renderRequestPage({ ...visit.shown, request, masked, rights, code, ...refused });
  const title = refused === undefined ? waits : `Error: ${waits}`;
  return makePageResponse({ status: refused === undefined ? 200 : 400, title, body });
}

const waits = 'A request waits for your answer';

async function askOnceMore(
  visit: LinkVisit,
  { shown: { request, masked }, rights }: OpenState,
  filled: FilledForm,
  fault?: AnswerFault,
): Promise<Response> {
  const code = await makeFormCode(visit.token, 'confirm');
  const shown = { ...visit.shown, request, masked, rights, code, filled };
  const body = renderConfirmPage(fault === undefined ? shown : { ...shown, fault });
  const title = 'Approve this?';
  return fault === undefined
    ? makePageResponse({ title, body })
    : makePageResponse({ status: 400, title: `Error: ${title}`, body });
}

/** Records the answer in a form, and responds with the new state of the request. */
export async function answerRequest(
  visit: LinkVisit,
  state: OpenState,
  text: string,
): Promise<Response> {
  const { request } = state;
  const filled = parseForm(text, request);
  const step = filled?.action === 'confirm' ? 'confirm' : 'answer';
  if (filled === undefined || filled.code !== (await makeFormCode(visit.token, step))) {
    const how = 'Nothing was recorded. Open the link again, and answer on its page.';
    return makeNoticePage(403, 'This did not come from the page', how);
  }
  /* The page shows what is wrong with it: an approval has its real digest, a question no secrets. */
  const answered = request.type === 'question-request' ? state.shown.request : request;
  const made = makeFormAnswer(answered, filled);
  /* Before the person is asked to confirm. */
  if (made.type === 'faulty') {
    return showRequest(visit, state, { filled, fault: made.faults[0] });
  }
  if (filled.action === 'approve' && needsConfirmation(request)) {
    return askOnceMore(visit, state, filled);
  }
  if (filled.action === 'confirm' && !filled.isRead) {
    return askOnceMore(visit, state, filled, { text: 'Say that you have read all of it.' });
  }
  return record(visit, state, { filled, response: made.response });
}

async function record(
  visit: LinkVisit,
  state: OpenState,
  { filled, response }: { filled: FilledForm; response: UserInputResponseContent },
): Promise<Response> {
  const { linked, by, claims, agents } = visit;
  let isRefused = false;
  try {
    await linked.agent.respond(response, linked.thread, { ...by, onlyIfUnspent: true });
  } catch (error) {
    if (!HoldpointError.isInstance(error)) throw error;
    if (error.code === 'invalid-answer') {
      return showRequest(visit, state, { filled, fault: describeFault(state, error) });
    }
    if (!isOutrun(error.code)) throw error;
    isRefused = true;
  }
  /* The page shows what the log says. */
  const found = await findLinkedRequest(agents, claims);
  if (found === undefined) return refuseLink();
  const after = await readLinkState(found, claims, visit);
  if (!isRefused && after.type === 'decided') return tellOutcome(visit, after);
  if (!isRefused && after.type === 'closed-to-person' && after.refusal === 'already-voted') {
    return makeVoteNotice(after.request);
  }
  if (after.type !== 'open') return showState(visit, after, { isPost: true });
  return makeNoticePage(409, 'It was not recorded', 'Open the link again, and answer once more.');
}

/** Checks whether an answer was refused because its request or its person has changed meanwhile. */
function isOutrun(code: HoldpointErrorCode): boolean {
  return outrun.includes(code);
}

const outrun: readonly HoldpointErrorCode[] = [
  'already-answered',
  'request-closed',
  'answer-mismatch',
  'not-allowed',
  'not-found',
  'thread-deleted',
];

function describeFault(
  { shown: { request } }: OpenState,
  { field, reason = 'the answer does not fit' }: HoldpointError,
): AnswerFault {
  const text = 'It was not recorded:';
  return placeFault(request, { field, reason: `${inertText(reason)}.`, text });
}

/* The same answer of another person, at the same moment, is theirs; where several approve, each vote counts. */
async function tellOutcome(
  { linked: { agent }, claims: { threadId }, by: { principal }, reader }: LinkVisit,
  decided: Extract<LinkState, { type: 'decided' }>,
): Promise<Response> {
  const { request, principal: decider } = decided.decision;
  const votes = request.type === 'approval-request' ? (request.votes ?? []) : [];
  const people = [decider, ...votes.map((vote) => vote.principal)];
  return (await isOneOf(agent, threadId, principal, people))
    ? makeDecisionPage(decided, reader, { status: 200, lead: 'Your answer is recorded.' })
    : makeDecisionPage(decided, reader, { status: 409, lead: 'Somebody else was faster.' });
}
