import type { ApprovalRequest } from '../../content/approval.ts';
import { isForSome } from '../../content/approval-terms.ts';
import type { Voter } from '../../content/vote.ts';
import { HoldpointError } from '../../errors.ts';
import type { AnswerContext } from './answer-context.ts';
import type { AnswerOptions } from './run-input.ts';
import type { Answering } from './weigh-answer.ts';

/**
 * Who answers a request, as it is recorded. Throws `not-allowed` for somebody whom the request excludes, or who can't be told from others.
 */
export function voterFor(
  context: Pick<AnswerContext, 'principalId' | 'mayAnswer'>,
  request: ApprovalRequest,
  { by, onBehalfOf }: Pick<Answering, 'by' | 'onBehalfOf'>,
): Voter {
  const { approvers, notRequester, requestId, requestedBy } = request;
  const { principal } = by;
  if (approvers !== undefined && context.mayAnswer === undefined) {
    throw notAllowed(
      requestId,
      'it names approvers, and this agent has no mayAnswer to say who they are',
    );
  }
  if (principal === undefined) {
    if (!isForSome(request)) return {};
    throw notAllowed(requestId, "it depends on who answers: pass the answer's principal");
  }
  const person = personOf(context, by, requestId);
  if (notRequester !== true) return { person, ...(onBehalfOf === undefined ? {} : { onBehalfOf }) };
  if (requestedBy === undefined) {
    throw notAllowed(requestId, "the person for whom it was made may not answer, and isn't known");
  }
  const requester = personOf(context, { principal: requestedBy }, requestId);
  if (person === requester || onBehalfOf === requester) {
    throw notAllowed(requestId, 'the person for whom it was made may not answer it');
  }
  return { person, ...(onBehalfOf === undefined ? {} : { onBehalfOf }) };
}

/** Who a principal is, as text. Throws `not-allowed` if the app's `principalId` can't say. */
export function personOf(
  { principalId }: Pick<AnswerContext, 'principalId'>,
  { principal }: Pick<AnswerOptions, 'principal'>,
  requestId: string,
): string {
  const person: unknown = principal === undefined ? undefined : principalId(principal);
  if (typeof person === 'string' && person.trim() !== '') return person;
  throw notAllowed(requestId, 'it depends on who answers, and principalId gave no text');
}

function notAllowed(requestId: string, why: string): HoldpointError {
  return new HoldpointError('not-allowed', `Request ${requestId} can't be answered: ${why}.`, {
    requestId,
  });
}
