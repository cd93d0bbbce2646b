import type { ToolCallRecord } from '../../../content/tool-call.ts';
import type { AgUiEvent, AgUiMessage } from './ag-ui-event.ts';
import { type CallResult, deniedText, writeResult } from './step-messages.ts';
import type { ThreadViewOptions } from '../ag-ui-handler-options.ts';
import { callErrorText } from '../../../http/tool-error-text.ts';

/** The result of a call that ended here; none while the call is open, or if the provider reports its result. */
export function callResults(
  { toolCallId, toolName, outcome }: ToolCallRecord,
  options: ThreadViewOptions,
): CallResult[] {
  switch (outcome?.status) {
    case 'succeeded':
      return [{ toolCallId, status: 'succeeded', content: writeResult(outcome.output) }];
    case 'failed': {
      const content = callErrorText(options, toolName, outcome.error);
      return [{ toolCallId, status: 'failed', content }];
    }
    case 'denied':
      return [{ toolCallId, status: 'denied', content: deniedText(outcome.reason) }];
    case 'forwarded':
    case undefined:
      return [];
  }
}

/** The event of a result during a run. */
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

/** The message of a result in a snapshot, with the id that the client has for it. */
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
