import { HoldpointError } from '../../errors.ts';
import { freezeDeep } from '../../json/json-value.ts';
import { traceparentSchema } from '../events/fields.ts';
import { findOpenRequest } from '../open-requests.ts';
import type { Proposal } from '../proposal.ts';
import { findEventRequestId } from '../request-events.ts';
import type { ThreadEvent } from '../thread-event.ts';
import { callAt, isSamePlace, type ThreadHead } from '../thread-head.ts';
import type { AppendedMessage } from './trace-message.ts';
import { describeTraceSubject, isTraceable, noteRun, type Subject } from './trace-operations.ts';
import { publishAtOnce, tracingChannel } from './tracing-channel.ts';

/** Appends events and returns them as they are stored; `undefined` after a concurrent append. */
type Append = (events: readonly ThreadEvent[]) => Promise<readonly ThreadEvent[] | undefined>;

/** Appends the events of a proposal, and publishes each of them as an operation. */
export async function appendTraced(proposal: Proposal, append: Append): ReturnType<Append> {
  const { events, messages } = publishStarts(proposal);
  try {
    const stored = await append(events);
    const conflict = new HoldpointError('revision-conflict', 'Concurrent append; retrying.');
    publishEnds(messages, stored === undefined ? { error: conflict } : {});
    return stored;
  } catch (error) {
    publishEnds(messages, { error });
    throw error;
  }
}

/** Publishes the start of each append. The events returned are those of the proposal, with the spans that subscribers set. */
function publishStarts({ state, head, events: proposed }: Proposal): {
  events: ThreadEvent[];
  messages: AppendedMessage[];
} {
  const events: ThreadEvent[] = [];
  const messages: AppendedMessage[] = [];
  for (const event of proposed) {
    /* Its span is in no log yet: a search would read the whole thread. */
    const log = event.type === 'request-opened' ? [] : [events, state.events];
    const subject = describeTraceSubject(state.threadId, findSubject(event, head), log);
    const wasAnswered = event.type === 'request-closed' && isAnswered(head, event.requestId);
    const message: AppendedMessage = {
      type: 'appended',
      ...subject,
      event: freezeDeep(event),
      wasAnswered,
    };
    publishAtOnce(message);
    messages.push(message);
    events.push(withTraceparent(event, message));
  }
  return { events, messages };
}

function publishEnds(messages: readonly AppendedMessage[], failure: { error?: unknown }): void {
  for (const message of messages) {
    const { threadId, event } = Object.assign(message, failure);
    if ('error' in failure) tracingChannel?.error.publish(message);
    else if (event.type === 'run-started') noteRun(threadId, event);
    tracingChannel?.asyncStart.publish(message);
    tracingChannel?.asyncEnd.publish(message);
  }
}

/* A subscriber may set any value; one that would make the log unreadable must not reach it. */
function withTraceparent(event: ThreadEvent, message: AppendedMessage): ThreadEvent {
  const { success, data: traceparent } = traceparentSchema.safeParse(message.traceparent);
  return success && isTraceable(event) ? { ...event, traceparent } : event;
}

/** Finds the call or the request that an event is about. `head` is the one after its append, which may also end both, and the call's step. */
function findSubject(event: ThreadEvent, head: ThreadHead): Subject {
  const { calls, requests } = head.newlyPast;
  if ('index' in event)
    return { call: callAt(head, event) ?? calls.findLast((call) => isSamePlace(event, call)) };
  const requestId = findEventRequestId(event) ?? '';
  return { request: (requests.get(requestId) ?? findOpenRequest(head, requestId))?.request };
}

/* For a request that has been closed. */
function isAnswered({ newlyPast }: ThreadHead, requestId: string): boolean {
  return newlyPast.requests.get(requestId)?.response !== undefined;
}
