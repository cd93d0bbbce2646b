import { HoldpointError } from '../../errors.ts';
import type { Proposal } from '../proposal.ts';
import { traceparentSchema } from '../events/fields.ts';
import type { ThreadEvent } from '../thread-event.ts';
import { describeTraceMessage } from './trace-message-of-event.ts';
import type { TraceMessage } from './trace-message.ts';
import { tracingChannel } from './tracing-channel.ts';

/** Appends events and returns them as they are stored; `undefined` after a concurrent append. */
export type Append = (
  events: readonly ThreadEvent[],
) => Promise<readonly ThreadEvent[] | undefined>;

/** Appends the events of a proposal, and publishes each as an operation. */
export async function appendTraced(proposal: Proposal, append: Append): ReturnType<Append> {
  const { events, messages, announcements } = publishStarts(proposal);
  try {
    const stored = await append(events);
    publishEnd(messages, stored === undefined ? { error: makeConcurrentAppendError() } : {});
    if (stored !== undefined) for (const each of announcements) publishStart(each);
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
      publishStart(message);
      messages.push(message);
    }
    events.push(withTraceparent(event, message));
  }
  return { events, messages, announcements };
}

function publishStart(message: TraceMessage): void {
  tracingChannel?.start.publish(message);
  tracingChannel?.end.publish(message);
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

function makeConcurrentAppendError(): HoldpointError {
  return new HoldpointError('revision-conflict', 'Concurrent append; retrying.');
}
