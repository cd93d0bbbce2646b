import { actTerms } from '../../content/act.ts';
import {
  type ApprovalRequest,
  type ApprovalResponseContent,
  undoEdit,
} from '../../content/approval.ts';
import { isAnswererLimited } from '../../content/approval-terms.ts';
import type { ToolCall } from '../../content/tool-call.ts';
import type {
  ClosedBy,
  UserInputRequest,
  UserInputResponseContent,
} from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import { isEqualJson } from '../../policy/digest.ts';
import { type PrincipalId, describeClosedBy } from '../../policy/same-person.ts';
import { findLatestTime, type Proposal } from '../../thread/proposal.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import {
  callAt,
  type EndedRequest,
  endsTurn,
  isExpired,
  isHeld,
  isOverdue,
  type OpenRequest,
  type ThreadHead,
} from '../../thread/thread-head.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import {
  cancelApprovals,
  cancelOpenEvents,
  listCancelled,
  listUnstartedApprovals,
  makeInterruptEvents,
  makeOverdueEvents,
  makeReminders,
  makeUnstartedOutcome,
} from '../calls/close-requests.ts';
import { makeExpiryEvents, type FollowUps } from '../calls/expire-requests.ts';
import type { ToolDefinitions } from '../calls/tool-definitions.ts';
import { makeQuestionEndEvents, refuseNoAnswer } from './answer-question.ts';
import { makeReleaseEvents } from './recorded-approvals.ts';
import {
  listNewMessages,
  listReplacedMessages,
  refuseEdit,
  refuseMessage,
} from './sent-messages.ts';
import type { AdmittedAnswer, AdmittedInput } from './admitted-input.ts';
import { AskAgain } from './ask-again.ts';
import { refuseUnasked } from './asked-endings.ts';
import type { MayAnswer, ParsedInput } from './parse-input.ts';
import { noteRefusal, refuseTogether } from './collect-refusals.ts';
import { countWeighed } from './weigh-answer.ts';
import {
  makeAlreadyAnsweredError,
  makeMismatchError,
  makeRequestClosedError,
  makeTwoAnswersError,
  makeUnknownRequestError,
} from './answer-errors.ts';

/** The rules by which a thread accepts input. */
interface DecideOptions {
  tools: ToolDefinitions;
  now: number;
  whilePending: 'refuse' | 'cancel';
  principalId: PrincipalId;
  /** The requests that follow those that have expired. */
  followUps?: FollowUps | undefined;
}

/**
 * Proposes the events that record an input: answers, expiries, and messages. Throws if any of it is refused; nothing is appended then, so
 * that bad input changes nothing.
 */
export function decideInput(
  proposal: Proposal,
  admitted: AdmittedInput,
  { tools, now, whilePending, principalId, followUps }: DecideOptions,
): void {
  const { state } = proposal;
  const { parsed: input } = admitted;
  /* An answer is in time by the time at which the log will have it: no event of a log is earlier than the one before it. */
  const refusals = new Map([...(input.unreadable?.refusals ?? []), ...(admitted.refusals ?? [])]);
  const answers = checkNewAnswers(state, admitted, refusals, Math.max(now, findLatestTime(state)));
  const by = describeClosedBy(input.by, principalId);
  const findAgent = ({ toolName }: ToolCall): string | undefined =>
    tools.get(toolName)?.delegation?.agent;
  proposal.add(...makeReleaseEvents(proposal, admitted, { at: now, by }));
  if (admitted.reported !== undefined) proposal.add(...admitted.reported(proposal, now));
  const recording = { tools, head: proposal.head, by, at: now, principalId };
  const answered: ThreadEvent[] = [];
  for (const each of answers) {
    try {
      answered.push(...answerEvents(each, recording));
    } catch (error) {
      noteRefusal(refusals, each.answer.requestId, error);
    }
  }
  if (refusals.size > 0) {
    const { requestIds = input.answers.map(({ requestId }) => requestId) } = input.unreadable ?? {};
    refuseTogether(refusals, requestIds);
  }
  proposal.add(...answered);
  addOverdue(proposal, answers, { now, followUps });
  if (answered.some((event) => event.type === 'call-ended' && endsTurn(event))) {
    const given = new Set(answers.map(({ answer }) => answer.requestId));
    const { interrupted } = admitted;
    const approvals = listUnstartedApprovals(proposal).filter(
      ({ request: { requestId } }) => given.has(requestId) || interrupted?.has(requestId),
    );
    const { head } = proposal;
    const interrupting = { at: now, by, findAgent };
    addEnding(proposal, admitted, makeInterruptEvents({ head, approvals }, interrupting));
  }
  if (input.messages.length === 0) return;
  const messages = listNewMessages(state, input, principalId);
  const { requesters = [] } = input;
  if (messages.length === 0) return;
  refuseMessage(state.threadId, proposal, whilePending, now);
  const replaced = listReplacedMessages(state, input);
  refuseEdit(state, input, replaced, principalId);
  if (whilePending === 'cancel') {
    const { reason } = actTerms.send;
    const { head } = proposal;
    const cancelling = { reason, at: now, by, findAgent };
    const held = listUnstartedApprovals(proposal).filter(isHeld);
    addEnding(proposal, admitted, cancelOpenEvents(head, cancelling));
    if (admitted.endings !== undefined) refuseUnasked(admitted.endings, held);
    proposal.add(...cancelApprovals(head, held, cancelling));
  }
  proposal.add(
    ...replaced.map((): ThreadEvent => ({ type: 'message-retracted', at: now, ...input.by })),
    ...messages.map((message): ThreadEvent => ({
      type: 'message-added',
      at: now,
      message,
      ...(requesters.length > 1 ? { requesters: [...requesters] } : {}),
      ...input.by,
    })),
  );
}

