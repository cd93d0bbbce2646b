import type { Grant } from '../content/grant.ts';
import type { ThreadEvent } from './thread-event.ts';
import type { GrantChange } from './thread-store.ts';

/** What events change in the store's standing approvals, which are wider than one thread; `undefined` if nothing. */
export function grantChanges(events: readonly ThreadEvent[]): GrantChange[] | undefined {
  if (!events.some(({ type }) => type.startsWith('grant-'))) return undefined;
  const changes = events.flatMap((event): GrantChange[] => {
    if (event.type === 'grant-created' && event.grant.scope !== 'thread') {
      return [{ type: 'create', grant: stored(event.grant) }];
    }
    if (event.type === 'grant-used' && event.scope !== 'thread') {
      return [{ type: 'use', grantId: event.grantId, at: event.at }];
    }
    if (event.type === 'grant-revoked' && event.scope !== undefined) {
      return [{ type: 'revoke', grantId: event.grantId }];
    }
    return [];
  });
  return changes.length === 0 ? undefined : changes;
}

function stored(grant: Grant): Extract<GrantChange, { type: 'create' }>['grant'] {
  const { grantId, agent = null, toolName, person = null, createdAt, expiresAt, uses } = grant;
  return {
    grantId,
    agent,
    toolName,
    person,
    text: JSON.stringify(grant),
    createdAt,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(uses === undefined ? {} : { usesLeft: uses }),
  };
}
