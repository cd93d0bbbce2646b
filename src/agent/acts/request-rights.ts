import {
  type ApprovalRequest,
  type ApprovalResponseContent,
  approve,
  reject,
} from '../../content/approval.ts';
import { grantScopes, type Remember } from '../../content/approval-terms.ts';
import { makeNoRights } from '../../content/no-rights.ts';
import type { QuestionRequestContent } from '../../content/question.ts';
import { type AnswerRefusal, refusalOf } from '../../content/refusal-words.ts';
import type { RequestRights } from '../../content/request-rights.ts';
import type { AskedAnswer, UserInputResponseContent } from '../../content/user-input.ts';
import type { Voter } from '../../content/vote.ts';
import { HoldpointError } from '../../errors.ts';
import { matchFor } from '../../policy/match-grant.ts';
import { callAt, isOverdue, type OpenRequest } from '../../thread/thread-head.ts';
import { admitAnswer, type AnsweredThread } from '../input/admit-answer.ts';
import { RefusedAnswerError } from '../input/answer-errors.ts';
import { whyNotRemembered } from '../input/answer-grant.ts';
import { type AnswerContext, findRevokedVoters } from '../input/right-to-answer.ts';
import type { AnswerOptions, MayAnswer } from '../input/parse-input.ts';
import { findOwnVote, findReassigner } from './change-request.ts';
import { withdrawVotes } from '../input/votes.ts';
import { countAnswer } from '../input/weigh-answer.ts';

/**
 * Finds a person's rights to an open request. Records nothing. `mayAnswer` is asked about plain answers, and about an approval with an edit
 * or a standing approval where the request allows these. Rejects with the error of a sub-agent.
 */
export async function findRights(
  context: AnswerContext,
  thread: AnsweredThread,
  open: OpenRequest,
  by: AnswerOptions,
): Promise<RequestRights> {
  const { request } = open;
  if (isOverdue(thread.head, open, context.now())) return makeNoRights(request, 'closed');
  const { mayAnswer } = context;
  const asked = { ...context, mayAnswer: mayAnswer && askOnce(refuseOnError(context, mayAnswer)) };
  const asking = { context: asked, thread, open, by };
  return request.type === 'question-request'
    ? findQuestionRights(asking, request)
    : findApprovalRights(asking, request);
}

/** Wraps an app's `mayAnswer` so that it refuses where it throws: one request must not hide the others. */
function refuseOnError({ report }: AnswerContext, mayAnswer: MayAnswer): MayAnswer {
  return async (asked) => {
    try {
      return await mayAnswer(asked);
    } catch (error) {
      const { threadId } = asked.request;
      const fault = { kind: 'error', problem: 'It threw an error.', error } as const;
      report({ ...fault, threadId, setting: 'mayAnswer' });
      return false;
    }
  };
}

/**
 * Wraps a `mayAnswer` so that it is called once for each answer in each right: the rights to reassign, edit and approve depend on the same.
 */
function askOnce(mayAnswer: MayAnswer): MayAnswer {
  const answers = new Map<string, ReturnType<MayAnswer>>();
  return (asked) => {
    const key = makeAskedKey(asked);
    const answer = (key === undefined ? undefined : answers.get(key)) ?? mayAnswer(asked);
    if (key !== undefined) answers.set(key, answer);
    return answer;
  };
}

/** Makes the key of a `mayAnswer` call about one request; `undefined` for a principal that is more than data. */
function makeAskedKey({ principal, channel, request, response }: AskedAnswer): string | undefined {
  const { approvers, digest } = request.type === 'approval-request' ? request : {};
  /* The digest covers the call. */
  const given = { ...response, toolCall: undefined };
  try {
    return JSON.stringify({
      principal: structuredClone(principal),
      channel,
      approvers,
      digest,
      given,
    });
  } catch {
    return undefined;
  }
}

/** A person's question about an open request. */
interface Asking {
  context: AnswerContext;
  thread: AnsweredThread;
  open: OpenRequest;
  by: AnswerOptions;
}

async function findQuestionRights(
  asking: Asking,
  request: QuestionRequestContent,
): Promise<RequestRights> {
  const { requestId, threadId, allowDismiss, toolCall } = request;
  const type = 'question-response';
  const refusal = await findRefusal(asking, { type, requestId, status: 'answered', answers: [] });
  if (refusal !== undefined) return makeNoRights(request, refusal);
  /* The tool of the call that asks reads the answer. */
  const isRead = asking.open.place === undefined || (await hasTool(asking, toolCall?.toolName));
  if (!isRead) return makeNoRights(request, 'missing-tool');
  const mayReject =
    allowDismiss &&
    (await findRefusal(asking, { type, requestId, status: 'dismissed' })) === undefined;
  const no = { mayApprove: false, mayEdit: false, mayWithdraw: false, mayReassign: false };
  return { requestId, threadId, mayAnswer: true, mayReject, ...no };
}

async function findApprovalRights(
  asking: Asking,
  request: ApprovalRequest,
): Promise<RequestRights> {
  const { requestId, threadId } = request;
  const refusal = await findRefusal(asking, makeApproval(request));
  const mayApprove = refusal === undefined;
  const mayReject = (await findRefusal(asking, reject(request))) === undefined;
  const mayAnswer = mayApprove || (mayReject && refusal !== 'already-voted');
  const mayRemember = await findWidestRemember(asking, request);
  let more: Promise<boolean> | undefined;
  const mayGiveMore = (): Promise<boolean> => (more ??= findMore(asking, request));
  return {
    requestId,
    threadId,
    mayAnswer,
    ...(mayAnswer || refusal === undefined ? {} : { refusal }),
    mayApprove,
    mayReject,
    mayEdit: (await isEditable(asking, request)) && (await mayGiveMore()),
    ...(mayRemember === undefined ? {} : { mayRemember }),
    mayWithdraw: mayWithdraw(asking, request),
    /* It takes the right to approve. */
    mayReassign:
      (mayApprove || refusal === 'already-voted') &&
      (await mayReassign(asking, request)) &&
      /* A sub-agent lets people reassign its request if they may answer it and it can identify them. */
      (request.path === undefined || (await mayGiveMore())),
  };
}

