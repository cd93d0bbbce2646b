import { isToolUIPart, type UIMessage } from 'ai';

/**
 * For `sendAutomaticallyWhen`: sends as soon as one request is answered, so that what was approved runs while its neighbours wait, also
 * when a message that was refused stands below them. The AI SDK's `lastAssistantMessageIsCompleteWithApprovalResponses` sends when all
 * are answered.
 */
export function lastAssistantMessageHasApprovalResponses({
  messages,
}: {
  messages: readonly UIMessage[];
}): boolean {
  const last = messages.findLast(({ role }) => role === 'assistant');
  return (
    last?.parts.some((part) => isToolUIPart(part) && part.state === 'approval-responded') ?? false
  );
}
