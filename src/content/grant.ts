import { z } from 'zod';
import { grantScopes } from './approval-terms.ts';
import { reassignmentSchema } from './vote.ts';

/** An answer that a standing approval was made from: whose, through which channel, why, and, if for somebody else, who had asked whom. */
const standingAnswerSchema = z.strictObject({
  principal: z.unknown().optional(),
  channel: z.string().optional(),
  reason: z.string().optional(),
  reassignments: z.array(reassignmentSchema).optional(),
});

/** An answer that a standing approval was made from. */
export type StandingAnswer = z.infer<typeof standingAnswerSchema>;

/** A standing approval (or rejection): a person's answer that also decides later calls. */
export const grantSchema = z.strictObject({
  grantId: z.string().min(1),
  /** What it decides. */
  decision: z.enum(['approved', 'rejected']),
  /** The reason of the answer. The model receives it with each rejection. */
  reason: z.string().optional(),
  /** The calls of one thread, the calls for one person, or all calls of the agent. */
  scope: z.enum(grantScopes),
  /** The name of the agent; absent for an agent without a name. */
  agent: z.string().optional(),
  toolName: z.string(),
  /** The digest of the tool's definition. A tool that has changed since is asked about again. */
  definition: z.string(),
  /** The digest of what the rule demanded and allowed. A grant does not apply when the rule has changed since. */
  terms: z.string(),
  /** The inputs that it covers. */
  match: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('exact'), input: z.unknown() }),
    z.strictObject({ type: z.literal('fields'), fields: z.record(z.string(), z.unknown()) }),
    z.strictObject({ type: z.literal('any') }),
  ]),
  /** With the scope `principal`: for whom the agent works, as text. */
  person: z.string().optional(),
  /** Their principal: who they are is asked of today's `principalId`. Grants of older versions have `person` alone. */
  requestedBy: z.unknown().optional(),
  /** With a rule's `notRequester`: who answered, as text. It approves no call that one of them asked for. */
  answeredBy: z.array(z.string()).optional(),
  /** Their principals, as far as they are known. */
  answerers: z.array(z.unknown()).optional(),
  /** The answers that it was made from, unless it was one person's own, and `principal` says whose. Those who gave them must still be allowed to. */
  answers: z.array(standingAnswerSchema).min(1).optional(),
  /** Who made it, as authenticated by the app, and through which channel. */
  principal: z.unknown().optional(),
  channel: z.string().optional(),
  /** The thread and the request whose answer made it. */
  threadId: z.string(),
  requestId: z.string(),
  /** When it was made, in milliseconds since 1970. */
  createdAt: z.number(),
  /** When it ends, in milliseconds since 1970. Absent: never. */
  expiresAt: z.number().optional(),
  /** How many calls it decides in all. Absent: any number. */
  uses: z.int().positive().optional(),
});

/** A standing approval (or rejection): a person's answer that also decides later calls. */
export type Grant = z.infer<typeof grantSchema>;
