import { describeExpiry } from '../content/describe-expiry.ts';
import type { Asked } from './approval-rule.ts';

/** What is known of the people who could answer a request. */
export interface AnswererFacts {
  /** Whether the agent has a `mayAnswer`, which says who approvers are. */
  hasMayAnswer: boolean;
  /** Whether everybody is known for whom it is made. */
  areKnown: boolean;
}

/** Why nobody could ever answer a request with these terms; `undefined` if somebody may be able to. */
export function whyUnanswerable(
  { terms = {}, onExpiry }: Pick<Asked, 'terms' | 'onExpiry'>,
  { hasMayAnswer, areKnown }: AnswererFacts,
): string | undefined {
  /* A request that waits has no deadline. */
  const { next } = onExpiry === 'wait' ? {} : describeExpiry(onExpiry);
  if (!hasMayAnswer && (terms.approvers ?? next?.approvers) !== undefined) {
    return 'it names approvers, and the agent has no mayAnswer to say who they are';
  }
  if (terms.notRequester === true && !areKnown) {
    return "it excludes the requester (notRequester), who isn't known: pass the principal with the message";
  }
  return undefined;
}
