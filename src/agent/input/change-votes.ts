import { type ApprovalRequest, approve } from '../../content/approval.ts';
import { HoldpointError } from '../../errors.ts';
import { findPrincipalName } from '../../policy/same-person.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import { isOverdue, type OpenRequest } from '../../thread/thread-head.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { findAskingDelegation, type Reassignment } from '../calls/delegation.ts';
import type { AnswerContext } from './answer-context.ts';
import { findAllowedPerson, makeAskedAnswer, makeMayAnswerRefusal } from './ask-may-answer.ts';
import { commitMirror } from './answers-below.ts';
import { identifyVoter, findVoter } from './answer-voter.ts';
import type { AnswerOptions } from './run-input.ts';
import { makeWithdrawn } from './withdrawn-votes.ts';

/** Takes back the approval that a person gave to a request that is not decided yet. */
export async function withdrawVote(
  context: AnswerContext,
  log: ThreadLog,
  { requestId, by }: { requestId: string; by: AnswerOptions },
): Promise<void> {
  const { threadId, head } = log.state;
  const open = openApproval(log.state, requestId, context.now());
  const asking = findAskingDelegation(context.tools, { threadId, head }, open);
  if (asking !== undefined) {
    await asking.delegation.withdraw(asking.call, { request: open.request, by });
    return commitMirror(context, log, asking);
  }
  const { principalId } = context;
  const person = identifyVoter(context, by, requestId);
  await log.commit((proposal) => {
    const { request } = openApproval(proposal.state, requestId, context.now());
    const own = (request.votes ?? []).find(
      (vote) => (findPrincipalName(vote.principal, principalId) ?? vote.person) === person,
    );
    if (own === undefined) {
      throw new HoldpointError(
        'not-allowed',
        `Request ${requestId} has no approval of this principal to withdraw.`,
        { requestId },
      );
    }
    proposal.add({ ...makeWithdrawn(request, own.person, context.now()), ...by });
  });
}

/** Lets somebody else answer a request instead of a person who may answer it. For a mirrored request, the sub-agent records it first. */
export async function reassignRequest(
  context: AnswerContext,
  log: ThreadLog,
  { requestId, to, by, isFromParent }: Reassignment,
): Promise<void> {
  const { mayAnswer } = context;
  if ((mayAnswer === undefined && !isFromParent) || to.trim() === '' || to.length > 200) {
    throw new HoldpointError(
      mayAnswer === undefined ? 'not-allowed' : 'invalid-input',
      mayAnswer === undefined
        ? `Request ${requestId} can't be reassigned: this agent has no mayAnswer to say who '${to}' is.`
        : `Request ${requestId} can be reassigned to a name, role or team of 1 to 200 characters.`,
      { requestId },
    );
  }
  const { threadId, head } = log.state;
  const open = openApproval(log.state, requestId, context.now());
  const { request } = open;
  const asked = makeAskedAnswer(request, approve(request), by);
  const onBehalfOf = await findAllowedPerson(mayAnswer, { request, asked }, () =>
    makeMayAnswerRefusal(threadId, requestId),
  );
  const from = onBehalfOf ?? identifyVoter(context, by, requestId);
  findVoter(context, request, { by, onBehalfOf, head });
  const asking = findAskingDelegation(context.tools, { threadId, head }, open);
  /* If the process dies after this, this thread still refuses the other person, and the request can be reassigned again. */
  if (asking !== undefined) {
    await asking.delegation.reassign(asking.call, { requestId, to, by, isFromParent: true });
    return commitMirror(context, log, asking);
  }
  await log.commit((proposal) => {
    const at = context.now();
    openApproval(proposal.state, requestId, at);
    proposal.add({ type: 'request-reassigned', at, requestId, from, to, ...by });
  });
}

function openApproval(
  { head, endedRequests }: Readonly<ThreadState>,
  requestId: string,
  now: number,
): OpenRequest & { request: ApprovalRequest } {
  const open = head.openRequests.find(({ request }) => request.requestId === requestId);
  const { request } = open ?? {};
  if (open !== undefined && request?.type === 'approval-request' && !isOverdue(head, open, now))
    return { ...open, request };
  const isKnown = request !== undefined || endedRequests.has(requestId);
  throw new HoldpointError(
    isKnown ? 'request-closed' : 'not-found',
    isKnown
      ? `Request ${requestId} is not an open approval request.`
      : `This thread has no request ${requestId}; its open requests are in thread.activeRequests.`,
    { requestId },
  );
}
