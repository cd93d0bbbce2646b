import type { UserInputRequest, UserInputResponseContent } from '../../content/user-input.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { ApprovalIds } from '../../thread/approval-ids.ts';

/** The answers of a message that name approval ids of the AI SDK. */
export interface AnswersByApprovalId {
  /** Those that count, by request id. */
  answers: UserInputResponseContent[];
  /** The requests of all of them. */
  requestIds: string[];
}

/**
 * Replaces the approval ids in answers by the ids of their requests. A yes under an id from before the request changed is left out: it may
 * be the vote that changed it, and was not given for what is shown now.
 */
export function answersByApprovalId(
  { events, activeRequests }: Pick<AgentThread, 'events' | 'activeRequests'>,
  answers: readonly UserInputResponseContent[],
): AnswersByApprovalId {
  if (answers.length === 0) return { answers: [], requestIds: [] };
  const ids = new ApprovalIds(events);
  const named = answers.map((answer) => ({ answer, ...ids.read(answer.requestId) }));
  return {
    answers: named
      .filter(({ answer, isOutdated }) => !isOutdated || isRejection(answer))
      .map(({ answer, requestId }) => {
        const request = activeRequests.find((open) => open.requestId === requestId);
        return withShown({ ...answer, requestId }, request);
      }),
    requestIds: named.map(({ requestId }) => requestId),
  };
}

/**
 * The answer; a yes to an edited request with the digest of what its approval id was shown with. Each edit gives a request another id, so the
 * id that it has now names this input.
 */
function withShown(
  answer: UserInputResponseContent,
  request: UserInputRequest | undefined,
): UserInputResponseContent {
  if (answer.type !== 'approval-response' || answer.digest !== undefined) return answer;
  if (request?.type !== 'approval-request' || request.edit === undefined) return answer;
  return answer.approved ? { ...answer, digest: request.digest } : answer;
}

/** Whether an answer denies an approval. */
export function isRejection(answer: UserInputResponseContent): boolean {
  return answer.type === 'approval-response' && !answer.approved;
}