/** Adds the events that end overdue requests and calls, and the reminders that are due, except for the requests that the input answers. */
function addOverdue(
  proposal: Proposal,
  answers: readonly NewAnswer[],
  { now, followUps }: Pick<DecideOptions, 'now' | 'followUps'>,
): void {
  if (proposal.head.openRequests.length > 0) {
    const answered = answers.map(({ answer }) => answer);
    proposal.add(...makeExpiryEvents(proposal.head, answered, { now, followUps }));
    proposal.add(...makeReminders(proposal.head, now));
  }
  const { head } = proposal;
  if (head.calls.some(({ status }) => status === 'deferred'))
    proposal.add(...makeOverdueEvents(head, now));
}

/** Adds the events that end requests, unless the sender may not end one of them. */
function addEnding(
  proposal: Proposal,
  { endings }: AdmittedInput,
  events: readonly ThreadEvent[],
): void {
  if (endings !== undefined)
    refuseUnasked(endings, listCancelled(events, proposal.head.openRequests));
  proposal.add(...events);
}

/** The inputs for recording answers. */
interface Recording {
  tools: ToolDefinitions;
  head: Readonly<ThreadHead>;
  by: ClosedBy;
  at: number;
  principalId: PrincipalId;
}

/** Makes the events of an accepted answer: the answer itself, and its effect on its call. */
function answerEvents(
  { answer: response, open, admitted }: NewAnswer,
  { tools, head, by, at, principalId }: Recording,
): ThreadEvent[] {
  const { request, place } = open;
  /* A sub-agent counts it, and this thread repeats what it recorded. */
  if (admitted?.as === 'passed') return [];
  const answered =
    admitted?.as === 'weighed'
      ? countWeighed({ principalId }, admitted.weighed, open, at)
      : [acceptAnswer(response, by, at)];
  const call = callAt(head, place);
  if (place === undefined || call === undefined) return answered;
  if (response.type === 'question-response' && request.type === 'question-request') {
    return [...answered, ...makeQuestionEndEvents(request, response, { tools, place, at })];
  }
  if (response.type !== 'approval-response' || response.approved) return answered;
  const reason = response.reason?.trim() === '' ? undefined : response.reason;
  const outcome = makeUnstartedOutcome(call, reason);
  return [...answered, { type: 'call-ended', at, ...place, outcome }];
}

/* The call was compared with the stored one, which remains the only copy. */
function acceptAnswer(given: UserInputResponseContent, by: ClosedBy, at: number): ThreadEvent {
  if (given.type !== 'approval-response')
    return { type: 'request-answered', at, response: given, ...by };
  const { toolCall: _compared, ...response } = given;
  return { type: 'request-answered', at, response, ...by };
}

/** A new answer, and the request it answers. */
interface NewAnswer {
  answer: UserInputResponseContent;
  open: OpenRequest;
  admitted: AdmittedAnswer | undefined;
}

/** The new answers, without repetitions, and without those that are refused: these are added to `refusals`. */
function checkNewAnswers(
  state: Readonly<ThreadState>,
  { parsed: { answers, above }, answers: admitted }: AdmittedInput,
  refusals: Map<string, HoldpointError>,
  now: number,
): NewAnswer[] {
  if (answers.length === 0) return [];
  const fresh = new Map<string, NewAnswer>();
  const requests = new Map(state.head.openRequests.map((open) => [open.request.requestId, open]));
  for (const answer of answers) {
    const { requestId } = answer;
    const twin = fresh.get(requestId)?.answer;
    const open = requests.get(requestId);
    const asked = admitted?.get(requestId);
    if (refusals.has(requestId)) continue;
    /* The request opened after the app was asked, or has changed since. */
    const isAsked = admitted === undefined ? !isJudged(open?.request, answer) : asked !== undefined;
    if (open !== undefined && !isAsked)
      throw new AskAgain(makeUnknownRequestError(state, requestId));
    try {
      if (twin !== undefined && !(isSameDecision(twin, answer) && isSameDecision(answer, twin)))
        throw makeTwoAnswersError(requestId);
      if (open === undefined) {
        const ended = state.endedRequests.get(requestId);
        if (ended === undefined) throw makeUnknownRequestError(state, requestId);
        checkRepeated(ended, answer);
        continue;
      }
      if (isOverdue(state.head, open, now) || isExpired({ expiresAt: above?.until }, now))
        throw makeRequestClosedError(requestId, 'expired');
      checkAnswer(open, answer);
      fresh.set(requestId, { answer, open, admitted: asked });
    } catch (error) {
      noteRefusal(refusals, requestId, error);
    }
  }
  return [...fresh.values()];
}

