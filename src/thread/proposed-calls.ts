import type { AssistantModelMessage, ModelMessage } from 'ai';
import type { ToolCallRecord } from '../content/tool-call.ts';

/** A part of an assistant message. */
export type AssistantPart = Exclude<AssistantModelMessage['content'], string>[number];

/** A provider's request for the approval of a call that it runs itself. */
export type ProviderRequest = Extract<AssistantPart, { type: 'tool-approval-request' }>;

/** What tells whose a call is. */
interface CallMarks {
  toolCallId: string;
  providerExecuted?: boolean | undefined;
}

/**
 * The calls of an assistant message that end here, in its order: those that are ours to run, and those of which the provider
 * asks whether it may run them. What the provider ran unasked is part of what the model said.
 */
export function proposedCalls(message: ModelMessage, step: number): ToolCallRecord[] {
  const parts = partsOf(message);
  const requests = requestsByCall(parts);
  return parts
    .filter((part) => part.type === 'tool-call')
    .filter((part) => endsHere(part, requests))
    .map(({ toolCallId, toolName, input, providerExecuted }, index) => {
      const call = {
        step,
        index,
        toolCallId,
        toolName,
        input,
        status: 'proposed',
        attempts: 0,
      } as const;
      const request = providerExecuted === true ? requests.get(toolCallId) : undefined;
      return request === undefined ? call : { ...call, providerApprovalId: request.approvalId };
    });
}

/** The parts of what a model said. */
export function partsOf(message: ModelMessage | undefined): readonly AssistantPart[] {
  if (message?.role !== 'assistant') return [];
  const { content } = message;
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** The provider's requests among parts, by the id of the call that each is about. */
export function requestsByCall(
  parts: readonly AssistantPart[],
): ReadonlyMap<string, ProviderRequest> {
  const requests = parts.filter((part) => part.type === 'tool-approval-request');
  return new Map(requests.map((request) => [request.toolCallId, request]));
}

/** Whether a call is ours to end: to run it, or to tell the provider whether it may. */
export function endsHere(
  { toolCallId, providerExecuted }: CallMarks,
  requests: ReadonlyMap<string, ProviderRequest>,
): boolean {
  return providerExecuted !== true || requests.has(toolCallId);
}
