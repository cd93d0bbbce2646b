import type { ApprovalRequest, ApprovalResponseContent } from '../../content/approval.ts';
import type { Voter } from '../../content/vote.ts';
import { isEqualJson } from '../../policy/digest.ts';
import { withEdit } from '../../thread/events.ts';
import type { ThreadEvent, ThreadEventOf } from '../../thread/thread-event.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import {
  type AnswerContext,
  type Answering,
  findRight,
  findRevokedVoters,
  makeAskedAnswer,
} from './right-to-answer.ts';
import { type Edited, checkEdit } from './answer-edit.ts';
import { draftGrant, type GrantDraft, makeGrantEvents } from './answer-grant.ts';
import { findVoter } from './find-voter.ts';
import { countVotes, type VoteCount, withdrawVotes } from './votes.ts';
import { AskAgain } from './ask-again.ts';
import type { AnswerOptions } from './parse-input.ts';
import type { OpenRequest } from '../../thread/thread-head.ts';
import {
  makeAlreadyAnsweredError,
  makeEditedMeanwhileError,
  makeMayAnswerRefusal,
  makeSilentApprovalError,
  makeUnclearApprovalError,
} from './answer-errors.ts';

/**
 * An approval or rejection that says more than yes or no, or whose request demands more than one yes, after the app has allowed it:
 * everything that decides how it counts.
 */
export interface WeighedAnswer {
  response: ApprovalResponseContent;
  by: AnswerOptions;
  voter: Voter;
  /** The people whose votes no longer counted. */
  revoked: ReadonlySet<string>;
  /** The digest of the request without their votes. */
  digest: string;
  /** The input as the answer edits it. */
  edited: Edited;
  grant?: GrantDraft | undefined;
  onlyIfUnspent?: boolean | undefined;
}

/**
 * Asks the app about an answer that is to be weighed. `voter` is the person who was admitted. Throws `not-allowed` for a person who may not
 * edit, `invalid-answer` for an edit or a standing approval that the request doesn't allow.
 */
export async function weighAnswer(
  context: AnswerContext,
  state: Readonly<ThreadState>,
  answering: Answering & { voter: Voter },
): Promise<WeighedAnswer> {
  const { open, response, by, above, voter: self } = answering;
  const { request } = open;
  if (request.type !== 'approval-request') throw new TypeError('Only approvals are weighed.');
  refuseSilentApproval(request, response);
  const tools = await context.definedTools();
  const revoked = await findRevokedVoters(context.mayAnswer, request, above);
  const { request: standing } = withdrawVotes(request, revoked, context.now());
  const edited = await checkEdit(context, state, { ...answering, request: standing });
  const isEdit =
    !isOfEndedEdit(request, standing, response) &&
    chooseEdit(standing, response, edited) !== undefined;
  const voter = isEdit ? await findEditor(context, { ...answering, standing, edited }) : self;
  const grant = await draftGrant(context, state, { open, request, response, voter, tools });
  const { onlyIfUnspent } = above;
  return { response, by, voter, revoked, digest: standing.digest, edited, grant, onlyIfUnspent };
}

/**
 * The events of a weighed answer to a request as it is now: the first says that the request is decided, or voted on; none if nothing
 * changes. Throws `AskAgain` if the request was edited since the app was asked.
 */
export function countWeighed(
  context: Pick<AnswerContext, 'principalId'>,
  { response, by, voter, revoked, digest, edited, grant, onlyIfUnspent }: WeighedAnswer,
  { request: current }: OpenRequest,
  at: number,
): ThreadEvent[] {
  if (current.type !== 'approval-request') throw new TypeError('A request changed its type.');
  const { request: now, withdrawn } = withdrawVotes(current, revoked, at);
  if (response.approved && now.digest !== digest)
    throw new AskAgain(makeEditedMeanwhileError(now.requestId));
  /* The approved edit has ended with its author's approval. */
  if (isOfEndedEdit(current, now, response)) return withdrawn;
  const edit = chooseEdit(now, response, edited);
  const { toolCall: _shown, input: _edited, ...recorded } = response;
  const answer = { at, response: recorded, ...by, ...voter, ...(edit && { edit }) };
  const count = countAnswer(context, now, { response, voter, by, edit });
  const { others, own, doubles, isVote, isRepeated } = count;
  if (onlyIfUnspent === true && own !== undefined && !isRepeated)
    throw makeAlreadyAnsweredError(now.requestId);
  const ended = doubles.filter(({ person }) => !isRepeated || person !== own?.vote.person);
  const counted = withdrawVotes(now, new Set(ended.map(({ person }) => person)), at);
  const before = [...withdrawn, ...counted.withdrawn];
  /* The approved edit ends with one of these votes. */
  const isEnded = edit === undefined && response.approved && counted.request.digest !== now.digest;
  if (isRepeated || isEnded) return before;
  if (isVote) return [...before, makeVoteEvent(answer)];
  const isUnanimous = others.every(({ remember }) => isEqualJson(remember, response.remember));
  const input = edit === undefined ? now.toolCall?.input : edit.input;
  const deciding = { request: now, response, voter, by, votes: others, input, at };
  const grants = !response.approved || isUnanimous ? makeGrantEvents(context, grant, deciding) : [];
  return [...before, { type: 'request-answered', ...answer }, ...grants];
}

