import type { RequestRights } from '../content/request-rights.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import type { Agent, AnswerOptions } from '../agent.ts';

/**
 * Finds the viewer's rights to a thread's open requests; brings the thread up to date. `undefined` if the tools or a sub-agent can't be
 * reached: a page is shown without it, since each answer is checked again.
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
