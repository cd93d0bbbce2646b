import { z } from 'zod';
import { type AnswerRefusal, answerRefusals } from './refusal-words.ts';
import { type Remember, rememberSchema } from './approval-terms.ts';

/**
 * One person's rights to a request now, from the checks that an answer passes. They promise nothing: an answer is checked again when it is
 * given.
 */
export interface RequestRights {
  /** The request that these rights are about. */
  requestId: string;
  /** The thread that has the request. */
  threadId: string;
  /** True if the request waits for this person: their answer would count, and they have not approved it yet. */
  mayAnswer: boolean;
  /** The reason why not; absent if it does. */
  refusal?: AnswerRefusal | undefined;
  /** True if their approval would count. False for a question. */
  mayApprove: boolean;
  /** True if they may reject it, also after they have approved it; for a question, if they may dismiss it. */
  mayReject: boolean;
  /** True if they may approve it with another input. `mayAnswer` is asked again about the input that they send. */
  mayEdit: boolean;
  /** The widest standing approval that they may ask for; absent: none. */
  mayRemember?: Remember | undefined;
  /** True if they may take their own approval back. */
  mayWithdraw: boolean;
  /** True if they may let another person answer instead. */
  mayReassign: boolean;
}

/**
 * One person's rights to a request, as JSON: for a page, which gets it from its route. It is a hint that says which buttons to show; the
 * agent checks each answer.
 *
 * @example
 * const rights = requestRightsSchema.array().parse(await response.json());
 */
export const requestRightsSchema: z.ZodType<RequestRights> = z.object({
  requestId: z.string(),
  threadId: z.string(),
  mayAnswer: z.boolean(),
  refusal: z.enum(answerRefusals).optional(),
  mayApprove: z.boolean(),
  mayReject: z.boolean(),
  mayEdit: z.boolean(),
  mayRemember: rememberSchema.optional(),
  mayWithdraw: z.boolean(),
  mayReassign: z.boolean(),
});
