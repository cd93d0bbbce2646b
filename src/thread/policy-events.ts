import { z } from 'zod';
import { approvalResponseSchema } from '../content/approval.ts';
import { grantScopes } from '../content/approval-terms.ts';
import { grantSchema } from '../content/grant.ts';
import { always, by, editSchema, mirrored, place, voter } from './event-fields.ts';

/** The events of votes, deadlines and standing approvals. */
export const policyEvents = [
  /**
   * Somebody approved a request that needs more approvals, or changed their approval. With `edit`, the approvals of another input no
   * longer count.
   */
  z.strictObject({
    type: z.literal('request-voted'),
    ...always,
    response: approvalResponseSchema,
    ...by,
    ...voter,
    person: z.string(),
    edit: editSchema.optional(),
    ...mirrored,
  }),
  /** Somebody took back their approval, before the request was decided. */
  z.strictObject({
    type: z.literal('vote-withdrawn'),
    ...always,
    requestId: z.string(),
    person: z.string(),
    /** Set if their edit ends with it: the request is again as it was asked, and no approval of the edited input counts. */
    endsEdit: z.literal(true).optional(),
    ...by,
    ...mirrored,
  }),
  /** An approver (`from`, as text) asked another to answer instead: `to` is a name, role or team, as in the request's `approvers`. */
  z.strictObject({
    type: z.literal('request-reassigned'),
    ...always,
    requestId: z.string(),
    from: z.string(),
    to: z.string(),
    ...by,
    ...mirrored,
  }),
  /** The request's `remindAt` has passed, and it is still open. */
  z.strictObject({ type: z.literal('request-reminded'), ...always, requestId: z.string() }),
  /** An answer made a standing approval; appended together with the answer. */
  z.strictObject({ type: z.literal('grant-created'), ...always, grant: grantSchema }),
  /**
   * A standing approval decided the call at this place; appended together with the call's start or end. `threadId` and `requestId` are
   * the thread and the request whose answer made it.
   */
  z.strictObject({
    type: z.literal('grant-used'),
    ...always,
    ...place,
    grantId: z.string(),
    scope: z.enum(grantScopes),
    decision: z.enum(['approved', 'rejected']),
    threadId: z.string(),
    requestId: z.string(),
  }),
  /**
   * A standing approval that was made in this thread was revoked. `scope` is there for one that is wider than the thread: the store deletes
   * it in the same append.
   */
  z.strictObject({
    type: z.literal('grant-revoked'),
    ...always,
    grantId: z.string(),
    scope: z.enum(grantScopes).exclude(['thread']).optional(),
    ...by,
  }),
] as const;
