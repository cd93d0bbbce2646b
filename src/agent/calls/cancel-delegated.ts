import type { ToolSet } from 'ai';
import { Proposal } from '../../thread/proposal.ts';
import { isSamePlace } from '../../thread/thread-state.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import { delegatedCall, delegationFor } from './delegation.ts';

/**
 * Cancels the work of other agents on the calls that `decide` is about to end without their result. It comes before the append, so that
 * whenever the log says that a call was cancelled or has expired, its agent has stopped. Throws what `decide` throws.
 */
export async function cancelDelegated(
  { state }: ThreadLog,
  tools: ToolSet,
  decide: (proposal: Proposal) => void,
): Promise<void> {
  const delegated = state.head.calls.filter(
    ({ status, agent }) => status === 'deferred' && agent !== undefined,
  );
  if (delegated.length === 0) return;
  const proposal = new Proposal(state);
  decide(proposal);
  for (const event of proposal.events) {
    if (event.type !== 'call-ended' || event.outcome.status !== 'failed') continue;
    const call = delegated.find((each) => isSamePlace(event, each));
    if (call === undefined) continue;
    await delegationFor(tools, call)?.cancel(
      delegatedCall(state.threadId, call),
      event.outcome.error,
    );
  }
}
