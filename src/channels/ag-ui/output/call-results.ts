import type { ToolCallRecord } from '../../../content/tool-call.ts';
import type { AgUiEvent, AgUiMessage } from './ag-ui-event.ts';
import { type CallResult, deniedText, textOf } from './step-messages.ts';
import { type ThreadViewOptions, toolErrorText } from '../telling-options.ts';

/** What came of a call that ran here, or did not; none while it is open, or when the provider will say it. */
export function callResults(
  { toolCallId, toolName, outcome }: ToolCallRecord,
  options: ThreadViewOptions,
): CallResult[] {
  const { clientTools = [] } = options;

  switch (outcome?.status) {
    case 'succeeded':
      return [{ toolCallId, status: 'succeeded', content: textOf(outcome.output) }];
    case 'failed': {
      /* What a client ran, failed there: it is the client's own text. */
      const isClients = clientTools.includes(toolName);
      const content = isClients ? outcome.error : toolErrorText(options, outcome.error);
      return [{ toolCallId, status: 'failed', content }];
    }
    case 'denied':
      return [{ toolCallId, status: 'denied', content: deniedText(outcome.reason) }];
    default:
      return [];
  }
}

/** The result as it is told while it comes. */
export function resultEvent(threadId: string, result: CallResult): AgUiEvent {
  const { toolCallId, content, status } = result;
  return {
    type: 'TOOL_CALL_RESULT',
    messageId: resultId(threadId, toolCallId),
    toolCallId,
    content,
    role: 'tool',
    metadata: { holdpoint: { status } },
  };
}

/** The result as a message of a snapshot, under the id by which the client knows it. */
export function resultMessage(
  threadId: string,
  { toolCallId, content, status }: CallResult,
  id: string = resultId(threadId, toolCallId),
): AgUiMessage {
  return {
    id,
    role: 'tool',
    toolCallId,
    content,
    metadata: { holdpoint: { status } },
  };
}

function resultId(threadId: string, toolCallId: string): string {
  return `${threadId}:result:${toolCallId}`;
}
