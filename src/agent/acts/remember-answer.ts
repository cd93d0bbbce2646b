import type { ApprovalRequest, ApprovalResponseContent } from '../../content/approval.ts';
import { type Remember, rememberSchema } from '../../content/approval-terms.ts';
import type { Voter } from '../../content/vote.ts';
import { HoldpointError } from '../../errors.ts';
import { findPrincipalName, isSamePrincipal } from '../../policy/same-person.ts';
import type { EndedRequest } from '../../thread/thread-head.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { admitAnswer } from '../input/admit-answer.ts';
import { draftGrant, type GrantDraft, makeGrantEvents } from '../input/answer-grant.ts';
import {
  makeAlreadyRememberedError,
  makeNotRememberableError,
  makeUnknownRequestError,
} from '../input/answer-errors.ts';
import type { AnswerContext } from '../input/right-to-answer.ts';
import type { AnswerOptions } from '../input/parse-input.ts';
import type { Act, ActRow } from './act.ts';

/** The parts of a standing approval. */
export interface AdmittedMemory extends OwnApproval {
  voter: Voter;
  draft: GrantDraft | undefined;
}

/**
 * Makes a standing approval from an approval that the same person has given before, as if that answer had asked for it. What they were
 * shown is compared with the tool as it is now, and `mayAnswer` is asked again.
 */
export const remember: ActRow<'remember', AdmittedMemory> = {
  isOutermost: true,
  async admit({ context, log: { state }, act, by }) {
    const asked = parseRemember(act);
    const given = findOwnApproval(context, state, { ...act, by });
    const response = { ...given.response, remember: asked };
    const { mayAnswer } = context;
    const above = { right: { of: 'self' } } as const;
    const answering = { open: given.ended, response, by, above, mayAnswer };
    const { voter = {} } = await admitAnswer(context, state, answering);
    const tools = await context.definedTools();
    const { request } = given;
    const draft = await draftGrant(context, state, { ...answering, request, voter, tools });
    return { found: { ...given, response, voter, draft } };
  },
  decide(proposal, { context, act, by, at, found: { request, response, voter, draft } }) {
    findOwnApproval(context, proposal.state, { ...act, by });
    const input = request.toolCall?.input;
    const deciding = { request, response, voter, by, votes: [], input, at };
    proposal.add(...makeGrantEvents(context, draft, deciding));
  },
};

function parseRemember({ requestId, remember: given }: Act<'remember'>): Remember {
  const { success, data, error } = rememberSchema.safeParse(given);
  if (success) return data;
  const why = error.issues.map(({ message, path }) => `${path.join('.')}: ${message}`).join('; ');
  throw new HoldpointError('invalid-input', `remember is not valid: ${why}`, { requestId });
}

/** An approval of an unchanged call by a single person. */
interface OwnApproval {
  ended: EndedRequest;
  request: ApprovalRequest;
  response: ApprovalResponseContent;
}

/** Finds the approval of an unchanged call that only this person has given. Throws if there is none, or if it is already remembered. */
function findOwnApproval(
  { principalId }: Pick<AnswerContext, 'principalId'>,
  state: Readonly<ThreadState>,
  { requestId, by }: { requestId: string; by: AnswerOptions },
): OwnApproval {
  const { endedRequests, events, head } = state;
  const ended = endedRequests.get(requestId);
  if (ended === undefined) {
    if (head.openRequests.every(({ request }) => request.requestId !== requestId))
      throw makeUnknownRequestError(state, requestId);
    throw makeNotRememberableError(requestId, 'it is open: approve it with remember');
  }
  const { request, response, cause, principal, place, onBehalfOf } = ended;
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
  if (onBehalfOf !== undefined)
    throw makeNotRememberableError(
      requestId,
      `it was given for '${onBehalfOf}', who lent the right to answer this request alone`,
    );
  const made = events.findLastIndex(
    (event) => event.type === 'grant-created' && event.grant.requestId === requestId,
  );
  if (made !== -1) throw makeAlreadyRememberedError(requestId);
  return { ended, request, response };
}
