import { applyToRequest } from '../../thread/events.ts';
import { explainSamePerson, isSamePerson, type Person } from '../../policy/same-person.ts';
import type { ApprovalRequest } from '../../content/approval.ts';
import { type Vote, type Voter, votesOfOthers } from '../../content/vote.ts';
import type { ThreadEventOf } from '../../thread/thread-event.ts';
import { listPeopleBehind } from './find-voter.ts';
import type { AnswerContext } from './right-to-answer.ts';
import { makeVoterRefusal } from './answer-errors.ts';

/** The votes of a request, as they count beside an answer. */
export interface VoteCount {
  /** The votes of other people, one for each. */
  others: Vote[];
  /** The vote of the person who answers, with their name of today. */
  own: { vote: Vote; name: string | undefined } | undefined;
  /** The votes that no longer count beside the answer, and that the log would still count. */
  doubles: Vote[];
}

/**
 * Counts votes by today's `principalId`: nobody counts twice, neither for themselves and for another person, nor under two names that are
 * loosely the same. Throws `not-allowed` for an approval by a person who has already approved under another such name.
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

/** Makes the event that takes back a person's approval. Their own edit, and one that nobody else approves, ends with it. */
export function makeWithdrawn(
  { requestId, votes = [], edit }: ApprovalRequest,
  person: string,
  at: number,
): Withdrawn {
  const theirs = votes.filter((vote) => vote.person === person);
  const isEditor = edit !== undefined && votesOfOthers(theirs, edit).length < theirs.length;
  const endsEdit = isEditor || (edit !== undefined && theirs.length === votes.length);
  return { type: 'vote-withdrawn', at, requestId, person, ...(endsEdit ? { endsEdit } : {}) };
}
