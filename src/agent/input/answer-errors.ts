import { type AnswerRefusal, voterFaults } from '../../content/refusal-words.ts';
import type { UserInputRequest } from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import type { EndedRequest } from '../../thread/thread-head.ts';
import { adviseWhere, type ThreadState } from '../../thread/thread-state.ts';

/* The words for people whose answer, or change of a request, is refused. The callers decide who receives them. */

/** An answer that this person may not give. */
export class RefusedAnswerError extends HoldpointError {
  readonly refusal: AnswerRefusal;

  constructor(
    refusal: AnswerRefusal,
    message: string,
    details: ConstructorParameters<typeof HoldpointError>[2],
  ) {
    super('not-allowed', message, details);
    this.refusal = refusal;
  }
}

/**
 * Makes the refusal of a person whom the request excludes, or who can't be distinguished from others; `sameness` says which people count as
 * one.
 */
export function makeVoterRefusal(
  requestId: string,
  reason: keyof typeof voterFaults,
  sameness?: string,
): HoldpointError {
  const { refusal, why } = voterFaults[reason];
  const said = [why, sameness].filter((each) => each !== undefined).join(': ');
  const message = `Request ${requestId} can't be answered: ${said}.`;
  return new RefusedAnswerError(refusal, message, { requestId });
}

/** Makes the refusal of a person whom `mayAnswer` does not let answer, or not with their edit. */
export function makeMayAnswerRefusal(
  threadId: string,
  requestId: string,
  withEdit = '',
): HoldpointError {
  const message = `Request ${requestId} of thread ${threadId} can't be answered${withEdit} by this principal: mayAnswer refused it. The request stays open.`;
  return new RefusedAnswerError('not-approver', message, { requestId });
}

/** The refusal to end a request that the person may not reject. */
export function makeEndingRefusal(requestId: string, cause: HoldpointError): HoldpointError {
  const message = `Ending a request is an answer to it, so nothing was cancelled. ${cause.message}`;
  return new HoldpointError('not-allowed', message, { requestId, cause });
}

/** Makes the error for an anonymous caller who wants to undo a recorded approval. */
export function makeNobodyRefusal(requestId: string, fault: string): HoldpointError {
  const message = `Request ${requestId} is approved, and only a person who may reject it takes that back or releases it after a stop: pass the principal (${fault}).`;
  return new HoldpointError('not-allowed', message, { requestId });
}

/** The refusal of a person who may release none of the approvals that a stop holds. */
export function makeReleaseRefusal(cause: HoldpointError): HoldpointError {
  const { requestId } = cause;
  const message = `What a stop holds is released by somebody who may reject it, so nothing was resumed. ${cause.message}`;
  return new HoldpointError('not-allowed', message, { requestId, cause });
}

/** Makes the refusal to end a request for which permission was not asked. */
export function makeUnaskedEndingError({
  threadId,
  requestId,
}: Pick<UserInputRequest, 'threadId' | 'requestId'>): HoldpointError {
  return new HoldpointError(
    'requests-open',
    `Request ${requestId} of thread ${threadId} opened or was approved just now, and would have been ended unasked. Nothing was cancelled; send it again.`,
    { requestId },
  );
}

/** The error for an approval without the reason that the request demands. */
export function makeSilentApprovalError(requestId: string): HoldpointError {
  return new HoldpointError(
    'invalid-answer',
    `Request ${requestId} can be approved only with a reason: pass one, as in request.approve({ reason }).`,
    { requestId, reason: 'an approval needs a reason' },
  );
}

/** The refusal of an approval of a request that was edited meanwhile. */
export function makeEditedMeanwhileError(requestId: string): HoldpointError {
  return makeStaleApprovalError(requestId, 'was edited while this answer was checked: show');
}

/** The error for an approval that doesn't say which input of an edited request it is for. */
export function makeUnclearApprovalError(requestId: string): HoldpointError {
  return makeStaleApprovalError(
    requestId,
    'was edited: an approval must repeat its digest, or the input to run. Show',
  );
}

