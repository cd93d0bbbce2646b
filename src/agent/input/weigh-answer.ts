import type { ApprovalRequest, ApprovalResponseContent } from '../../content/approval.ts';
import { type RequestEdit, votesOfOthers } from '../../content/vote.ts';
import { HoldpointError } from '../../errors.ts';
import { equalJson } from '../../policy/digest.ts';
import type { ThreadEvent, ThreadEventOf } from '../../thread/thread-event.ts';
import type { OpenRequest, ThreadState } from '../../thread/thread-state.ts';
import type { AnswerContext } from './answer-context.ts';
import { editOf } from './answer-edit.ts';
import { grantMaker } from './answer-grant.ts';
import { voterFor } from './answer-voter.ts';
import type { Weigh } from './parse-input.ts';
import { revokedVoters } from './revoked-votes.ts';
import type { AnswerOptions } from './run-input.ts';

/** An answer that is to be weighed. */
export interface Answering {
  open: OpenRequest;
  response: ApprovalResponseContent;
  by: AnswerOptions;
  /** The person who had asked the sender to answer instead. */
  onBehalfOf: string | undefined;
}

/**
 * Checks an answer that says more than yes or no, or whose request demands more than one yes, and returns how it counts. Throws
 * `not-allowed` for a person who may not answer, `invalid-answer` for an edit or a standing approval that the request doesn't allow.
 */
export async function weighAnswer(
  context: AnswerContext,
  state: Readonly<ThreadState>,
  answering: Answering,
): Promise<Weigh> {
  const { open, response, by } = answering;
  const { request } = open;
  if (request.type !== 'approval-request') throw new TypeError('Only approvals are weighed.');
  const voter = voterFor(context, request, answering);
  refuseSilentApproval(request, response);
  const tools = await context.definedTools();
  const revoked = await revokedVoters(context.mayAnswer, request);
  const edited = await editOf(state, tools, { open, request, response });
  const makeGrant = await grantMaker(context, { open, request, response, voter, by, tools });
  return (current, at) => {
    const now = current.request;
    if (now.type !== 'approval-request') throw new TypeError('A request changed its type.');
    const edit = response.approved ? newEdit(now, response, edited) : undefined;
    const { toolCall: _shown, input: _edited, ...recorded } = response;
    const answer = { at, response: recorded, ...by, ...voter, ...(edit && { edit }) };
    const votes = edit === undefined ? (now.votes ?? []) : [];
    const gone = votes.filter(({ person }) => revoked.has(person));
    const withdrawn = gone.map(({ person }) => withdrawnVote(response, person, at));
    const present = votes.filter((vote) => !gone.includes(vote));
    const others = votesOfOthers(present, voter);
    if (response.approved && others.length + 1 < (now.quorum ?? 1)) {
      const mine = present.find((vote) => !others.includes(vote));
      const isRepeated =
        mine?.person === voter.person && equalJson(mine?.remember, response.remember);
      return isRepeated ? withdrawn : [...withdrawn, voted(answer)];
    }
    const isUnanimous = others.every(({ remember }) => equalJson(remember, response.remember));
    const input = edit?.input ?? now.edit?.input ?? now.toolCall?.input;
    const grants = !response.approved || isUnanimous ? makeGrant(input, at, others) : [];
    return [...withdrawn, { type: 'request-answered', ...answer }, ...grants];
  };
}

/** The approval of somebody who may not answer any more is taken back. */
function withdrawnVote(
  { requestId }: ApprovalResponseContent,
  person: string,
  at: number,
): ThreadEvent {
  return { type: 'vote-withdrawn', at, requestId, person };
}

function voted(answer: Omit<ThreadEventOf<'request-answered'>, 'type'>): ThreadEvent {
  const { person, response, ...rest } = answer;
  if (person === undefined || response.type !== 'approval-response') {
    throw new TypeError('A vote is an approval by a person.');
  }
  return { type: 'request-voted', ...rest, response, person };
}

/** A request that demands reasons gets one with each yes. */
function refuseSilentApproval(
  { requestId, requireReason }: ApprovalRequest,
  { approved, reason = '' }: ApprovalResponseContent,
): void {
  if (requireReason !== true || !approved || reason.trim() !== '') return;
  throw new HoldpointError(
    'invalid-answer',
    `Request ${requestId} can be approved only with a reason: pass one, as in request.approve({ reason }).`,
    { requestId },
  );
}

/**
 * The edit to record, for the request as it is now: none if the answer approves what is shown. Throws `answer-mismatch` for an approval
 * that doesn't say which input it is for, when somebody else has edited it.
 */
function newEdit(
  now: ApprovalRequest,
  { requestId, input, digest }: ApprovalResponseContent,
  edited: Pick<RequestEdit, 'input' | 'patches'> & { digest: string },
): ThreadEventOf<'request-answered'>['edit'] {
  const { edit: pending } = now;
  if (input === undefined) {
    if (pending === undefined || digest === now.digest) return undefined;
    throw new HoldpointError(
      'answer-mismatch',
      `Request ${requestId} was edited: an approval must repeat its digest, or the input to run. Show the stored request again.`,
      { requestId },
    );
  }
  const shown = pending === undefined ? now.toolCall?.input : pending.input;
  return equalJson(input, shown) ? undefined : edited;
}
