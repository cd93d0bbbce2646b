import type { CallPlace, ToolCallRecord } from '../content/tool-call.ts';
import type { UserInputRequest, UserInputResponseContent } from '../content/user-input.ts';
import { deepFreeze } from './deep-freeze.ts';
import { conversationOf } from './guarded-conversation.ts';
import type { ThreadEvent, ThreadEventOf } from './thread-event.ts';
import type { ThreadHead } from './thread-state.ts';
import type { AnsweredMessage, CallFacts, RequestFacts, TraceMessage } from './trace-message.ts';

/** Where an event is about to stand. */
export interface EventContext {
  threadId: string;
  /** The thread's head after the event and those that are appended with it. */
  head: ThreadHead;
  /** The events before it: those that are appended with it, and the thread's. */
  log: readonly (readonly ThreadEvent[])[];
}

/** What is told of an event that is about to be appended; nothing of most. */
export function messageOf(event: ThreadEvent, context: EventContext): TraceMessage | undefined {
  const { threadId, head, log } = context;
  switch (event.type) {
    case 'request-opened': {
      const facts = requestFacts(head, event.request.requestId);
      return facts && { type: 'requested', ...facts };
    }
    case 'request-answered': {
      const { at, response, channel, principal } = event;
      const facts = requestFacts(head, response.requestId);
      return (
        facts && {
          type: 'answered',
          ...facts,
          decision: decisionOf(response),
          waitedMs: Math.max(0, at - facts.request.createdAt),
          channel,
          principal: deepFreeze(principal),
          response: deepFreeze(response),
          follows: traceparentOf('request-opened', response.requestId, log),
        }
      );
    }
    case 'request-closed': {
      const { at, requestId, cause } = event;
      const facts = requestFacts(head, requestId);
      const answered = traceparentOf('request-answered', requestId, log);
      return (
        facts && {
          type: 'closed',
          ...facts,
          cause,
          wasAnswered: isAnswered(head, requestId),
          waitedMs: Math.max(0, at - facts.request.createdAt),
          follows: answered ?? traceparentOf('request-opened', requestId, log),
        }
      );
    }
    case 'call-ended': {
      const { outcome, source, channel, principal } = event;
      const call = callAt(head, event);
      return (
        call && {
          type: 'finished',
          ...callFacts(threadId, call),
          status: outcome.status,
          source,
          channel,
          principal: deepFreeze(principal),
          outcome: deepFreeze(outcome),
        }
      );
    }
    case 'call-lost': {
      const call = callAt(head, event);
      const follows = traceparentOf('request-answered', call?.requestId, log);
      return call && { type: 'indeterminate', ...callFacts(threadId, call), follows };
    }
    default:
      return undefined;
  }
}

/** What is told of a call. */
export function callFacts(
  threadId: string,
  { toolCallId, toolName, requestId, attempts: attempt, input }: ToolCallRecord,
): CallFacts {
  const conversationId = conversationOf(threadId);
  const call = { toolCallId, toolName, requestId, attempt, input: deepFreeze(input) };
  return { threadId, conversationId, ...call };
}

/** The `traceparent` that is stored with a request, or with its answer. */
export function traceparentOf(
  type: 'request-opened' | 'request-answered',
  requestId: string | undefined,
  log: EventContext['log'],
): string | undefined {
  for (const events of log) {
    const found = events.findLast(
      (event) => event.type === type && requestIdOf(event) === requestId,
    );
    if (found !== undefined && 'traceparent' in found) return found.traceparent;
  }
  return undefined;
}

function requestIdOf(
  event: ThreadEventOf<'request-opened' | 'request-answered'>,
): string | undefined {
  return event.type === 'request-opened' ? event.request.requestId : event.response.requestId;
}

function decisionOf(response: UserInputResponseContent): AnsweredMessage['decision'] {
  if (response.type === 'question-response') return response.status;
  return response.approved ? 'approved' : 'rejected';
}

/* A request may be opened, answered and closed by one append, and a call's step be complete with it. */
function requestFacts(
  { openRequests, newlyPast }: ThreadHead,
  requestId: string,
): RequestFacts | undefined {
  const found = [...openRequests, ...newlyPast.requests].find(
    (other) => other.request.requestId === requestId,
  );
  if (found === undefined) return undefined;
  return factsOf(found.request);
}

/* Of one that is closed by now. */
function isAnswered({ newlyPast }: ThreadHead, requestId: string): boolean {
  const closed = newlyPast.requests.findLast(({ request }) => request.requestId === requestId);
  return closed?.response !== undefined;
}

/** What is told of a request that is at hand. */
export function factsOf(found: UserInputRequest): RequestFacts {
  const request = deepFreeze(found);
  const { threadId, requestId, type: requestType, toolCall } = request;
  const { toolCallId, toolName } = toolCall ?? {};
  const conversationId = conversationOf(threadId);
  return { threadId, conversationId, requestId, requestType, toolCallId, toolName, request };
}

function callAt(
  { calls, newlyPast }: ThreadHead,
  { step, index }: CallPlace,
): ToolCallRecord | undefined {
  return [...calls, ...newlyPast.calls].find((call) => call.step === step && call.index === index);
}
