import { type ApprovalRequest, undoEdit } from '../../content/approval.ts';
import type { UserInputRequest, UserInputResponseContent } from '../../content/user-input.ts';
import { isEqualJson } from '../../policy/digest.ts';
import { withEdit } from '../../thread/events.ts';
import type { CheckedAnswers, PassedOn } from '../calls/delegation.ts';
import {
  findAllowedPerson,
  type AskedBy,
  makeAskedAnswer,
  makeMayAnswerRefusal,
} from './ask-may-answer.ts';
import type { Answering } from './answer-context.ts';
import { makeEdit } from './answer-edit.ts';
import { findRevokedVoters } from './revoked-votes.ts';

/** An answer to a request of a sub-agent. */
interface AnsweringBelow extends Pick<Answering, 'by' | 'onBehalfOf' | 'above' | 'mayAnswer'> {
  request: UserInputRequest;
  response: UserInputResponseContent;
  asked: AskedBy;
}

/** How a sub-agent checks answers. */
interface Below {
  check: (passedOn: PassedOn) => Promise<CheckedAnswers>;
  now: () => number;
}

/**
 * Has a sub-agent check an answer to its request, with what this agent and those above know: on whose behalf the sender answers, whose
 * approvals no longer count, and when it is too late. Throws `not-allowed` for an edit that this agent's `mayAnswer` refuses, or what the
 * sub-agent throws.
 */
export async function checkBelow(
  answering: AnsweringBelow,
  { check, now }: Below,
): Promise<CheckedAnswers> {
  const { request, asked, above, mayAnswer, onBehalfOf } = answering;
  const revoked =
    request.type === 'approval-request'
      ? await findRevokedVoters(mayAnswer, request, above)
      : above.revoked;
  const until = Math.min(request.expiresAt ?? Infinity, above.until ?? Infinity);
  const checkFor = async (person: string | undefined): Promise<CheckedAnswers> =>
    check({ ...asked(), onBehalfOf: person ?? above.onBehalfOf, revoked, until });
  const checked = await checkFor(onBehalfOf);
  const edit = await checkEditBelow(answering, { text: checked.text, at: now() });
  /* Somebody who may answer the request as it stands may need another's right for what it would be. */
  return edit === undefined || edit.onBehalfOf === onBehalfOf ? checked : checkFor(edit.onBehalfOf);
}

/**
 * On whose behalf somebody may edit a sub-agent's request; `undefined` for an answer that doesn't. Throws `not-allowed` for an edit that this
 * agent's `mayAnswer` refuses. The sub-agent has checked the edit, and has given the text of the request with it.
 */
async function checkEditBelow(
  { request, response, asked, by, mayAnswer }: AnsweringBelow,
  { text, at }: { text: string | undefined; at: number },
): Promise<{ onBehalfOf: string | undefined } | undefined> {
  if (request.type !== 'approval-request' || response.type !== 'approval-response')
    return undefined;
  const { input, approved } = response;
  if (!approved || input === undefined || isEqualJson(input, request.toolCall?.input))
    return undefined;
  const edit = await makeEdit(undoEdit(request), input, text ?? request.text);
  const made: ApprovalRequest = { ...withEdit(request, { edit, ...by, at }), votes: [] };
  const both = { request, asked, edited: makeAskedAnswer(made, response, by) };
  const onBehalfOf = await findAllowedPerson(mayAnswer, both, () =>
    makeMayAnswerRefusal(request.threadId, request.requestId, ' with this edit'),
  );
  return { onBehalfOf };
}
