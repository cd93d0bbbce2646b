import type { CallPlace, ToolCallRecord } from '../../content/tool-call.ts';
import type { UserInputResponseContent } from '../../content/user-input.ts';
import { freezeDeep } from '../deep-freeze.ts';
import type { EventSearch } from '../thread-state.ts';
import { callAt, type ThreadHead } from '../thread-head.ts';
import type { ThreadEvent, ThreadEventOf } from '../thread-event.ts';
import { callFacts, describeRequestFacts, findTraceparent } from './trace-facts.ts';
import type { AnsweredMessage, RequestFacts, TraceMessage } from './trace-message.ts';
import { isQuiet } from '../quiet-events.ts';

/** The thread to which an event is about to be appended. */
export interface EventContext {
  threadId: string;
  /** The thread's head after the append. */
  head: ThreadHead;
  /** The events before it: those of the same append, then the thread's. */
  log: readonly EventSearch[];
}

/** The trace message for an event that is about to be appended, if it has one. */
export function describeTraceMessage(
  event: ThreadEvent,
  context: EventContext,
): TraceMessage | undefined {
  if (isQuiet(event)) return undefined;
  switch (event.type) {
    case 'request-opened': {
      const facts = requestFacts(context, event.request.requestId);
      return facts && { type: 'requested', ...facts };
    }
    case 'request-answered':
      return traceAnswered(event, context);
    case 'request-closed':
      return traceClosed(event, context);
    case 'call-ended':
      return traceFinished(event, context);
    case 'call-lost': {
      const call = findTracedCall(event, context);
      const follows = findTraceparent('request-answered', call?.requestId, context.log);
      return call && { type: 'indeterminate', ...callFacts(context.threadId, call), follows };
    }
    case 'message-added':
    case 'message-retracted':
    case 'step-finished':
    case 'request-voted':
    case 'vote-withdrawn':
    case 'request-reassigned':
    case 'grant-used':
    case 'call-started':
    case 'call-deferred':
      return undefined;
  }
}

function traceAnswered(
  { at, response, channel, principal }: ThreadEventOf<'request-answered'>,
  context: EventContext,
): TraceMessage | undefined {
  const facts = requestFacts(context, response.requestId);
  if (facts === undefined) return undefined;
  return {
    type: 'answered',
    ...facts,
    decision: nameDecision(response),
    waitedMs: Math.max(0, at - facts.request.createdAt),
    channel,
    principal: freezeDeep(principal),
    response: freezeDeep(response),
    follows: findTraceparent('request-opened', response.requestId, context.log),
  };
}

function traceClosed(
  { at, requestId, cause, channel, principal }: ThreadEventOf<'request-closed'>,
  context: EventContext,
): TraceMessage | undefined {
  const { head, log } = context;
  const facts = requestFacts(context, requestId);
  if (facts === undefined) return undefined;
  const answered = findTraceparent('request-answered', requestId, log);
  return {
    type: 'closed',
    ...facts,
    cause,
    wasAnswered: isAnswered(head, requestId),
    waitedMs: Math.max(0, at - facts.request.createdAt),
    channel,
    principal: freezeDeep(principal),
    follows: answered ?? findTraceparent('request-opened', requestId, log),
  };
}

function traceFinished(
  event: ThreadEventOf<'call-ended'>,
  context: EventContext,
): TraceMessage | undefined {
  const { outcome, source, channel, principal } = event;
  const call = findTracedCall(event, context);
  if (call === undefined) return undefined;
  return {
    type: 'finished',
    ...callFacts(context.threadId, call),
    status: outcome.status,
    source,
    channel,
    principal: freezeDeep(principal),
    outcome: freezeDeep(outcome),
  };
}

function nameDecision(response: UserInputResponseContent): AnsweredMessage['decision'] {
  if (response.type === 'question-response') return response.status;
  return response.approved ? 'approved' : 'rejected';
}

/* One append may open, answer and close a request, and complete the step of a call. */
function requestFacts(
  { head: { openRequests, newlyPast } }: EventContext,
  requestId: string,
): RequestFacts | undefined {
  const found = [...openRequests, ...newlyPast.requests].find(
    (other) => other.request.requestId === requestId,
  );
  return found && describeRequestFacts(found.request);
}

/* For a request that has been closed. */
function isAnswered({ newlyPast }: ThreadHead, requestId: string): boolean {
  const closed = newlyPast.requests.findLast(({ request }) => request.requestId === requestId);
  return closed?.response !== undefined;
}

function findTracedCall(place: CallPlace, { head }: EventContext): ToolCallRecord | undefined {
  return callAt({ calls: [...head.calls, ...head.newlyPast.calls] }, place);
}
