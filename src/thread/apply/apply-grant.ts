import type { ThreadEventOf } from '../thread-event.ts';
import { type HeadDraft, openCallAt, tampered } from './head-draft.ts';

/* Applies events of standing approvals. Those with a wider scope than the thread are kept by the store. */

export function applyGrantCreated(
  { head }: HeadDraft,
  event: ThreadEventOf<'grant-created'>,
): void {
  const { grant } = event;
  if (grant.scope !== 'thread') return;
  if (head.grants.some((other) => other.grant.grantId === grant.grantId)) {
    throw tampered(event, `an earlier grant has the id ${grant.grantId}`);
  }
  head.grants = [...head.grants, { grant, usesLeft: grant.uses }];
}

export function applyGrantUsed(draft: HeadDraft, event: ThreadEventOf<'grant-used'>): void {
  const { grantId, scope, at } = event;
  const call = openCallAt(draft, event, event, ['proposed']);
  call.grantId = grantId;
  if (scope !== 'thread') return;
  const { grants } = draft.head;
  const used = grants.find(({ grant }) => grant.grantId === grantId);
  const { toolName = '', expiresAt = Infinity } = used?.grant ?? {};
  if (used === undefined || toolName !== call.toolName || expiresAt <= at) {
    throw tampered(event, `no grant ${grantId} covers the call`);
  }
  if (used.usesLeft !== undefined) setUses(draft, grantId, used.usesLeft - 1);
}

export function applyGrantRevoked(draft: HeadDraft, event: ThreadEventOf<'grant-revoked'>): void {
  const { grantId, scope } = event;
  if (scope !== undefined) return;
  if (draft.head.grants.every(({ grant }) => grant.grantId !== grantId)) {
    throw tampered(event, `the thread has no grant ${grantId}`);
  }
  setUses(draft, grantId, 0);
}

/** Sets how many more calls a grant decides. A grant without any is gone. */
function setUses(draft: HeadDraft, grantId: string, usesLeft: number): void {
  draft.head.grants = draft.head.grants
    .map((each) => (each.grant.grantId === grantId ? { ...each, usesLeft } : each))
    .filter((each) => each.usesLeft !== 0);
}