function checkRepeated(ended: EndedRequest, answer: UserInputResponseContent): void {
  const { requestId } = answer;
  if (ended.cause !== undefined) throw makeRequestClosedError(requestId, ended.cause);
  if (ended.response === undefined || !isSameDecision(ended.response, answer, ended.request)) {
    throw makeAlreadyAnsweredError(requestId);
  }
  if (answer.type === 'approval-response') refuseMismatch(ended, answer);
}

/**
 * Checks whether an input needs permission before it is accepted: for an answer that not everybody may give, or that a sub-agent checks;
 * for the requests that a message cancels, or that the answer to a question interrupts; or for the approvals that a person releases.
 */
export function needsPermission(
  { openRequests }: ThreadHead,
  { messages, answers, unreadable, resumeStopped }: ParsedInput,
  { mayAnswer }: { mayAnswer: MayAnswer | undefined },
  { whilePending }: { whilePending?: 'refuse' | 'cancel' | undefined },
): boolean {
  if (resumeStopped === true || unreadable !== undefined) return true;
  if (messages.length > 0 && whilePending === 'cancel') return true;
  if (mayAnswer !== undefined) return answers.length > 0;
  const requests = new Map(openRequests.map((open) => [open.request.requestId, open.request]));
  return answers.some((answer) => {
    if (answer.type === 'question-response') return true;
    return isJudged(requests.get(answer.requestId), answer);
  });
}

/** Checks whether more decides on an answer than its form: a sub-agent, or what `isWeighed` names. */
export function isJudged(
  request: UserInputRequest | undefined,
  answer: UserInputResponseContent,
): boolean {
  return request?.path !== undefined || isWeighed(request, answer);
}

/** Checks whether an answer needs more than its yes or no to decide: its sender, the votes of others, or its further content. */
export function isWeighed(
  request: UserInputRequest | undefined,
  answer: UserInputResponseContent,
): boolean {
  if (request?.type !== 'approval-request' || answer.type !== 'approval-response') return false;
  const { requireReason, edit } = request;
  const says = edit !== undefined || answer.input !== undefined || answer.remember !== undefined;
  return says || requireReason === true || isAnswererLimited(request);
}

function checkAnswer({ request }: OpenRequest, answer: UserInputResponseContent): void {
  const { requestId } = request;
  if (request.type !== 'approval-request' || answer.type !== 'approval-response') {
    if (request.type === 'question-request' && answer.type === 'question-response') {
      refuseNoAnswer(request, answer);
      return;
    }
    throw new HoldpointError(
      'invalid-answer',
      `Request ${requestId} is of type '${request.type}'; an answer of type '${answer.type}' can't answer it.`,
      { requestId },
    );
  }
  refuseMismatch({ request }, answer);
}

/** Refuses an answer that repeats what was shown, if that doesn't match the stored request: only the stored one decides. */
function refuseMismatch({ request }: OpenRequest, answer: ApprovalResponseContent): void {
  const { requestId } = request;
  let repeats: 'digest' | 'call' = 'digest';
  for (const shown of [request, ...undoSameEdit(request, answer)]) {
    const digest = shown.type === 'approval-request' ? shown.digest : undefined;
    if (answer.digest !== undefined && answer.digest !== digest) continue;
    if (answer.toolCall === undefined || isEqualJson(answer.toolCall, shown.toolCall)) return;
    repeats = 'call';
  }
  throw makeMismatchError(requestId, repeats);
}

/** The request as it was before its edit, for an answer that makes the same edit: it repeats what was shown then. */
function undoSameEdit(
  request: UserInputRequest,
  { input }: ApprovalResponseContent,
): ApprovalRequest[] {
  if (request.type !== 'approval-request' || request.edit === undefined) return [];
  const isSame = input !== undefined && isEqualJson(input, request.toolCall?.input);
  return isSame ? [undoEdit(request)] : [];
}

function isSameDecision(
  one: UserInputResponseContent,
  other: UserInputResponseContent,
  request?: UserInputRequest,
): boolean {
  if (one.type === 'approval-response' && other.type === 'approval-response') {
    const decided = request === undefined ? one.input : request.toolCall?.input;
    const isSameInput = other.input === undefined || isEqualJson(decided, other.input);
    const { votes = [] } = request?.type === 'approval-request' ? request : {};
    const isSameWish =
      other.remember === undefined ||
      [one, ...votes].some(({ remember }) => isEqualJson(remember, other.remember));
    return one.approved === other.approved && (isSameInput || !one.approved) && isSameWish;
  }
  return isEqualJson(sortAnswers(one), sortAnswers(other));
}

/* The same options in another order are the same answer. */
function sortAnswers(response: UserInputResponseContent): unknown {
  if (response.type !== 'question-response' || response.status !== 'answered') return response;
  const answers = response.answers
    .map((answer) => ({ ...answer, optionIds: answer.optionIds.toSorted() }))
    .toSorted((one, other) => (one.key < other.key ? -1 : 1));
  return { ...response, answers };
}
