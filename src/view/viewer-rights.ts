import type { RequestRights } from '../content/request-rights.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import type { Agent } from '../agent/agent.ts';
import type { AnswerOptions } from '../agent/input.ts';

/**
 * What the viewer of a thread may do with its open requests; brings the thread up to date. `undefined` if that can't be found out, because
 * the tools or a sub-agent can't be reached: a page is shown without it, since each answer is checked again.
 */
export async function findViewerRights(
  agent: Pick<Agent, 'rights'>,
  thread: AgentThread,
  by: AnswerOptions,
): Promise<RequestRights[] | undefined> {
  if (thread.activeRequests.length === 0) return [];
  try {
    return await agent.rights(thread, by);
  } catch {
    return undefined;
  }
}
