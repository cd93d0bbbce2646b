import type { ApprovalRequest } from '../../content/approval.ts';
import { isAnswererLimited } from '../../content/approval-terms.ts';
import { type Requested, listRequesters } from '../../content/requesters.ts';
import type { Voter } from '../../content/vote.ts';
import {
  explainSamePerson,
  findPrincipalName,
  identifyStrictly,
  isSamePerson,
  type Person,
} from '../../policy/same-person.ts';
import type { AnswerContext, Answering } from './call-may-answer.ts';
import type { AnswerOptions } from './parse-input.ts';
import { makeVoterRefusal } from './answer-refusals.ts';

type Identifying = Pick<AnswerContext, 'principalId'>;

/**
 * Who answers a request, as it is recorded. Throws `not-allowed` for somebody whom the request excludes, or who can't be told from others.
 */
export function findVoter(
  context: Pick<AnswerContext, 'principalId' | 'mayAnswer'>,
  request: ApprovalRequest,
  {
    by,
    onBehalfOf,
    head,
  }: Pick<Answering, 'by'> & { onBehalfOf: string | undefined; head: Requested },
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
  const voter = { person, ...(onBehalfOf === undefined ? {} : { onBehalfOf }) };
  const asked = addRequesters(request, head);
  if (notRequester === true) refuseRequesters(context, asked, { ...voter, principal });
  return voter;
}

/* A request of an older version says only who sent the latest message; its thread knows who else is waiting for a reply. */
function addRequesters(request: ApprovalRequest, { requesters = [] }: Requested): ApprovalRequest {
  if (request.requesters !== undefined) return request;
  const known = requesters.filter((each) => each !== null);
  return { ...request, requesters: [...listRequesters(request), ...known] };
}

/** The people behind a vote: who voted, and for whom. */
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

/** Who a principal is, as text. Throws `not-allowed` if the app's `principalId` can't say. */
export function identifyVoter(
  { principalId }: Identifying,
  { principal }: Pick<AnswerOptions, 'principal'>,
  requestId: string,
): string {
  const person = findPrincipalName(principal, principalId);
  if (person !== undefined) return person;
  throw makeVoterRefusal(requestId, 'unnamed');
}
