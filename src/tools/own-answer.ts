import type { ApprovalRequest } from '../content/approval.ts';
import type { UserInputRequest, UserInputResponseContent } from '../content/user-input.ts';
import { HoldpointError } from '../errors.ts';
import { equalJson } from '../policy/digest.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { requestOf } from './mirror-requests.ts';

/**
 * An answer to a mirrored request, as the answer to the sub-agent's `own` request: with the digest of that one if the answer repeats the
 * digest that was shown. Throws `answer-mismatch` for the approval of another input than the sub-agent would run.
 */
export function ownAnswer(
  response: UserInputResponseContent,
  shown: UserInputRequest,
  own: UserInputRequest | undefined,
): UserInputResponseContent {
  if (response.type !== 'approval-response' || shown.type !== 'approval-request') return response;
  const { digest, toolCall: _shown, ...answer } = response;
  const isPlainYes = answer.approved && answer.input === undefined;
  if (own?.type !== 'approval-request') {
    return isPlainYes && shown.edit !== undefined
      ? { input: shown.toolCall?.input, ...answer }
      : answer;
  }
  const isSameInput = equalJson(editedInputs(own), editedInputs(shown));
  if (isSameInput) return digest === shown.digest ? { digest: own.digest, ...answer } : answer;
  if (!isPlainYes) return answer;
  throw new HoldpointError(
    'answer-mismatch',
    `Request ${own.requestId} was edited since it was shown. Show the stored request again.`,
    { requestId: own.requestId },
  );
}

function editedInputs({ edit, toolCall }: ApprovalRequest): unknown[] {
  return edit === undefined ? [] : [toolCall?.input];
}

/** The approvals that the parent thread has and the sub-agent never received: older versions sent them with the answer that decided. */
export function unsentVotes(request: UserInputRequest, { events }: AgentThread) {
  if (request.type !== 'approval-request') return [];
  const { requestId, votes = [] } = request;
  const isKnown = events.some((event) => 'response' in event && requestOf(event) === requestId);
  if (isKnown) return [];
  return votes.map(({ reason, remember, principal, channel, onBehalfOf }) => {
    const says = { ...(reason === undefined ? {} : { reason }), ...(remember && { remember }) };
    const input = request.edit && { input: request.toolCall?.input };
    const yes = { type: 'approval-response' as const, requestId, approved: true, ...says };
    return { answer: { ...yes, ...input }, principal, channel, onBehalfOf };
  });
}
