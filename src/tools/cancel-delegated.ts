import type { ToolSet } from 'ai';
import {
  type Commit,
  makeDelegatedCall,
  findDelegation,
  type Reporting,
  readShownRequests,
  type AnswerOptions,
  type AgentDoor,
} from '../agent.ts';
import type { ToolCallRecord } from '../content/tool-call.ts';
import { findEventRequestId } from '../thread/request-events.ts';
import { callAt, isSamePlace } from '../thread/thread-head.ts';
import { Proposal } from '../thread/proposal.ts';
import type { ThreadState } from '../thread/thread-state.ts';
import type { AgentThread } from '../thread/agent-thread.ts';

/** Because of a concurrent append, the input now ends a delegated call whose sub-agent was not cancelled. */
class NotCancelled extends Error {}

/** A delegated call that ends, and the person who ends it, if one does. */
interface EndedCall {
  call: ToolCallRecord;
  by: AnswerOptions;
}

/** See `Delegation.commitCancelled`. */
export async function commitCancelled(
  tools: ToolSet,
  ...[log, decide, commit = async (each) => log.commit(each)]: Parameters<Commit>
): ReturnType<Commit> {
  for (;;) {
    const expected = new Proposal(log.state);
    if (log.state.head.calls.length > 0) decide(expected);
    const cancelled = listEndedDelegatedCalls(expected, tools);
    const decided = await Promise.all(
      cancelled.map(async (ended) => cancelBelow(tools, log.state, ended)),
    );
    const at = expected.events.at(-1)?.at ?? 0;
    try {
      return await commit((proposal) => {
        proposal.add(...decided.flatMap((events) => events(proposal, at)));
        decide(proposal);
        for (const { call } of listEndedDelegatedCalls(proposal, tools)) {
          if (!cancelled.some((each) => isSamePlace(each.call, call))) throw new NotCancelled();
        }
      });
    } catch (error) {
      if (!(error instanceof NotCancelled)) throw error;
    }
  }
}

/** Cancels a call's sub-agent. The result repeats the requests that were answered before: these were not cancelled. */
async function cancelBelow(
  tools: ToolSet,
  { threadId, head }: Readonly<ThreadState>,
  { call, by }: EndedCall,
): Promise<Reporting> {
  const delegation = findDelegation(tools, call);
  if (delegation === undefined) return () => [];
  const delegated = makeDelegatedCall(threadId, call);
  await delegation.cancel(delegated, 'The call has ended.', by);
  const shown = readShownRequests(head, call);
  const mirror = await delegation.mirror(delegated, shown);
  const ids = new Set(shown.requests.map(({ requestId }) => requestId));
  return (proposal, at) =>
    mirror(proposal, at).filter(
      (event) => event.type !== 'request-closed' && ids.has(findEventRequestId(event) ?? ''),
    );
}

/** The delegated calls that a proposal ends. A call that was never started has no sub-agent to cancel. */
function listEndedDelegatedCalls(
  { state: { head }, events }: Proposal,
  tools: ToolSet,
): EndedCall[] {
  return events.flatMap((event) => {
    if (event.type !== 'call-ended') return [];
    const call = callAt(head, event);
    if (call === undefined || call.attempts === 0 || !findDelegation(tools, call)) return [];
    const { principal, channel } = event;
    return { call, by: { principal, ...(channel === undefined ? {} : { channel }) } };
  });
}

/**
 * Cancels a sub-agent's requests and unstarted calls in a thread, and stops its run. It checks no rights: the end of the call was allowed,
 * and `by` names the person who ended it, if it was one.
 */
export async function giveUp(
  door: AgentDoor,
  thread: AgentThread,
  { reason, by = {} }: { reason: string; by?: AnswerOptions | undefined },
): Promise<void> {
  if (thread.revision > 0) await door.cancelForParent(thread, { reason, by });
}
