import { z } from 'zod';
import { grantScopes, type Remember } from './approval-terms.ts';
import { jsonTypesSchema } from './tool-call.ts';

/** An answer that a standing approval was made from. */
export interface StandingAnswer {
  /** The person who gave it, as authenticated by the app. */
  principal?: unknown;
  /** The channel that it came through. */
  channel?: string | undefined;
  /** The reason of the answer. */
  reason?: string | undefined;
}

/** A standing approval (or rejection): a person's answer that also decides later calls. */
export interface Grant {
  /** Made by holdpoint from at least 128 random bits. */
  grantId: string;
  /** Its decision. */
  decision: 'approved' | 'rejected';
  /** The reason of the answer. The model receives it with each rejection. */
  reason?: string | undefined;
  /** The calls of one thread, the calls for one person, or all calls of the agent. */
  scope: Remember['scope'];
  /** The name of the agent; absent for an agent without a name. */
  agent?: string | undefined;
  /** The tool whose calls it decides. */
  toolName: string;
  /** The digest of the tool's definition. A tool that has changed since is asked about again. */
  definition: string;
  /** The digest of the rule's terms. A grant does not apply when the rule has changed since. */
  terms: string;
  /** The inputs that it covers. `types` are those of its values that JSON doesn't express, such as dates, by JSON Pointer (RFC 6901). */
  match:
    | { type: 'exact'; input: unknown; types?: Record<string, string> | undefined }
    | {
        type: 'fields';
        fields: Record<string, unknown>;
        types?: Record<string, string> | undefined;
      }
    | { type: 'any' };
  /** The person for whom the agent works, as text, with the scope `principal`. */
  person?: string | undefined;
  /** Their principal, which today's `principalId` identifies. */
  requestedBy?: unknown;
  /** The people who answered, as text, with a rule's `notRequester`. The grant approves no call that one of them asked for. */
  answeredBy?: string[] | undefined;
  /** Their principals, as far as they are known. */
  answerers?: unknown[] | undefined;
  /**
   * The answers that it was made from, unless it was one person's own, whom `principal` names. The people who gave them must still be
   * allowed to.
   */
  answers?: StandingAnswer[] | undefined;
  /** The person who made it, as authenticated by the app. */
  principal?: unknown;
  /** The channel through which it was made. */
  channel?: string | undefined;
  /** The thread in which it was made. */
  threadId: string;
  /** The request whose answer made it. */
  requestId: string;
  /** The time when it was made, in milliseconds since 1970. */
  createdAt: number;
  /** The time when it ends, in milliseconds since 1970. Absent: never. */
  expiresAt?: number | undefined;
  /** The number of calls that it decides in all. Absent: no limit. */
  uses?: number | undefined;
}

const standingAnswerSchema = z.strictObject({
  principal: z.unknown().optional(),
  channel: z.string().optional(),
  reason: z.string().optional(),
});

/** The schema of `Grant`. */
export const grantSchema = z.strictObject({
  grantId: z.string().min(1),
  decision: z.enum(['approved', 'rejected']),
  reason: z.string().optional(),
  scope: z.enum(grantScopes),
  agent: z.string().optional(),
  toolName: z.string(),
  definition: z.string(),
  terms: z.string(),
  match: z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('exact'),
      input: z.unknown(),
      types: jsonTypesSchema.optional(),
    }),
    z.strictObject({
      type: z.literal('fields'),
      fields: z.record(z.string(), z.unknown()),
      types: jsonTypesSchema.optional(),
    }),
    z.strictObject({ type: z.literal('any') }),
  ]),
  person: z.string().optional(),
  requestedBy: z.unknown().optional(),
  answeredBy: z.array(z.string()).optional(),
  answerers: z.array(z.unknown()).optional(),
  answers: z.array(standingAnswerSchema).min(1).optional(),
  principal: z.unknown().optional(),
  channel: z.string().optional(),
  threadId: z.string(),
  requestId: z.string(),
  createdAt: z.number(),
  expiresAt: z.number().optional(),
  uses: z.int().positive().optional(),
});
