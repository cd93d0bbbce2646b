import type { ClosedBy } from '../content/request-decision.ts';
import { findPrincipalName, type PrincipalId } from './principal-id.ts';

/** A person who ends a request, as it is recorded: with what people may be shown of them. */
export function describeClosedBy(
  { principal, channel }: Pick<ClosedBy, 'principal' | 'channel'>,
  principalId: PrincipalId,
): ClosedBy {
  const person = findPrincipalName(principal, principalId);
  return {
    ...(principal === undefined ? {} : { principal }),
    ...(channel === undefined ? {} : { channel }),
    ...(person === undefined ? {} : { person }),
  };
}
