import type { ApprovalRequest, ApprovalResponseContent } from '../../content/approval.ts';
import { type Remember, rememberSchema } from '../../content/approval-terms.ts';
import { HoldpointError } from '../../errors.ts';
import { findPrincipalName, isSamePrincipal } from '../../policy/same-person.ts';
import type { EndedRequest } from '../../thread/thread-head.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { admitAnswer } from './admit-answer.ts';
import { makeGrantMaker } from './answer-grant.ts';
import {
  makeAlreadyRememberedError,
  makeNotRememberableError,
  makeUnknownRequestError,
} from './answer-refusals.ts';
import type { AnswerContext } from './call-may-answer.ts';
import type { AnswerOptions } from './parse-input.ts';

/** Which approval a standing one is made from, and how wide it is. */
interface Remembering {
  requestId: string;
  remember: Remember;
  by: AnswerOptions;
}

/**
 * Makes a standing approval from an approval that the same person has given before, as if that answer had asked for it. What they were shown is
 * compared with the tool as it is now, and `mayAnswer` is asked again.
 */
export async function rememberAnswer(
  context: AnswerContext,
  log: ThreadLog,
  { requestId, remember, by }: Remembering,
): Promise<void> {
  const { success, data, error } = rememberSchema.safeParse(remember);
  if (!success) {
    const why = error.issues.map(({ message, path }) => `${path.join('.')}: ${message}`).join('; ');
    throw new HoldpointError('invalid-input', `remember is not valid: ${why}`, { requestId });
  }
  const { ended, request, given } = findOwnApproval(context, log.state, { requestId, by });
  const response = { ...given, remember: data };
  const { mayAnswer } = context;
  const answering = { open: ended, response, by, above: {}, mayAnswer };
  const { voter = {} } = await admitAnswer(context, log.state, answering);
  const tools = await context.definedTools();
  const makeGrant = await makeGrantMaker(context, { ...answering, request, voter, tools });
  await log.commit((proposal) => {
    findOwnApproval(context, proposal.state, { requestId, by });
    proposal.add(...makeGrant(request.toolCall?.input, context.now(), []));
  });
}

/** The approval of a call that this person alone has given, unchanged. Throws if there is none, or if it is remembered already. */
function findOwnApproval(
  { principalId }: Pick<AnswerContext, 'principalId'>,
  { endedRequests, events, head }: Readonly<ThreadState>,
  { requestId, by }: Pick<Remembering, 'requestId' | 'by'>,
): { ended: EndedRequest; request: ApprovalRequest; given: ApprovalResponseContent } {
  const ended = endedRequests.get(requestId);
  if (ended === undefined) {
    if (head.openRequests.every(({ request }) => request.requestId !== requestId))
      throw makeUnknownRequestError(requestId);
    throw makeNotRememberableError(requestId, 'it is open: approve it with remember');
  }
  const { request, response, cause, principal, place } = ended;
  if (response?.type !== 'approval-response' || !response.approved || cause !== undefined)
    throw makeNotRememberableError(requestId, 'it was not approved');
  if (request.type !== 'approval-request' || request.path !== undefined || place === undefined)
    throw makeNotRememberableError(requestId, "it is not about a call of this agent's own");
  if (request.edit !== undefined)
    throw makeNotRememberableError(requestId, 'its input was edited by a person');
  if ((request.quorum ?? 1) > 1)
    throw makeNotRememberableError(requestId, 'it needed several people, who must all ask for it');
  if (request.risk === 'critical')
    throw makeNotRememberableError(requestId, 'its risk is critical');
  /* Strictly: two people may have the same id. */
  const isNamed = findPrincipalName(by.principal, principalId) !== undefined;
  if (!isNamed || !isSamePrincipal(by.principal, principal, principalId))
    throw makeNotRememberableError(requestId, 'somebody else approved it');
  const made = events.findLastIndex(
    (event) => event.type === 'grant-created' && event.grant.requestId === requestId,
  );
  if (made !== -1) throw makeAlreadyRememberedError(requestId);
  return { ended, request, given: response };
}
