import type { ToolCallRecord } from '../../content/tool-call.ts';
import type { UserInputRequest } from '../../content/user-input.ts';
import { freezeDeep } from '../deep-freeze.ts';
import type { EventSearch } from '../thread-state.ts';
import type { ThreadEventOf } from '../thread-event.ts';
import { findConversation } from './guarded-conversation.ts';
import type { CallFacts, RequestFacts } from './trace-message.ts';

/** The fields of every trace message about a call. */
export function callFacts(
  threadId: string,
  { toolCallId, toolName, requestId, attempts: attempt, input }: ToolCallRecord,
): CallFacts {
  const conversationId = findConversation(threadId);
  const call = { toolCallId, toolName, requestId, attempt, input: freezeDeep(input) };
  return { threadId, conversationId, ...call };
}

/** The `traceparent` that is stored with a request, or with its answer. */
export function findTraceparent(
  type: 'request-opened' | 'request-answered',
  requestId: string | undefined,
  log: readonly EventSearch[],
): string | undefined {
  for (const events of log) {
    const found = events.findLast(
      (event): event is ThreadEventOf<'request-opened' | 'request-answered'> =>
        event.type === type && readEventRequestId(event) === requestId,
    );
    if (found !== undefined && 'traceparent' in found) return found.traceparent;
  }
  return undefined;
}

function readEventRequestId(
  event: ThreadEventOf<'request-opened' | 'request-answered'>,
): string | undefined {
  return event.type === 'request-opened' ? event.request.requestId : event.response.requestId;
}

/** The fields of every trace message about a request. */
export function describeRequestFacts(found: UserInputRequest): RequestFacts {
  const request = freezeDeep(found);
  const { threadId, requestId, type: requestType, toolCall } = request;
  const { toolCallId, toolName } = toolCall ?? {};
  const conversationId = findConversation(threadId);
  return { threadId, conversationId, requestId, requestType, toolCallId, toolName, request };
}
