import type { ModelMessage } from 'ai';
import { HoldpointError } from '../../errors.ts';
import {
  type AssistantPart,
  listAssistantParts,
  type ProviderRequest,
  requestsByCall,
} from '../../thread/proposed-calls.ts';

/**
 * The provider's requests in a model's response, by tool call id. Throws for a request whose answer would be ambiguous: it must be the
 * only one about its call, which the provider runs and has not run yet, and its id must be new in the thread. See ADR 13.
 */
export function mapAnswerableRequests(
  parts: readonly AssistantPart[],
  history: readonly ModelMessage[],
): ReadonlyMap<string, ProviderRequest> {
  const requests = requestsIn(parts);
  if (requests.length > 0) {
    const past = history.flatMap((message) => requestsIn(listAssistantParts(message)));
    const usedIds = new Set(past.map(({ approvalId }) => approvalId));
    for (const { approvalId, toolCallId } of requests) {
      const fault = usedIds.has(approvalId)
        ? `its id ${approvalId} was used before`
        : whyNotAnswerable(parts, toolCallId);
      if (fault !== undefined) throw makeUnanswerableError(toolCallId, fault);
      usedIds.add(approvalId);
    }
  }
  return requestsByCall(parts);
}

function requestsIn(parts: readonly AssistantPart[]): ProviderRequest[] {
  return parts.filter((part) => part.type === 'tool-approval-request');
}

function whyNotAnswerable(parts: readonly AssistantPart[], toolCallId: string): string | undefined {
  const about = parts.filter((part) => 'toolCallId' in part && part.toolCallId === toolCallId);
  if (requestsIn(about).length > 1) return 'there are two about the call';
  const [call, ...others] = about.filter((part) => part.type === 'tool-call');
  if (call === undefined || others.length > 0) return 'there is not exactly one call with this id';
  if (call.providerExecuted !== true) return 'the provider does not run the call';
  return about.some(({ type }) => type === 'tool-result') ? 'the call has a result' : undefined;
}

function makeUnanswerableError(toolCallId: string, fault: string): HoldpointError {
  return new HoldpointError(
    'not-allowed',
    `The provider's request for the approval of call ${toolCallId} can't be answered: ${fault}. ` +
      'The step was not recorded; run([], thread) asks the model again.',
  );
}

/**
 * Checks whether a request with these messages is the first that lets the provider run a call. If its response is lost, the call may have
 * run.
 */
export function carriesApproval(messages: readonly ModelMessage[]): boolean {
  const lastReply = messages.findLastIndex(({ role }) => role === 'assistant');
  for (const { role, content } of messages.slice(lastReply + 1)) {
    if (role !== 'tool') continue;
    if (content.some((part) => part.type === 'tool-approval-response' && part.approved))
      return true;
  }
  return false;
}
