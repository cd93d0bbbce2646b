import type { AnswerRefusal } from './refusal-words.ts';
import type { RequestRights } from './request-rights.ts';

/** Makes the rights of a person who has none. */
export function makeNoRights(
  { requestId, threadId }: Pick<RequestRights, 'requestId' | 'threadId'>,
  refusal: AnswerRefusal,
): RequestRights {
  const none = { mayApprove: false, mayReject: false, mayEdit: false };
  const nor = { mayWithdraw: false, mayReassign: false };
  return { requestId, threadId, mayAnswer: false, refusal, ...none, ...nor };
}
