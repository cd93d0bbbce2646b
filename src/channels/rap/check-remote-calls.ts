import type { ToolSet } from 'ai';
import type { Agent } from '../../agent/agent.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { isLost, lost } from './to-server/query-call-status.ts';
import { serverOf } from './remote-server.ts';
import { isOver } from './from-server/record-callback.ts';

/** What `checkRemoteCalls` needs. */
export interface RemoteCallCheck {
  agent: Pick<Agent, 'deliver'>;
  /** The agent's tools; calls of those that `remoteTool` made are asked about. */
  tools: ToolSet;
  thread: AgentThread;
}

/**
 * Asks the server of each remote call that a thread waits for whether it still has it (`tool_call_status`), and ends as failed those that
 * it has lost: a server that was started again may not remember them. Gives the ids of the calls that were ended. A server that is out of
 * reach, or does not answer the question, keeps its calls.
 *
 * @example
 * for (const { threadId } of await store.list({ status: 'waiting' })) {
 *   await checkRemoteCalls({ agent, tools, thread: await agent.thread(threadId) });
 * }
 */
export async function checkRemoteCalls({
  agent,
  tools,
  thread,
}: RemoteCallCheck): Promise<string[]> {
  const named = new Map(Object.entries(tools));
  const waiting = thread.calls.filter(({ status }) => status === 'deferred');
  const ended = await Promise.all(
    waiting.map(async ({ toolCallId, toolName }) => {
      const tool = named.get(toolName);
      const server = tool && serverOf(tool);
      if (server === undefined) return [];
      if (!(await isLost(server, { threadId: thread.id, toolCallId }))) return [];
      return (await isEnded({ agent, thread }, toolCallId)) ? [toolCallId] : [];
    }),
  );
  return ended.flat();
}

/* Its result may have come while the server was asked: that stands. */
async function isEnded(
  { agent, thread }: Pick<RemoteCallCheck, 'agent' | 'thread'>,
  toolCallId: string,
): Promise<boolean> {
  try {
    await agent.deliver(thread, toolCallId, lost, { channel: 'rap' });
    return true;
  } catch (error) {
    if (isOver(error)) return false;
    throw error;
  }
}
