import type { CallPlace, ToolCallRecord } from '../../content/tool-call.ts';
import type { UserInputResponseContent } from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import { freezeDeep } from '../../json/json-value.ts';
import { traceparentSchema } from '../events/fields.ts';
import type { Proposal } from '../proposal.ts';
import { isQuiet } from '../quiet-events.ts';
import type { ThreadEvent, ThreadEventOf } from '../thread-event.ts';
import { callAt, isSamePlace, type ThreadHead } from '../thread-head.ts';
import type { EventSearch } from '../thread-state.ts';
import { callFacts, describeRequestFacts, findTraceparent } from './trace-operations.ts';
import { publishAtOnce, tracingChannel } from './tracing-channel.ts';
import type { TraceMessage, AnsweredMessage, RequestFacts } from './trace-message.ts';
import { findOpenRequest } from '../open-requests.ts';

/** Appends events and returns them as they are stored; `undefined` after a concurrent append. */
type Append = (events: readonly ThreadEvent[]) => Promise<readonly ThreadEvent[] | undefined>;

/** Appends the events of a proposal, and publishes each as an operation. */
export async function appendTraced(proposal: Proposal, append: Append): ReturnType<Append> {
  const { events, messages, announcements } = publishStarts(proposal);
  try {
    const stored = await append(events);
    if (stored === undefined) {
      const error = new HoldpointError('revision-conflict', 'Concurrent append; retrying.');
      publishEnd(messages, { error });
    } else {
      publishEnd(messages, {});
      for (const each of announcements) publishAtOnce(each);
    }
    return stored;
  } catch (error) {
    publishEnd(messages, { error });
    throw error;
  }
}

/** Publishes the start of every append operation. The events returned are those of the proposal, with the spans that subscribers set. */
function publishStarts({ state, head, events: proposed }: Proposal): {
  events: ThreadEvent[];
  messages: TraceMessage[];
  /** Messages to publish once their events are durable. */
  announcements: TraceMessage[];
} {
  const events: ThreadEvent[] = [];
  const messages: TraceMessage[] = [];
  const announcements: TraceMessage[] = [];
  const context = { threadId: state.threadId, head, log: [events, state.events] };
  for (const event of proposed) {
    const message = describeTraceMessage(event, context);
    if (message?.type === 'indeterminate') announcements.push(message);
    else if (message !== undefined) {
      publishAtOnce(message);
      messages.push(message);
    }
    events.push(withTraceparent(event, message));
  }
  return { events, messages, announcements };
}

function publishEnd(messages: readonly TraceMessage[], failure: { error?: unknown }): void {
  for (const message of messages) {
    Object.assign(message, failure);
    if ('error' in failure) tracingChannel?.error.publish(message);
    tracingChannel?.asyncStart.publish(message);
    tracingChannel?.asyncEnd.publish(message);
  }
}

/* A subscriber may set any value; one that would make the log unreadable must not reach it. */
function withTraceparent(event: ThreadEvent, message: TraceMessage | undefined): ThreadEvent {
  if (message === undefined || !('traceparent' in message)) return event;
  const { success, data: traceparent } = traceparentSchema.safeParse(message.traceparent);
  const isTraceable = event.type === 'request-opened' || event.type === 'request-answered';
  return success && isTraceable ? { ...event, traceparent } : event;
}

/** The thread to which an event is about to be appended. */
interface EventContext {
  threadId: string;
  /** The thread's head after the append. */
  head: ThreadHead;
  /** The events before it: those of the same append, then the thread's. */
  log: readonly EventSearch[];
}

/** The trace message for an event that is about to be appended, if it has one. */
function describeTraceMessage(event: ThreadEvent, context: EventContext): TraceMessage | undefined {
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
function requestFacts({ head }: EventContext, requestId: string): RequestFacts | undefined {
  const found = head.newlyPast.requests.get(requestId) ?? findOpenRequest(head, requestId);
  return found && describeRequestFacts(found.request);
}

/* For a request that has been closed. */
function isAnswered({ newlyPast }: ThreadHead, requestId: string): boolean {
  return newlyPast.requests.get(requestId)?.response !== undefined;
}

function findTracedCall(place: CallPlace, { head }: EventContext): ToolCallRecord | undefined {
  const past = head.newlyPast.calls;
  return callAt(head, place) ?? past.findLast((call) => isSamePlace(place, call));
}
