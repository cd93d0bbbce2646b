import type { ToolSet } from 'ai';
import { type Commit, delegatedCall, delegationFor } from '../agent/calls/delegation.ts';
import type { ToolCallRecord } from '../content/tool-call.ts';
import { callAt } from '../thread/find-call.ts';
import { Proposal } from '../thread/proposal.ts';
import { isSamePlace } from '../thread/thread-state.ts';

/** Because of a concurrent append, the input now ends a delegated call whose sub-agent was not cancelled. */
class NotCancelled extends Error {}

/** See `Delegation.commitCancelled`. */
export async function commitCancelled(
  tools: ToolSet,
  ...[log, decide, commit = async (each) => log.commit(each)]: Parameters<Commit>
): ReturnType<Commit> {
  for (;;) {
    const expected = new Proposal(log.state);
    if (log.state.head.calls.length > 0) decide(expected);
    const cancelled = endedBy(expected, tools);
    for (const call of cancelled) {
      const delegated = delegatedCall(log.state.threadId, call);
      await delegationFor(tools, call)?.cancel(delegated, 'The call has ended.');
    }
    try {
      return await commit((proposal) => {
        decide(proposal);
        for (const call of endedBy(proposal, tools)) {
          if (!cancelled.some((each) => isSamePlace(each, call))) throw new NotCancelled();
        }
      });
    } catch (error) {
      if (!(error instanceof NotCancelled)) throw error;
    }
  }
}

/** The delegated calls that a proposal ends. A call that was never started has no sub-agent to cancel. */
function endedBy({ state: { head }, events }: Proposal, tools: ToolSet): ToolCallRecord[] {
  return events.flatMap((event) => {
    const call = event.type === 'call-ended' ? callAt(head, event) : undefined;
    return call && call.attempts > 0 && delegationFor(tools, call) ? call : [];
  });
}
