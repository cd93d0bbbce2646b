import {
  type ApprovalRequest,
  type ApprovalResponseContent,
  withoutEdit,
} from '../../content/approval.ts';
import { isAnswererLimited } from '../../content/approval-terms.ts';
import { whyNotAnswer } from '../../content/check-answer.ts';
import type { QuestionRequestContent, QuestionResponseContent } from '../../content/question.ts';
import type { UserInputRequest, UserInputResponseContent } from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import { equalJson } from '../../policy/digest.ts';
import {
  isExpired,
  isOverdue,
  type EndedRequest,
  type OpenRequest,
} from '../../thread/thread-head.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import type { ParsedInput } from './parse-input.ts';

/** A new answer, and the request it answers. */
export interface NewAnswer {
  answer: UserInputResponseContent;
  open: OpenRequest;
}

/** The new answers, without repetitions. Throws for the first answer that is refused. */
export function newAnswers(
  state: Readonly<ThreadState>,
  { answers, allowedRequests, weighed, until }: ParsedInput,
  now: number,
): NewAnswer[] {
  const fresh = new Map<string, NewAnswer>();
  const requests = new Map(state.head.openRequests.map((open) => [open.request.requestId, open]));
  for (const answer of answers) {
    const twin = fresh.get(answer.requestId)?.answer;
    if (twin !== undefined && !(sameDecision(twin, answer) && sameDecision(answer, twin))) {
      throw new HoldpointError(
        'invalid-answer',
        `The input has two different answers to request ${answer.requestId}; send only one.`,
        { requestId: answer.requestId },
      );
    }
    const open = requests.get(answer.requestId);
    /* The request opened after the answer was checked. */
    const isLate =
      allowedRequests?.has(answer.requestId) === false ||
      (isWeighed(open?.request, answer) && weighed?.has(answer.requestId) !== true);
    if (open !== undefined && isLate) throw unknown(answer.requestId);
    if (open === undefined) {
      checkRepeated(state.endedRequests.get(answer.requestId), answer);
    } else {
      if (isOverdue(state.head, open, now) || isExpired({ expiresAt: until }, now))
        throw closed(answer.requestId, 'expired');
      checkAnswer(open, answer);
      fresh.set(answer.requestId, { answer, open });
    }
  }
  return [...fresh.values()];
}

function checkRepeated(ended: EndedRequest | undefined, answer: UserInputResponseContent): void {
  const { requestId } = answer;
  if (ended === undefined) throw unknown(requestId);
  if (ended.cause !== undefined) throw closed(requestId, ended.cause);
  if (ended.response === undefined || !sameDecision(ended.response, answer, ended.request)) {
    throw new HoldpointError(
      'already-answered',
      `Request ${requestId} already has a different answer; the first answer stands.`,
      { requestId },
    );
  }
  if (answer.type === 'approval-response') refuseMismatch(ended, answer);
}

/** Whether more than yes or no, from anybody, decides: who answers, what others say, or what the answer says besides. */
export function isWeighed(
  request: UserInputRequest | undefined,
  answer: UserInputResponseContent,
): boolean {
  if (request?.type !== 'approval-request' || answer.type !== 'approval-response') return false;
  const { requireReason, edit } = request;
  const says = [edit, answer.input, answer.remember].some((each) => each !== undefined);
  return isAnswererLimited(request) || requireReason === true || says;
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

/** An answer may repeat what was shown, and must then match the stored request, which alone decides. */
function refuseMismatch({ request }: OpenRequest, answer: ApprovalResponseContent): void {
  const { requestId } = request;
  const shown = [request, ...beforeEdit(request, answer)];
  const sameDigest = shown.filter((each) => repeatsDigest(each, answer));
  if (sameDigest.some((each) => repeatsCall(each, answer))) return;
  throw new HoldpointError(
    'answer-mismatch',
    `The answer to request ${requestId} repeats a ${sameDigest.length > 0 ? 'call' : 'digest'} that differs from the stored request. ` +
      "Show the stored request again; an answer can't change a call.",
    { requestId },
  );
}

/** The request as it was before its edit, for an answer that makes the same edit: it repeats what was shown then. */
function beforeEdit(
  request: UserInputRequest,
  { input }: ApprovalResponseContent,
): ApprovalRequest[] {
  if (request.type !== 'approval-request' || request.edit === undefined) return [];
  const isSame = input !== undefined && equalJson(input, request.toolCall?.input);
  return isSame ? [withoutEdit(request)] : [];
}

function repeatsDigest(request: UserInputRequest, { digest }: ApprovalResponseContent): boolean {
  return digest === undefined || (request.type === 'approval-request' && request.digest === digest);
}

function repeatsCall(request: UserInputRequest, { toolCall }: ApprovalResponseContent): boolean {
  return toolCall === undefined || equalJson(toolCall, request.toolCall);
}

function unknown(requestId: string): HoldpointError {
  return new HoldpointError(
    'not-found',
    `This thread has no request ${requestId}; its open requests are in thread.activeRequests.`,
    { requestId },
  );
}

function closed(requestId: string, cause: NonNullable<EndedRequest['cause']>): HoldpointError {
  return new HoldpointError(
    'request-closed',
    `Request ${requestId} is closed (${cause}). Resume with run([], thread) to see what is asked now.`,
    { requestId },
  );
}

function sameDecision(
  one: UserInputResponseContent,
  other: UserInputResponseContent,
  request?: UserInputRequest,
): boolean {
  if (one.type === 'approval-response' && other.type === 'approval-response') {
    const decided = request === undefined ? one.input : request.toolCall?.input;
    const isSameInput = other.input === undefined || equalJson(decided, other.input);
    const { votes = [] } = request?.type === 'approval-request' ? request : {};
    const isSameWish =
      other.remember === undefined ||
      [one, ...votes].some(({ remember }) => equalJson(remember, other.remember));
    return one.approved === other.approved && (isSameInput || !one.approved) && isSameWish;
  }
  return equalJson(inOrder(one), inOrder(other));
}

/* The same options in another order are the same answer. */
function inOrder(response: UserInputResponseContent): unknown {
  if (response.type !== 'question-response' || response.status !== 'answered') return response;
  const answers = response.answers
    .map((answer) => ({ ...answer, optionIds: answer.optionIds.toSorted() }))
    .toSorted((one, other) => (one.key < other.key ? -1 : 1));
  return { ...response, answers };
}

function refuseNoAnswer(request: QuestionRequestContent, answer: QuestionResponseContent): void {
  const fault = whyNotAnswer(request, answer);
  if (fault === undefined) return;
  throw new HoldpointError(
    'invalid-answer',
    `Not a valid answer to question ${request.requestId}: ${fault}. The question stays open.`,
    { requestId: request.requestId },
  );
}
