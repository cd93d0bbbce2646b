import type { ApprovalRequest } from '../../content/approval.ts';
import { findAllowedPerson, makeAskedAnswer, makeMayAnswerRefusal } from './ask-may-answer.ts';
import type { ParsedInput } from './parse-input.ts';
import type { MayAnswer } from './run-input.ts';

/**
 * The people whose earlier approvals of a request no longer count: `mayAnswer` would refuse them now, or an agent above says so. Throws what
 * `mayAnswer` throws.
 */
export async function findRevokedVoters(
  mayAnswer: MayAnswer | undefined,
  request: ApprovalRequest,
  above: Pick<ParsedInput, 'revoked'>,
): Promise<ReadonlySet<string>> {
  const { votes = [], requestId, threadId } = request;
  const revoked = new Set(above.revoked);
  if (mayAnswer === undefined) return revoked;
  for (const { person, principal, channel, reason, remember } of votes) {
    const said = { ...(reason === undefined ? {} : { reason }), ...(remember && { remember }) };
    const response = { type: 'approval-response', requestId, approved: true, ...said } as const;
    const asked = makeAskedAnswer(request, response, { principal, channel });
    const refusal = makeMayAnswerRefusal(threadId, requestId);
    try {
      await findAllowedPerson(mayAnswer, { request, asked }, () => refusal);
    } catch (error) {
      if (error !== refusal) throw error;
      revoked.add(person);
    }
  }
  return revoked;
}