/** The weight of an answer. */
interface AnswerCount extends VoteCount {
  /** True if it is an approval that waits for those of other people. */
  isVote: boolean;
  /** True if the person has given the same approval before. */
  isRepeated: boolean;
}

/**
 * Counts an answer beside the votes of its request as it is now; an edit ends them. Throws `not-allowed` for an approval by a person who
 * has already approved under another name.
 */
export function countAnswer(
  context: Pick<AnswerContext, 'principalId'>,
  now: ApprovalRequest,
  {
    response,
    voter,
    by,
    edit,
  }: Pick<Answering, 'response' | 'by'> & { voter: Voter; edit?: Edited | undefined },
): AnswerCount {
  const count = countVotes(context, now, {
    votes: edit === undefined ? (now.votes ?? []) : [],
    voter: { ...voter, principal: by.principal },
    approved: response.approved,
  });
  const { others, own } = count;
  const isVote = response.approved && others.length + 1 < (now.quorum ?? 1);
  const isRepeated =
    isVote && own?.name === voter.person && isEqualJson(own?.vote.remember, response.remember);
  return { ...count, isVote, isRepeated };
}

function makeVoteEvent(answer: Omit<ThreadEventOf<'request-answered'>, 'type'>): ThreadEvent {
  const { person, response, ...rest } = answer;
  if (person === undefined || response.type !== 'approval-response') {
    throw new TypeError('A vote is an approval by a person.');
  }
  return { type: 'request-voted', ...rest, response, person };
}

/** Refuses an approval without a reason, if the request demands reasons. */
function refuseSilentApproval(
  { requestId, requireReason }: ApprovalRequest,
  { approved, reason = '' }: ApprovalResponseContent,
): void {
  if (requireReason !== true || !approved || reason.trim() !== '') return;
  throw makeSilentApprovalError(requestId);
}

/** Finds who edits: a person who may answer the request as it stands, and as it would be. */
async function findEditor(
  context: AnswerContext,
  {
    by,
    response,
    above,
    mayAnswer,
    standing,
    edited,
  }: Answering & { standing: ApprovalRequest; edited: Edited },
): Promise<Voter> {
  const { threadId, requestId } = standing;
  const made = { ...withEdit(standing, { edit: edited, ...by, at: context.now() }), votes: [] };
  const both = {
    request: standing,
    asked: makeAskedAnswer(standing, response, by),
    edited: makeAskedAnswer(made, response, by),
  };
  const right = await findRight(mayAnswer, { ...both, within: above.right }, () =>
    makeMayAnswerRefusal(threadId, requestId, ' with this edit'),
  );
  return findVoter(context, made, { by, right });
}

/**
 * The edit to record, for the request as it is now: none if the answer approves what is shown. Throws `answer-mismatch` for an approval
 * that doesn't say which input it is for, once the request was edited.
 */
function chooseEdit(
  now: ApprovalRequest,
  { approved, input, digest }: ApprovalResponseContent,
  edited: Edited,
): Edited | undefined {
  if (!approved) return undefined;
  if (input !== undefined) return isEqualJson(input, now.toolCall?.input) ? undefined : edited;
  if (now.wasEdited !== true || digest === now.digest) return undefined;
  throw makeUnclearApprovalError(now.requestId);
}

/** Checks whether an answer approves what is shown of an edit that no longer holds. */
function isOfEndedEdit(
  shown: ApprovalRequest,
  now: ApprovalRequest,
  { approved, input }: ApprovalResponseContent,
): boolean {
  return approved && input === undefined && shown.edit !== undefined && now.edit === undefined;
}
