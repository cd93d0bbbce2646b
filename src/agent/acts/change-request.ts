import { approve, type ApprovalRequest } from '../../content/approval.ts';
import type { Right, Vote } from '../../content/vote.ts';
import { isSamePrincipal } from '../../policy/same-person.ts';
import { isOverdue, type OpenRequest } from '../../thread/thread-head.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { findAskingDelegation } from '../calls/delegation.ts';
import {
  makeMayAnswerRefusal,
  makeNotOpenError,
  makeNoVoteError,
  makeReassignNameError,
  makeReassignRefusal,
  makeUnknownRequestError,
} from '../input/answer-errors.ts';
import { findVoter, identifyVoter } from '../input/find-voter.ts';
import { useRightBelow } from '../input/answers-below.ts';
import { type AnswerContext, findRight, makeAskedAnswer } from '../input/right-to-answer.ts';
import type { AnswerOptions, MayAnswer } from '../input/parse-input.ts';
import { makeWithdrawn } from '../input/votes.ts';
import type { ActRow } from './act.ts';

/* Acts on an open request other than answering: taking an approval back, and letting another person answer. */

/** Takes back the approval that a person gave to a request that is not decided yet. */
export const withdraw: ActRow<'withdraw'> = {
  isOutermost: true,
  async admit({ context, log: { state }, act, by }) {
    const open = openApproval(state, act.requestId, context.now());
    const asking = findAskingDelegation(context.tools, state, open);
    if (asking === undefined) return { found: undefined };
    await asking.delegation.change(asking.call, { change: act, request: open.request, by });
    return { recordedBelow: asking };
  },
  decide(proposal, { context, act: { requestId }, by, at }) {
    const { request } = openApproval(proposal.state, requestId, at);
    const own = findOwnVote(context, request, by);
    proposal.add({ ...makeWithdrawn(request, own.person, at), ...by });
  },
};

/** Finds the approval that a person may take back. Throws `not-allowed` if there is none. */
export function findOwnVote(
  context: Pick<AnswerContext, 'principalId'>,
  { requestId, votes = [] }: ApprovalRequest,
  by: AnswerOptions,
): Vote {
  const { principalId } = context;
  identifyVoter(context, by, requestId);
  /* Strictly: two people may have the same id. */
  const own = votes.find((vote) => isSamePrincipal(vote.principal, by.principal, principalId));
  if (own === undefined) throw makeNoVoteError(requestId);
  return own;
}

/** The right in which a request is reassigned. */
export interface AdmittedReassignment {
  from: string;
}

/** Lets another person answer a request instead of one who may answer it. */
export const reassign: ActRow<'reassign', AdmittedReassignment> = {
  isOutermost: true,
  async admit({ context, log: { state }, act, by, above }) {
    const { requestId, to } = act;
    const { mayAnswer } = context;
    const { right: within } = above ?? {};
    const isName = to.trim() !== '' && to.length <= 200;
    /* The agent of the parent thread knows who `to` is. */
    if (mayAnswer === undefined && (within === undefined || !isName))
      throw makeReassignRefusal(requestId, to);
    if (!isName) throw makeReassignNameError(requestId);
    const open = openApproval(state, requestId, context.now());
    const { request } = open;
    const asking = findAskingDelegation(context.tools, state, open);
    if (asking === undefined)
      return {
        found: { from: await findReassigner(context, state, { request, by, mayAnswer, within }) },
      };
    const asked = makeAskedAnswer(request, approve(request), by);
    await useRightBelow({ request, asked, mayAnswer, within }, async (right) =>
      asking.delegation.change(asking.call, { change: act, request, by, right }),
    );
    return { recordedBelow: asking };
  },
  decide(proposal, { act: { requestId, to }, by, at, found: { from } }) {
    openApproval(proposal.state, requestId, at);
    proposal.add({ type: 'request-reassigned', at, requestId, from, to, ...by });
  },
};

/** Finds the person who reassigns a request: the principal, or the one in whose right they may. Throws `not-allowed` for anybody else. */
export async function findReassigner(
  context: Pick<AnswerContext, 'principalId' | 'mayAnswer'>,
  { threadId }: { threadId: string },
  {
    request,
    by,
    mayAnswer,
    within,
  }: {
    request: ApprovalRequest;
    by: AnswerOptions;
    mayAnswer: MayAnswer | undefined;
    within?: Right | undefined;
  },
): Promise<string> {
  const { requestId } = request;
  const asked = makeAskedAnswer(request, approve(request), by);
  const right = await findRight(mayAnswer, { request, asked, within }, () =>
    makeMayAnswerRefusal(threadId, requestId),
  );
  const from = right.of === 'self' ? identifyVoter(context, by, requestId) : right.from;
  findVoter(context, request, { by, right });
  return from;
}

function openApproval(
  state: Readonly<ThreadState>,
  requestId: string,
  now: number,
): OpenRequest & { request: ApprovalRequest } {
  const { head, endedRequests } = state;
  const open = head.openRequests.find(({ request }) => request.requestId === requestId);
  const { request } = open ?? {};
  if (open !== undefined && request?.type === 'approval-request' && !isOverdue(head, open, now))
    return { ...open, request };
  const isKnown = request !== undefined || endedRequests.has(requestId);
  throw isKnown ? makeNotOpenError(requestId) : makeUnknownRequestError(state, requestId);
}
