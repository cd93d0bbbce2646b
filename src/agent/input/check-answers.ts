import type { ToolSet } from 'ai';
import { type ApprovalResponseContent, withAnswers } from '../../content/approval.ts';
import { whyNotAnswer } from '../../content/check-answer.ts';
import { plainCopy } from '../../content/plain-copy.ts';
import type { QuestionRequestContent, QuestionResponseContent } from '../../content/question.ts';
import type {
  AskedAnswer,
  UserInputRequest,
  UserInputResponseContent,
} from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import { equalJson } from '../../policy/digest.ts';
import {
  isExpired,
  type EndedRequest,
  type OpenRequest,
  type ThreadState,
} from '../../thread/thread-state.ts';
import { callAt } from '../../thread/find-call.ts';
import { delegatedCall, delegationFor } from '../calls/delegation.ts';
import type { ParsedInput } from './parse-input.ts';
import type { AnswerOptions, MayAnswer } from './run-input.ts';

/** A new answer, and the request it answers. */
export interface NewAnswer {
  answer: UserInputResponseContent;
  open: OpenRequest;
}

/** The new answers, without repetitions. Throws for the first answer that is refused. */
export function newAnswers(
  state: Readonly<ThreadState>,
  { answers, allowedRequests }: ParsedInput,
  now: number,
): NewAnswer[] {
  const fresh = new Map<string, NewAnswer>();
  const requests = new Map(state.head.openRequests.map((open) => [open.request.requestId, open]));
  for (const answer of answers) {
    const twin = fresh.get(answer.requestId)?.answer;
    if (twin !== undefined && !sameDecision(twin, answer)) {
      throw new HoldpointError(
        'invalid-answer',
        `The input has two different answers to request ${answer.requestId}; send only one.`,
        { requestId: answer.requestId },
      );
    }
    const open = requests.get(answer.requestId);
    /* The request opened after `mayAnswer` was asked. */
    if (open !== undefined && allowedRequests?.has(answer.requestId) === false) {
      throw unknown(answer.requestId);
    }
    if (open === undefined) {
      checkRepeated(state.endedRequests.get(answer.requestId), answer);
    } else {
      checkAnswer(open, answer, now);
      fresh.set(answer.requestId, { answer, open });
    }
  }
  return [...fresh.values()];
}

function checkRepeated(ended: EndedRequest | undefined, answer: UserInputResponseContent): void {
  const { requestId } = answer;
  if (ended === undefined) throw unknown(requestId);
  if (ended.cause !== undefined) throw closed(requestId, ended.cause);
  if (ended.response === undefined || !sameDecision(ended.response, answer)) {
    throw new HoldpointError(
      'already-answered',
      `Request ${requestId} already has a different answer; the first answer stands.`,
      { requestId },
    );
  }
  if (answer.type === 'approval-response') refuseMismatch(ended, answer);
}

function checkAnswer(
  { request }: OpenRequest,
  answer: UserInputResponseContent,
  now: number,
): void {
  const { requestId } = request;
  if (isExpired(request, now)) throw closed(requestId, 'expired');
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
  const { requestId, toolCall } = request;
  const stored = request.type === 'approval-request' ? request.digest : undefined;
  const sameDigest = answer.digest === undefined || answer.digest === stored;
  const sameCall = answer.toolCall === undefined || equalJson(answer.toolCall, toolCall);
  if (sameDigest && sameCall) return;
  throw new HoldpointError(
    'answer-mismatch',
    `The answer to request ${requestId} repeats a ${sameDigest ? 'call' : 'digest'} that differs from the stored request. ` +
      "Show the stored request again; an answer can't change a call.",
    { requestId },
  );
}

function unknown(requestId: string): HoldpointError {
  return new HoldpointError(
    'unknown-request',
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

function sameDecision(one: UserInputResponseContent, other: UserInputResponseContent): boolean {
  if (one.type === 'approval-response' && other.type === 'approval-response') {
    return one.approved === other.approved;
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

/**
 * Asks `mayAnswer` about each answer to an open request; for a mirrored request, the sub-agent checks the answer too. Notes the
 * requests in the input: an answer to one that opens later is refused. Throws `not-allowed` for the first refused answer, or what
 * `mayAnswer` or the sub-agent throws.
 */
export async function withAllowedAnswers(
  { mayAnswer, tools }: Answering,
  { head, threadId }: Readonly<ThreadState>,
  input: ParsedInput,
): Promise<ParsedInput> {
  const isAsked = mayAnswer !== undefined || head.openRequests.some(({ request }) => request.path);
  if (!isAsked || input.answers.length === 0) return input;
  const open = new Map(head.openRequests.map((each) => [each.request.requestId, each]));
  const allowedRequests = new Set<string>();
  for (const response of input.answers) {
    const { requestId } = response;
    const stored = open.get(requestId);
    if (stored === undefined) continue;
    const call = stored.request.path && callAt(head, stored.beside);
    const delegation = call && delegationFor(tools, call);
    const asked = (): AskedAnswer => askedAnswer(stored.request, response, input.by);
    /* Without types it may return anything. */
    const answer: unknown = mayAnswer === undefined || (await mayAnswer(asked()));
    if (answer !== true) throw refused(threadId, requestId);
    if (call !== undefined) await delegation?.check(delegatedCall(threadId, call), asked());
    allowedRequests.add(requestId);
  }
  return { ...input, allowedRequests };
}

/** What decides on answers. */
interface Answering {
  mayAnswer: MayAnswer | undefined;
  tools: ToolSet;
}

function askedAnswer(
  stored: UserInputRequest,
  response: UserInputResponseContent,
  { principal, channel }: AnswerOptions,
): AskedAnswer {
  const request =
    stored.type === 'approval-request' ? withAnswers(stored) : structuredClone(stored);
  return { principal: plainCopy(principal), channel, request, response: structuredClone(response) };
}

function refused(threadId: string, requestId: string): HoldpointError {
  return new HoldpointError(
    'not-allowed',
    `Request ${requestId} of thread ${threadId} can't be answered by this principal: mayAnswer refused it. The request stays open.`,
    { requestId },
  );
}
