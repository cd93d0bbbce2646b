import { HoldpointError, type HoldpointErrorCode } from '../../errors.ts';
import { type FilledForm, makeFormAnswer, parseForm } from './answer-form.ts';
import { makeFormCode } from './link-token.ts';
import { findLinkedRequest, isOneOf, type LinkState, readLinkState } from './linked-request.ts';
import type { LinkVisit } from './link-visit.ts';
import { makeNoticePage, makePageResponse } from './page-response.ts';
import {
  type FormFault,
  needsConfirmation,
  renderConfirmPage,
  renderRequestPage,
} from './request-page.ts';
import {
  makeDecisionPage,
  makeLinkRefusal,
  makeVoteNotice,
  refuseChanged,
  refuseClosed,
  refuseLink,
} from './state-page.ts';

type OpenState = Extract<LinkState, { type: 'open' }>;

/** The page of a link that is visited: the request with its form, or why there is none. Nothing is recorded. */
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
  refused?: { filled: FilledForm; fault: FormFault },
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
  fault?: FormFault,
): Promise<Response> {
  const code = await makeFormCode(visit.token, 'confirm');
  const shown = { ...visit.shown, request, masked, rights, code, filled };
  const body = renderConfirmPage(fault === undefined ? shown : { ...shown, fault });
  const title = 'Approve this?';
  return fault === undefined
    ? makePageResponse({ title, body })
    : makePageResponse({ status: 400, title: `Error: ${title}`, body });
}

/** Records what a form of the page says, and responds with what has become of the request. */
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
  const fault = findFault(state, filled);
  if (fault !== undefined) return showRequest(visit, state, { filled, fault });
  if (filled.action === 'approve' && needsConfirmation(request)) {
    return askOnceMore(visit, state, filled);
  }
  if (filled.action === 'confirm' && !filled.isRead) {
    return askOnceMore(visit, state, filled, { text: 'Say that you have read all of it.' });
  }
  return record(visit, state, filled);
}

/* It is found here too, so that nobody is asked once more in vain. */
function findFault({ request }: OpenState, { action, reason }: FilledForm): FormFault | undefined {
  const isApproval = action === 'approve' || action === 'confirm';
  if (!isApproval || reason !== undefined || request.type !== 'approval-request') return undefined;
  return request.requireReason === true ? { text: 'Give a reason to approve this.' } : undefined;
}

async function record(visit: LinkVisit, state: OpenState, filled: FilledForm): Promise<Response> {
  const { linked, by, claims, agents } = visit;
  let isRefused = false;
  try {
    await linked.agent.respond(makeFormAnswer(state.request, filled), linked.thread, {
      ...by,
      onlyIfUnspent: true,
    });
  } catch (error) {
    if (!HoldpointError.isInstance(error)) throw error;
    if (error.code === 'invalid-answer') {
      return showRequest(visit, state, { filled, fault: describeFault(state, error) });
    }
    if (!isOutrun(error.code)) throw error;
    isRefused = true;
  }
  /* What is told is what the log says. */
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

/** Whether an answer was refused because of what has become of its request or of its person meanwhile. */
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
  { field, reason }: HoldpointError,
): FormFault {
  const fields = request.type === 'question-request' ? request.fields : [];
  const at = fields.find(({ key }) => key === field?.[0]);
  const why = reason ?? 'the answer does not fit';
  if (at === undefined) return { text: `It was not recorded: ${why}.` };
  return { key: at.key, text: `“${at.label}” ${why}.` };
}

/* The same answer of somebody else, at the same moment, is theirs; of several who approve, each vote counts. */
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
