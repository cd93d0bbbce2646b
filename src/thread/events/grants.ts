import { z } from 'zod';
import { grantScopes, isKeptByStore } from '../../content/approval-terms.ts';
import { grantSchema } from '../../content/grant.ts';
import { always, by, placeFields } from './fields.ts';
import { type HeadDraft, openCallAt, makeTamperedError } from './head-draft.ts';

/* Standing approvals. Those with a wider scope than the thread are kept by the store. */

/** An answer made a standing approval; appended together with the answer. */
const grantCreated = z.strictObject({
  type: z.literal('grant-created'),
  ...always,
  grant: grantSchema,
});

export function applyGrantCreated(event: z.infer<typeof grantCreated>, { head }: HeadDraft): void {
  const { grant } = event;
  if (isKeptByStore(grant.scope)) return;
  if (head.grants.some((other) => other.grant.grantId === grant.grantId)) {
    throw makeTamperedError(event, `an earlier grant has the id ${grant.grantId}`);
  }
  head.grants = [...head.grants, { grant, usesLeft: grant.uses }];
}

/**
 * A standing approval decided the call at this place; appended together with the call's start or end. `threadId` and `requestId` are
 * the thread and the request whose answer made it.
 */
const grantUsed = z.strictObject({
  type: z.literal('grant-used'),
  ...always,
  ...placeFields,
  grantId: z.string(),
  scope: z.enum(grantScopes),
  decision: z.enum(['approved', 'rejected']),
  threadId: z.string(),
  requestId: z.string(),
});

export function applyGrantUsed(event: z.infer<typeof grantUsed>, draft: HeadDraft): void {
  const { grantId, scope, at } = event;
  const call = openCallAt(draft, event, event, ['proposed']);
  call.grantId = grantId;
  if (isKeptByStore(scope)) return;
  const { grants } = draft.head;
  const used = grants.find(({ grant }) => grant.grantId === grantId);
  const { toolName = '', expiresAt = Infinity } = used?.grant ?? {};
  if (used === undefined || toolName !== call.toolName || expiresAt <= at) {
    throw makeTamperedError(event, `no grant ${grantId} covers the call`);
  }
  if (used.usesLeft !== undefined) setUses(draft, grantId, used.usesLeft - 1);
}

/**
 * A standing approval that was made in this thread was revoked. `scope` is there for one that is wider than the thread: the store deletes
 * it in the same append.
 */
const grantRevoked = z.strictObject({
  type: z.literal('grant-revoked'),
  ...always,
  grantId: z.string(),
  scope: z.enum(grantScopes).exclude(['thread']).optional(),
  ...by,
});

export function applyGrantRevoked(event: z.infer<typeof grantRevoked>, draft: HeadDraft): void {
  const { grantId, scope } = event;
  if (scope !== undefined) return;
  if (draft.head.grants.every(({ grant }) => grant.grantId !== grantId)) {
    throw makeTamperedError(event, `the thread has no grant ${grantId}`);
  }
  setUses(draft, grantId, 0);
}

/** Sets how many more calls a grant decides. A grant without any is gone. */
function setUses(draft: HeadDraft, grantId: string, usesLeft: number): void {
  draft.head.grants = draft.head.grants
    .map((each) => (each.grant.grantId === grantId ? { ...each, usesLeft } : each))
    .filter((each) => each.usesLeft !== 0);
}

export const grantSchemas = [grantCreated, grantUsed, grantRevoked] as const;
