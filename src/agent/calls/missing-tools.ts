import type { UserInputRequest } from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import { dueCalls, type ThreadState } from '../../thread/thread-state.ts';
import type { ToolDefinitions } from './tool-definitions.ts';

/**
 * Throws `missing-tool` where the thread can go on with a tool alone that this agent does not have: an approved call waits for it, or
 * an answer. Nothing is ended for it, as another version of the app may have the tool.
 */
export function refuseMissingTools(
  { threadId, head }: Readonly<ThreadState>,
  tools: ToolDefinitions,
): void {
  const call = dueCalls(head).find(
    ({ toolName, providerApprovalId }) => providerApprovalId === undefined && !tools.has(toolName),
  );
  if (call !== undefined) {
    throw missing(threadId, call.toolName, `Call ${call.toolCallId} was approved and not run`);
  }
  for (const { request } of head.unsentAnswers) {
    const { toolName = '' } = request.toolCall ?? {};
    if (!tools.has(toolName)) throw missingTool(request, toolName);
  }
}

/** The error for an answer that the missing tool alone can read. */
export function missingTool(
  { threadId, requestId }: UserInputRequest,
  toolName: string,
): HoldpointError {
  return missing(
    threadId,
    toolName,
    `The answer to request ${requestId} can't be passed on`,
    requestId,
  );
}

function missing(
  threadId: string,
  toolName: string,
  what: string,
  requestId?: string,
): HoldpointError {
  return new HoldpointError(
    'missing-tool',
    `${what}: this agent has no tool '${toolName}'. Thread ${threadId} waits; run it with an agent that has the tool, ` +
      'or give up with agent.cancel(thread).',
    { requestId },
  );
}
