import type { MayStand } from '../calls/find-grant.ts';
import { findAllowedPerson, makeAskedAnswer, makeMayAnswerRefusal } from './ask-may-answer.ts';
import type { MayAnswer } from './run-input.ts';

/** Asks `mayAnswer` whether those who gave the answers behind a standing approval may still give them. */
export function makeStandingCheck(mayAnswer: MayAnswer): MayStand {
  return async ({ request: asked, answers, response }) => {
    const { threadId, requestId } = asked;
    const refusal = makeMayAnswerRefusal(threadId, requestId);
    for (const { principal, channel, reason, reassignments } of answers) {
      const request = { ...asked, ...(reassignments === undefined ? {} : { reassignments }) };
      const given = { ...response, ...(reason === undefined ? {} : { reason }) };
      const by = { principal, ...(channel === undefined ? {} : { channel }) };
      try {
        await findAllowedPerson(
          mayAnswer,
          { request, asked: makeAskedAnswer(request, given, by) },
          () => refusal,
        );
      } catch (error) {
        if (error !== refusal) throw error;
        return false;
      }
    }
    return true;
  };
}

/** Whether answers stand here and in the threads above. */
export function standsEverywhere(
  own: MayStand | undefined,
  above: MayStand | undefined,
): MayStand | undefined {
  if (own === undefined || above === undefined) return own ?? above;
  return async (standing) => (await own(standing)) && above(standing);
}
