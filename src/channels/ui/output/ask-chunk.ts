import type { UIMessageChunk } from 'ai';
import type { ToolCall } from '../../../content/tool-call.ts';
import type { UserInputRequest } from '../../../content/user-input.ts';

/** A person is asked about a call; the page gets the whole request, with the call as it is stored. */
export function approvalRequestChunk(
  request: UserInputRequest,
  { toolCallId, toolName, input }: ToolCall,
): UIMessageChunk {
  const { requestId: approvalId } = request;
  const approvalDescriptor = { ...request, toolCall: { toolCallId, toolName, input } };
  const why = 'reason' in request && request.reason !== undefined ? { reason: request.reason } : {};
  return { type: 'tool-approval-request', approvalId, toolCallId, approvalDescriptor, ...why };
}
