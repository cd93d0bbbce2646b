import { type ApprovalRequest, approve } from '../../content/approval.ts';
import { HoldpointError } from '../../errors.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import { isExpired, type ThreadState } from '../../thread/thread-state.ts';
import type { AnswerContext } from './answer-context.ts';
import { allowedFor, askedAnswer, refused } from './allowed-answers.ts';
import { personOf, voterFor } from './answer-voter.ts';
import type { AnswerOptions } from './run-input.ts';

/** Takes back the approval that a person gave to a request that is not decided yet. */
export async function withdrawVote(
  context: AnswerContext,
  log: ThreadLog,
  { requestId, by }: { requestId: string; by: AnswerOptions },
): Promise<void> {
  const person = personOf(context, by, requestId);
  await log.commit((proposal) => {
    const { votes = [] } = openApproval(proposal.state, requestId, context.now());
    if (votes.every((vote) => vote.person !== person)) {
      throw new HoldpointError(
        'not-allowed',
        `Request ${requestId} has no approval of this principal to withdraw.`,
        { requestId },
      );
    }
    proposal.add({ type: 'vote-withdrawn', at: context.now(), requestId, person, ...by });
  });
}

/** Lets somebody else answer a request instead of a person who may answer it. */
export async function reassignRequest(
  context: AnswerContext,
  log: ThreadLog,
  { requestId, to, by }: { requestId: string; to: string; by: AnswerOptions },
): Promise<void> {
  const { mayAnswer } = context;
  if (mayAnswer === undefined || to.trim() === '' || to.length > 200) {
    throw new HoldpointError(
      mayAnswer === undefined ? 'not-allowed' : 'invalid-input',
      mayAnswer === undefined
        ? `Request ${requestId} can't be reassigned: this agent has no mayAnswer to say who '${to}' is.`
        : `Request ${requestId} can be reassigned to a name, role or team of 1 to 200 characters.`,
      { requestId },
    );
  }
  const { threadId } = log.state;
  const request = openApproval(log.state, requestId, context.now());
  if (request.path !== undefined) {
    throw new HoldpointError(
      'not-allowed',
      `Request ${requestId} belongs to a sub-agent: reassign it in the sub-agent's own thread.`,
      { requestId },
    );
  }
  const asked = askedAnswer(request, approve(request), by);
  const onBehalfOf = await allowedFor(mayAnswer, { request, asked }, () =>
    refused(threadId, requestId),
  );
  const from = onBehalfOf ?? personOf(context, by, requestId);
  voterFor(context, request, { by, onBehalfOf });
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
): ApprovalRequest {
  const request = head.openRequests.find((open) => open.request.requestId === requestId)?.request;
  if (request?.type === 'approval-request' && !isExpired(request, now)) return request;
  const isKnown = request !== undefined || endedRequests.has(requestId);
  throw new HoldpointError(
    isKnown ? 'request-closed' : 'unknown-request',
    isKnown
      ? `Request ${requestId} is not an open approval request.`
      : `This thread has no request ${requestId}; its open requests are in thread.activeRequests.`,
    { requestId },
  );
}
