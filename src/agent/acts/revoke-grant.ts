import { HoldpointError } from '../../errors.ts';
import { type ActRow, admitAnybody } from './act.ts';

/** Ends a standing approval. The store ends its own with the record; one that the thread does not know is not recorded. */
export const revoke: ActRow<'revoke'> = {
  isFact: true,
  admit: admitAnybody,
  decide(proposal, { act: { grant }, by, at }) {
    const { grantId, scope } = grant;
    if (scope !== 'thread') {
      const made = proposal.state.events.findLastIndex(
        (event) => event.type === 'grant-created' && event.grant.grantId === grantId,
      );
      if (made !== -1) proposal.add({ type: 'grant-revoked', at, grantId, scope, ...by });
      return;
    }
    if (proposal.head.grants.every((each) => each.grant.grantId !== grantId))
      throw makeUnknownGrantError(grantId);
    proposal.add({ type: 'grant-revoked', at, grantId, ...by });
  },
};

/** Makes the error for a standing approval that has ended, or that this thread or agent does not have. */
export function makeUnknownGrantError(grantId: string): HoldpointError {
  return new HoldpointError(
    'not-found',
    `There is no standing approval ${grantId}: it was revoked or used up, or belongs to another thread or agent.`,
  );
}
