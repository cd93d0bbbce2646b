import type { AssistantModelMessage, ModelMessage } from 'ai';
import type { JsonTypes } from '../json/json-form.ts';
import type { ToolCallRecord } from '../content/tool-call.ts';

/** A part of an assistant message. */
export type AssistantPart = Exclude<AssistantModelMessage['content'], string>[number];

/** A provider's request for the approval of a call that it runs itself. */
export type ProviderRequest = Extract<AssistantPart, { type: 'tool-approval-request' }>;

/**
 * The calls of a step that end here, in order: those that run here, and those that the provider requests approval for. Calls that the
 * provider ran without asking are only part of the message.
 */
export function listProposedCalls({
  step,
  message,
  inputs = [],
}: {
  step: number;
  message?: ModelMessage | undefined;
  /** The original inputs of the calls whose schemas changed them. */
  inputs?: readonly { index: number; given?: unknown; types?: JsonTypes | undefined }[] | undefined;
}): ToolCallRecord[] {
  const calls = listCallsOf(message, step);
  for (const { index, given, types } of inputs) {
    const call = calls[index];
    if (call !== undefined) Object.assign(call, { given }, types && { inputTypes: types });
  }
  return calls;
}

function listCallsOf(message: ModelMessage | undefined, step: number): ToolCallRecord[] {
  const parts = listAssistantParts(message);
  const proposed = parts.filter((part) => part.type === 'tool-call');
  if (proposed.length === 0) return [];
  const requests = requestsByCall(parts);
  return proposed
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

/** The parts of an assistant message; none for other messages. */
export function listAssistantParts(message: ModelMessage | undefined): readonly AssistantPart[] {
  if (message?.role !== 'assistant') return [];
  const { content } = message;
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** The provider's approval requests among parts, by the id of their call. */
export function requestsByCall(
  parts: readonly AssistantPart[],
): ReadonlyMap<string, ProviderRequest> {
  const requests = parts.filter((part) => part.type === 'tool-approval-request');
  return new Map(requests.map((request) => [request.toolCallId, request]));
}

/** Checks whether a call ends here: because it runs here, or because the provider requests approval for it. */
export function endsHere(
  { toolCallId, providerExecuted }: { toolCallId: string; providerExecuted?: boolean | undefined },
  requests: ReadonlyMap<string, ProviderRequest>,
): boolean {
  return providerExecuted !== true || requests.has(toolCallId);
}