function makeStaleApprovalError(requestId: string, what: string): HoldpointError {
  return new HoldpointError(
    'answer-mismatch',
    `Request ${requestId} ${what} the stored request again.`,
    { requestId },
  );
}

/** The error for an answer that repeats a digest or a call other than the stored one. */
export function makeMismatchError(requestId: string, repeats: 'digest' | 'call'): HoldpointError {
  return new HoldpointError(
    'answer-mismatch',
    `The answer to request ${requestId} repeats a ${repeats} that differs from the stored request. ` +
      "Show the stored request again; an answer can't change a call.",
    { requestId },
  );
}

/** The error for two different answers to a request in one input. */
export function makeTwoAnswersError(requestId: string): HoldpointError {
  return new HoldpointError(
    'invalid-answer',
    `The input has two different answers to request ${requestId}; send only one.`,
    { requestId },
  );
}

/** The error for an answer that comes after another one. */
export function makeAlreadyAnsweredError(requestId: string): HoldpointError {
  return new HoldpointError(
    'already-answered',
    `Request ${requestId} already has a different answer; the first answer stands.`,
    { requestId },
  );
}

/** The error for an answer to a request that is closed. */
export function makeRequestClosedError(
  requestId: string,
  cause: NonNullable<EndedRequest['cause']>,
): HoldpointError {
  return new HoldpointError(
    'request-closed',
    `Request ${requestId} is closed (${cause}). Resume with run([], thread) to see what is asked now.`,
    { requestId },
  );
}

/** The error for an answer to a request that the thread does not have. */
export function makeUnknownRequestError(
  state: Readonly<ThreadState>,
  requestId: string,
): HoldpointError {
  const where = adviseWhere(state, 'Its open requests are in thread.activeRequests.');
  const message = `This thread has no request ${requestId}. ${where}`;
  return new HoldpointError('not-found', message, { requestId });
}

/** The error for a change of something that is not an open approval request. */
export function makeNotOpenError(requestId: string): HoldpointError {
  return new HoldpointError(
    'request-closed',
    `Request ${requestId} is not an open approval request.`,
    { requestId },
  );
}

/** The refusal of a person who has no approval to take back. */
export function makeNoVoteError(requestId: string): HoldpointError {
  return new HoldpointError(
    'not-allowed',
    `Request ${requestId} has no approval of this principal to withdraw.`,
    { requestId },
  );
}

/** Makes the refusal of a reassignment by an agent that can't identify people. */
export function makeReassignRefusal(requestId: string, to: string): HoldpointError {
  return new HoldpointError(
    'not-allowed',
    `Request ${requestId} can't be reassigned: this agent has no mayAnswer to say who '${to}' is.`,
    { requestId },
  );
}

/** The error for a reassignment to a name that can't be stored. */
export function makeReassignNameError(requestId: string): HoldpointError {
  return new HoldpointError(
    'invalid-input',
    `Request ${requestId} can be reassigned to a name, role or team of 1 to 200 characters.`,
    { requestId },
  );
}

/** The error for an approval from which no standing approval can be made afterwards. */
export function makeNotRememberableError(requestId: string, why: string): HoldpointError {
  return new HoldpointError(
    'not-allowed',
    `The approval of request ${requestId} can't be remembered: ${why}.`,
    { requestId },
  );
}

/** The error for an approval from which a standing approval was made before. */
export function makeAlreadyRememberedError(requestId: string): HoldpointError {
  return new HoldpointError(
    'already-answered',
    `The approval of request ${requestId} is remembered already: see agent.grants(thread). Revoke that standing approval to end it.`,
    { requestId },
  );
}

/** Throws `not-allowed` for a child thread. */
export function refuseChild({ threadId, head }: Readonly<ThreadState>): void {
  if (head.parent === undefined) return;
  const { threadId: parentId, toolCallId } = head.parent;
  throw new HoldpointError(
    'not-allowed',
    `Thread ${threadId} is a child thread: its input comes through call ${toolCallId} of thread ${parentId}. ` +
      'Answer its requests there. agent.thread(id) opens it for reading, and agent.run([], thread) resumes it.',
  );
}
