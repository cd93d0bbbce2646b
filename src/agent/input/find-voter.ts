import type { ApprovalRequest } from '../../content/approval.ts';
import { isAnswererLimited } from '../../content/approval-terms.ts';
import { listRequesters } from '../../content/requesters.ts';
import type { Right, Voter } from '../../content/vote.ts';
import {
  explainSamePerson,
  findPrincipalName,
  identifyStrictly,
  isSamePerson,
  type Person,
} from '../../policy/same-person.ts';
import type { AnswerContext, Answering } from './right-to-answer.ts';
import type { AnswerOptions } from './parse-input.ts';
import { makeVoterRefusal } from './answer-errors.ts';

type Identifying = Pick<AnswerContext, 'principalId'>;

/**
 * Finds the voter of an answer, as recorded. Throws `not-allowed` for a person whom the request excludes, or who can't be distinguished
 * from others.
 */
export function findVoter(
  context: Pick<AnswerContext, 'principalId' | 'mayAnswer'>,
  request: ApprovalRequest,
  { by, right }: Pick<Answering, 'by'> & { right: Right },
): Voter {
  const { approvers, notRequester, requestId } = request;
  const { principal } = by;
  if (approvers !== undefined && context.mayAnswer === undefined) {
    throw makeVoterRefusal(requestId, 'unknownApprovers');
  }
  if (principal === undefined) {
    if (!isAnswererLimited(request)) return {};
    throw makeVoterRefusal(requestId, 'noPrincipal');
  }
  const person = identifyVoter(context, by, requestId);
  const voter = { person, ...(right.of === 'self' ? {} : { onBehalfOf: right.from }) };
  if (notRequester === true) refuseRequesters(context, request, { ...voter, principal });
  return voter;
}

/** Lists the people behind a vote: who voted, and for whom. */
export function listPeopleBehind(
  { principalId }: Identifying,
  { reassignments = [] }: ApprovalRequest,
  { person, onBehalfOf, principal }: Voter & { principal?: unknown },
): Person[] {
  /* The first of a person's reassignments is their own. */
  const own = reassignments.find(({ from }) => from === onBehalfOf)?.principal;
  const people = [
    { name: findPrincipalName(principal, principalId) ?? person, principal },
    {
      name:
        onBehalfOf === undefined ? undefined : (findPrincipalName(own, principalId) ?? onBehalfOf),
      principal: own,
    },
  ];
  return people.flatMap(({ name, ...known }) => (name === undefined ? [] : [{ name, ...known }]));
}

function refuseRequesters(
  context: Identifying,
  request: ApprovalRequest,
  voter: Voter & { principal: unknown },
): void {
  const { requestId } = request;
  const { principalId } = context;
  for (const principal of listRequesters(request)) {
    const name = findPrincipalName(principal, principalId);
    if (name === undefined) {
      throw makeVoterRefusal(requestId, 'unknownRequesters');
    }
    const requester = { name, principal };
    const same = listPeopleBehind(context, request, voter).find((each) =>
      isSamePerson(each, requester),
    );
    if (same === undefined) continue;
    const strictly = identifyStrictly(same.principal, principalId);
    const isCertain =
      strictly !== undefined && strictly === identifyStrictly(principal, principalId);
    throw makeVoterRefusal(
      requestId,
      'isRequester',
      isCertain ? undefined : explainSamePerson(same, requester),
    );
  }
}

/** Identifies a principal, as text. Throws `not-allowed` if the app's `principalId` can't. */
export function identifyVoter(
  { principalId }: Identifying,
  { principal }: Pick<AnswerOptions, 'principal'>,
  requestId: string,
): string {
  const person = findPrincipalName(principal, principalId);
  if (person !== undefined) return person;
  throw makeVoterRefusal(requestId, 'unnamed');
}