/** An approval to ask about, with a reason where it must have one. */
function makeApproval(request: ApprovalRequest): ApprovalResponseContent {
  return approve(request, request.requireReason === true ? { reason: 'It is only asked.' } : {});
}

/** Finds the reason why the person may not give an answer, or why it would not count; `undefined` if it would. */
async function findRefusal(
  asking: Asking,
  response: UserInputResponseContent,
): Promise<AnswerRefusal | undefined> {
  try {
    return (await admitsRepetition(asking, response)) ? 'already-voted' : undefined;
  } catch (error) {
    return readRefusal(error);
  }
}

/** Checks whether an answer only repeats what the person has answered. Throws, as answering does, if the person may not give it. */
async function admitsRepetition(
  asking: Asking,
  response: UserInputResponseContent,
): Promise<boolean> {
  const { context, thread, open, by } = asking;
  const { mayAnswer } = context;
  const answer = { open, response, by, above: {}, mayAnswer };
  const { voter, passed } = await admitAnswer(context, thread, answer);
  if (passed !== undefined) return passed.isRepeated;
  if (voter === undefined || response.type !== 'approval-response') return false;
  return isRepeated(asking, response, voter);
}

/** Checks whether an approval repeats one that the person has given. Throws `not-allowed` if they gave it under another name. */
async function isRepeated(
  { context, open: { request }, by }: Asking,
  response: ApprovalResponseContent,
  voter: Voter,
): Promise<boolean> {
  if (request.type !== 'approval-request' || response.input !== undefined) return false;
  const revoked = await findRevokedVoters(context.mayAnswer, request, {});
  const { request: standing } = withdrawVotes(request, revoked, context.now());
  return countAnswer(context, standing, { response, voter, by }).isRepeated;
}

/** Reads from an error why an answer was refused; `undefined` if only for its content. Throws other errors. */
function readRefusal(error: unknown): AnswerRefusal | undefined {
  if (error instanceof RefusedAnswerError) return error.refusal;
  if (!HoldpointError.isInstance(error)) throw error;
  const { code } = error;
  if (code === 'invalid-answer' || code === 'answer-mismatch') return undefined;
  const refusal = refusalOf[code];
  if (refusal === undefined) throw error;
  return refusal;
}

async function isEditable(asking: Asking, request: ApprovalRequest): Promise<boolean> {
  const { editable, toolCall, path, inputSchema } = request;
  if (editable === undefined || toolCall === undefined) return false;
  const { attempts = 0 } = callAt(asking.thread.head, asking.open.place) ?? {};
  if (attempts > 0) return false;
  return (path ?? inputSchema) !== undefined || hasTool(asking, toolCall.toolName);
}

/** Checks whether the person may give an answer that says more than yes, for which they must be known. It ends the votes before it. */
async function findMore(asking: Asking, request: ApprovalRequest): Promise<boolean> {
  const edited = { ...makeApproval(request), input: request.toolCall?.input };
  const refusal = await findRefusal(asking, edited);
  return refusal === undefined || refusal === 'already-voted';
}

/** Finds the widest standing approval that would be accepted with an approval: of the widest scope that is kept. */
async function findWidestRemember(
  asking: Asking,
  request: ApprovalRequest,
): Promise<Remember | undefined> {
  const { remember: allowed, toolCall } = request;
  if (allowed === undefined || toolCall === undefined) return undefined;
  const isCovered = matchFor(allowed.match, toolCall) !== undefined;
  const widest = grantScopes.indexOf(allowed.scope);
  for (const scope of grantScopes.slice(0, widest + 1).toReversed()) {
    const remember = { ...allowed, scope, ...(isCovered ? {} : { match: 'exact' as const }) };
    if (await wouldRemember(asking, request, remember)) return remember;
  }
  return undefined;
}

async function wouldRemember(
  asking: Asking,
  request: ApprovalRequest,
  remember: Remember,
): Promise<boolean> {
  const { context, thread, open, by } = asking;
  const { mayAnswer } = context;
  const response = { ...makeApproval(request), remember };
  const tools = await context.definedTools();
  try {
    const answer = { open, response, by, above: {}, mayAnswer };
    const { voter = {}, passed } = await admitAnswer(context, thread, answer);
    /* A sub-agent refuses what it does not remember. */
    if (passed !== undefined) return !passed.isRepeated;
    if (await isRepeated(asking, response, voter)) return false;
    const remembered = { open, request, response, voter, tools };
    return (await whyNotRemembered(context, remembered)) === undefined;
  } catch (error) {
    readRefusal(error);
    return false;
  }
}

function mayWithdraw({ context, by }: Asking, request: ApprovalRequest): boolean {
  try {
    findOwnVote(context, request, by);
    return true;
  } catch (error) {
    readRefusal(error);
    return false;
  }
}

async function mayReassign(asking: Asking, request: ApprovalRequest): Promise<boolean> {
  const { context, thread, by } = asking;
  const { mayAnswer } = context;
  if (mayAnswer === undefined) return false;
  try {
    await findReassigner(context, thread, { request, by, mayAnswer });
    return true;
  } catch (error) {
    readRefusal(error);
    return false;
  }
}

async function hasTool({ context }: Asking, toolName = ''): Promise<boolean> {
  return (await context.definedTools()).has(toolName);
}
