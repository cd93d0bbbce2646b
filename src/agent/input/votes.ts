import { applyToRequest } from '../../thread/events.ts';
import {
  explainSamePerson,
  findPrincipalName,
  isSamePerson,
  type Person,
} from '../../policy/same-person.ts';
import { type ApprovalRequest, approve } from '../../content/approval.ts';
import type { Requested } from '../../content/requesters.ts';
import { type Vote, type Voter, votesOfOthers } from '../../content/vote.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import type { ThreadEventOf } from '../../thread/thread-event.ts';
import { isOverdue, type OpenRequest } from '../../thread/thread-head.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { findAskingDelegation, type Reassignment } from '../calls/delegation.ts';
import { identifyVoter, findVoter, listPeopleBehind } from './answer-voter.ts';
import { commitMirror } from './answers-below.ts';
import { type AnswerContext, findAllowedPerson, makeAskedAnswer } from './call-may-answer.ts';
import {
  makeMayAnswerRefusal,
  makeNoVoteError,
  makeNotOpenError,
  makeReassignNameError,
  makeReassignRefusal,
  makeUnknownRequestError,
  makeVoterRefusal,
} from './answer-refusals.ts';
import type { AnswerOptions, MayAnswer } from './parse-input.ts';

/** The votes of a request, as they count beside an answer. */
export interface VoteCount {
  /** Those of other people, one for each. */
  others: Vote[];
  /** That of the person who answers, and who gave it, by today's name. */
  own: { vote: Vote; name: string | undefined } | undefined;
  /** Those that no longer count beside the answer, and that the log would still count. */
  doubles: Vote[];
}

/**
 * Counts votes by today's `principalId`: nobody counts twice, neither for themselves and for somebody else, nor under two names that are
 * loosely the same. Throws `not-allowed` for an approval by somebody who has already approved under another such name.
 */
export function countVotes(
  context: Pick<AnswerContext, 'principalId'>,
  request: ApprovalRequest,
  {
    votes,
    voter,
    approved,
  }: { votes: readonly Vote[]; voter: Voter & { principal?: unknown }; approved: boolean },
): VoteCount {
  const people = (each: Voter & { principal?: unknown }): Person[] =>
    listPeopleBehind(context, request, each);
  const counted = people(voter);
  const answering = [...counted];
  const count: VoteCount = { others: [], own: undefined, doubles: [] };
  for (const vote of votes) {
    const behind = people(vote);
    const isReplaced = votesOfOthers([vote], voter).length === 0;
    const isOwn = isReplaced || sharesPerson(behind, answering);
    if (isOwn && approved) refuseOtherName(request, behind, answering);
    if (isOwn) count.own ??= { vote, name: behind[0]?.name };
    if (isOwn ? !isReplaced : sharesPerson(behind, counted)) count.doubles.push(vote);
    else if (!isOwn) count.others.push(vote);
    counted.push(...behind);
  }
  return count;
}

function sharesPerson(some: readonly Person[], others: readonly Person[]): boolean {
  return some.some((one) => others.some((other) => isSamePerson(one, other)));
}

/* Under the same name it is a repetition, or a changed approval. */
function refuseOtherName(
  { requestId }: ApprovalRequest,
  voted: readonly Person[],
  answering: readonly Person[],
): void {
  const names = new Set(voted.map(({ name }) => name));
  if (answering.some(({ name }) => names.has(name))) return;
  const [one] = answering;
  const other = voted.find((each) => one !== undefined && isSamePerson(each, one)) ?? voted[0];
  if (one === undefined || other === undefined) return;
  throw makeVoterRefusal(requestId, 'hasApproved', explainSamePerson(one, other));
}

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
  await log.commit((proposal) => {
    const { request } = openApproval(proposal.state, requestId, context.now());
    const own = findOwnVote(context, request, by);
    proposal.add({ ...makeWithdrawn(request, own.person, context.now()), ...by });
  });
}

/** The approval that a person may take back. Throws `not-allowed` if there is none. */
export function findOwnVote(
  context: Pick<AnswerContext, 'principalId'>,
  { requestId, votes = [] }: ApprovalRequest,
  by: AnswerOptions,
): Vote {
  const { principalId } = context;
  const person = identifyVoter(context, by, requestId);
  const own = votes.find(
    (vote) => (findPrincipalName(vote.principal, principalId) ?? vote.person) === person,
  );
  if (own === undefined) throw makeNoVoteError(requestId);
  return own;
}

/** Lets somebody else answer a request instead of a person who may answer it. For a mirrored request, the sub-agent records it first. */
export async function reassignRequest(
  context: AnswerContext,
  log: ThreadLog,
  { requestId, to, by, isFromParent }: Reassignment,
): Promise<void> {
  const { mayAnswer } = context;
  const isName = to.trim() !== '' && to.length <= 200;
  if (mayAnswer === undefined && (!isFromParent || !isName))
    throw makeReassignRefusal(requestId, to);
  if (!isName) throw makeReassignNameError(requestId);
  const { threadId, head } = log.state;
  const open = openApproval(log.state, requestId, context.now());
  const from = await findReassigner(context, log.state, { request: open.request, by, mayAnswer });
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

/** The person who may let somebody else answer a request: the principal, or the one for whom they may. Throws `not-allowed` for anybody else. */
export async function findReassigner(
  context: Pick<AnswerContext, 'principalId' | 'mayAnswer'>,
  { threadId, head }: { threadId: string; head: Requested },
  {
    request,
    by,
    mayAnswer,
  }: { request: ApprovalRequest; by: AnswerOptions; mayAnswer: MayAnswer | undefined },
): Promise<string> {
  const { requestId } = request;
  const asked = makeAskedAnswer(request, approve(request), by);
  const onBehalfOf = await findAllowedPerson(mayAnswer, { request, asked }, () =>
    makeMayAnswerRefusal(threadId, requestId),
  );
  const from = onBehalfOf ?? identifyVoter(context, by, requestId);
  findVoter(context, request, { by, onBehalfOf, head });
  return from;
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
  throw isKnown ? makeNotOpenError(requestId) : makeUnknownRequestError(requestId);
}

type Withdrawn = ThreadEventOf<'vote-withdrawn'>;

/** A request without the approvals of some people, and the events that take these back. */
export function withdrawVotes(
  request: ApprovalRequest,
  people: ReadonlySet<string>,
  at: number,
): { request: ApprovalRequest; withdrawn: Withdrawn[] } {
  const gone = (request.votes ?? []).find(({ person }) => people.has(person));
  if (gone === undefined) return { request, withdrawn: [] };
  const event = makeWithdrawn(request, gone.person, at);
  const rest = withdrawVotes(applyToRequest(request, event), people, at);
  return { request: rest.request, withdrawn: [event, ...rest.withdrawn] };
}

/** The event that takes back a person's approval. An edit that was theirs, or that nobody else approves, ends with it. */
function makeWithdrawn(
  { requestId, votes = [], edit }: ApprovalRequest,
  person: string,
  at: number,
): Withdrawn {
  const theirs = votes.filter((vote) => vote.person === person);
  const isEditor = edit !== undefined && votesOfOthers(theirs, edit).length < theirs.length;
  const endsEdit = isEditor || (edit !== undefined && theirs.length === votes.length);
  return { type: 'vote-withdrawn', at, requestId, person, ...(endsEdit ? { endsEdit } : {}) };
}
