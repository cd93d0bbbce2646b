import { z } from 'zod';
import type { QuestionResponseContent } from '../../../content/question.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import { fromInteractionResponse, interactionIdOf } from '../../../tools/interaction.ts';
import { withFullNames } from './question-schema.ts';

/** Why an `interactionResponse` is refused, with codes that its front ends know. */
export interface InteractionRefusal {
  code: 'MISSING_INTERACTION_ID' | 'NO_PENDING_INTERACTION' | 'INTERACTION_MISMATCH';
  message: string;
}

const namedSchema = z.looseObject({
  interactionId: z.string().min(1).optional(),
  interaction_id: z.string().min(1).optional(),
});

/**
 * The answer in an `interactionResponse`, or why it fits no question of this thread. It answers only questions, and so never approves.
 * Throws `invalid-answer` if it contradicts itself.
 */
export function interactionAnswer(
  response: unknown,
  { events, activeRequests }: AgentThread,
): QuestionResponseContent | InteractionRefusal {
  const { interactionId, interaction_id = interactionId } =
    namedSchema.safeParse(response).data ?? {};
  if (interaction_id === undefined) {
    return {
      code: 'MISSING_INTERACTION_ID',
      message: 'interactionResponse must include interactionId',
    };
  }
  const request = events
    .flatMap((event) => (event.type === 'request-opened' ? [event.request] : []))
    .findLast((each) => isNamed(each, interaction_id));
  if (request?.type === 'question-request') {
    return fromInteractionResponse(request, withFullNames(response));
  }
  return activeRequests.some(({ type }) => type === 'question-request')
    ? {
        code: 'INTERACTION_MISMATCH',
        message:
          'interactionResponse interactionId does not match the pending interaction for this thread',
      }
    : {
        code: 'NO_PENDING_INTERACTION',
        message: 'interactionResponse does not match any pending interaction for this thread',
      };
}

function isNamed(request: { requestId: string }, id: string): boolean {
  return request.requestId === id || interactionIdOf(request) === id;
}
