import type { ToolSet } from 'ai';
import type { Agent } from '../../agent.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { isCallLost, lostCallOutcome, readRemoteServer } from './remote-server.ts';
import { isCallEnded } from './create-callback-handler.ts';

/** Options of `checkRemoteCalls`. */
interface RemoteCallCheck {
  /** The agent that made the calls. */
  agent: Pick<Agent, 'deliver'>;
  /** The agent's tools; calls of those that `remoteTool` created are checked. */
  tools: ToolSet;
  /** The thread with the calls. */
  thread: AgentThread;
}

/**
 * Asks the server of each pending remote call in a thread if it still has the call (`tool_call_status`), and fails the calls that it has
 * lost: a restarted server may not remember them. Resolves to the ids of the failed calls. The calls of a server that can't be reached or
 * does not answer stay as they are.
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
      const server = tool && readRemoteServer(tool);
      if (server === undefined) return [];
      if (!(await isCallLost(server, { threadId: thread.id, toolName, toolCallId }))) return [];
      return (await isEnded({ agent, thread }, toolCallId)) ? [toolCallId] : [];
    }),
  );
  return ended.flat();
}

/* A result that arrived during the status check wins. */
async function isEnded(
  { agent, thread }: Pick<RemoteCallCheck, 'agent' | 'thread'>,
  toolCallId: string,
): Promise<boolean> {
  try {
    await agent.deliver(thread, toolCallId, lostCallOutcome, { channel: 'rap' });
    return true;
  } catch (error) {
    if (isCallEnded(error)) return false;
    throw error;
  }
}
