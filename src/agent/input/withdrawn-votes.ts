import type { ApprovalRequest } from '../../content/approval.ts';
import { votesOfOthers } from '../../content/vote.ts';
import { applyToRequest } from '../../thread/events.ts';
import type { ThreadEventOf } from '../../thread/thread-event.ts';

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
