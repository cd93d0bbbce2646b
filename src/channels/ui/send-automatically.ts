import { isToolUIPart, type UIMessage } from 'ai';

/**
 * For `sendAutomaticallyWhen`: sends as soon as one request is answered, so that what was approved runs while its neighbours wait. The
 * AI SDK's `lastAssistantMessageIsCompleteWithApprovalResponses` sends when all are.
 */
export function lastAssistantMessageHasApprovalResponses({
  messages,
}: {
  messages: readonly UIMessage[];
}): boolean {
  const last = messages.at(-1);
  return (
    last?.role === 'assistant' &&
    last.parts.some((part) => isToolUIPart(part) && part.state === 'approval-responded')
  );
}
