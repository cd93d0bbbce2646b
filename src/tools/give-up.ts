import type { Agent } from '../agent/agent.ts';
import {
  cancelForParent,
  type ParentableAgent,
  type ParentCancellation,
} from '../agent/child-agent.ts';
import type { AnswerOptions } from '../agent/input.ts';
import type { AgentThread } from '../thread/agent-thread.ts';

/**
 * Cancels a sub-agent's requests and unstarted calls in a thread, and stops its run. Asks nobody: whoever ends the call was allowed to, and
 * `by` names them where it is a person.
 */
export async function giveUp(
  agent: Agent<never> & ParentableAgent,
  thread: AgentThread,
  { reason, by = {} }: { reason: string; by?: AnswerOptions | undefined },
): Promise<void> {
  if (thread.revision > 0) await cancelChild(agent, thread, { reason, by, stops: true });
}

/** Cancels a sub-agent's requests and unstarted calls in a thread; with `stops`, its run ends too. Asks nobody. */
export async function cancelChild(
  agent: Agent<never> & ParentableAgent,
  thread: AgentThread,
  cancellation: ParentCancellation,
): Promise<void> {
  const { reason, stops = false } = cancellation;
  if (agent[cancelForParent] !== undefined) {
    await agent[cancelForParent](thread, cancellation);
    return;
  }
  await agent.cancel(thread, reason);
  if (stops) await agent.stop(thread);
}
