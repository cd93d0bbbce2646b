import { z } from 'zod';
import { type Remember, rememberSchema } from './approval-terms.ts';

/** Why a person may not answer a request now. */
export type AnswerRefusal =
  /** The request excludes the people who asked for it (`notRequester`), and this is one of them. */
  | 'requester'
  /** The request excludes the people who asked for it, and not all of them are known. */
  | 'unknown-requesters'
  /** `mayAnswer` refuses this person, or threw; or the request names approvers, and the agent has no `mayAnswer` to say who they are. */
  | 'not-approver'
  /** Nobody is signed in, or `principalId` gives no text for the principal, and the request depends on who answers. */
  | 'unidentified'
  /** The person has approved it already, and it waits for others. They may still reject it. */
  | 'already-voted'
  /** It has expired, is decided or cancelled, or is not in its thread. */
  | 'closed'
  /** It is a sub-agent's own request: it is answered in the outermost agent's thread. */
  | 'child-thread'
  /** This agent lacks the tool that takes the answer. */
  | 'missing-tool'
  /** The row is not about a request but a lost call or a stuck thread, or its text was erased or is damaged. */
  | 'no-request';

/**
 * What one person may do with a request now. It is found out as it is for an answer, and promises nothing: an answer is checked again when it
 * is given.
 */
export interface RequestRights {
  /** The request that these rights are about. */
  requestId: string;
  /** The thread that has the request. */
  threadId: string;
  /** Whether the request waits for this person: an answer of theirs would count, and they have not approved it yet. */
  mayAnswer: boolean;
  /** Why not; absent if it does. */
  refusal?: AnswerRefusal | undefined;
  /** Whether an approval of theirs would count. False for a question. */
  mayApprove: boolean;
  /** Whether they may reject it, also after they have approved it; for a question, whether they may dismiss it. */
  mayReject: boolean;
  /** Whether they may approve it with another input. `mayAnswer` is asked again about the input that they send. */
  mayEdit: boolean;
  /** The widest standing approval that they may ask for; absent: none. */
  mayRemember?: Remember | undefined;
  /** Whether they may take their own approval back. */
  mayWithdraw: boolean;
  /** Whether they may let somebody else answer instead. */
  mayReassign: boolean;
}

/**
 * What one person may do with a request, as JSON: for a page, which gets it from its route. It is a hint that says which buttons to show; the
 * agent checks each answer.
 *
 * @example
 * const rights = requestRightsSchema.array().parse(await response.json());
 */
export const requestRightsSchema: z.ZodType<RequestRights> = z.object({
  requestId: z.string(),
  threadId: z.string(),
  mayAnswer: z.boolean(),
  refusal: z
    .enum([
      'requester',
      'unknown-requesters',
      'not-approver',
      'unidentified',
      'already-voted',
      'closed',
      'child-thread',
      'missing-tool',
      'no-request',
    ] satisfies AnswerRefusal[])
    .optional(),
  mayApprove: z.boolean(),
  mayReject: z.boolean(),
  mayEdit: z.boolean(),
  mayRemember: rememberSchema.optional(),
  mayWithdraw: z.boolean(),
  mayReassign: z.boolean(),
});
