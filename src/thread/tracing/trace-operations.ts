import type { ToolCallRecord } from '../../content/tool-call.ts';
import { HoldpointError } from '../../errors.ts';
import { conversationOf } from './guarded-conversation.ts';
import { callFacts, factsOf, traceMessageOf, traceparentOf } from './trace-message-of-event.ts';
import type { Proposal } from '../proposal.ts';
import { type ThreadEvent, traceparentSchema } from '../thread-event.ts';
import type { UnsentAnswer, ThreadState } from '../thread-state.ts';
import type {
  InvokedMessage,
  ModelAnswer,
  ModelName,
  PromptedMessage,
  SteppedMessage,
  TraceMessage,
} from './trace-message.ts';

/** The tracing channel `holdpoint`; `undefined` on platforms without `node:diagnostics_channel`. */
export const tracingChannel = globalThis.process
  ?.getBuiltinModule?.('node:diagnostics_channel')
  ?.tracingChannel<unknown, TraceMessage>('holdpoint');

/** Appends events and returns them as they are stored; `undefined` after a concurrent append. */
type Append = (events: readonly ThreadEvent[]) => Promise<readonly ThreadEvent[] | undefined>;

/** Appends the events of a proposal as traced operations. A proposal that is retried after a concurrent append is traced again. */
export function traceAppend(proposal: Proposal, append: Append): ReturnType<Append> {
  return hasSubscribers() ? appendTraced(proposal, append) : append(proposal.events);
}

async function appendTraced(proposal: Proposal, append: Append): ReturnType<Append> {
  const { events, messages, announcements } = publishStarts(proposal);
  try {
    const stored = await append(events);
    publishEnd(messages, stored === undefined ? { error: concurrentAppend() } : {});
    if (stored !== undefined) for (const each of announcements) publishStart(each);
    return stored;
  } catch (error) {
    publishEnd(messages, { error });
    throw error;
  }
}

/** The part of a run's result that is traced. */
type RunResult = Pick<InvokedMessage, 'finishReason' | 'usage'> & { status: string };
/** Receives the events that a run appended. */
type OnEvents = (events: readonly ThreadEvent[]) => void;

/** Traces a run, except that of a guarded call, whose agent serves only to record the call. */
export function traceRun<RESULT extends RunResult>(
  facts: Pick<InvokedMessage, 'threadId' | 'agentName'> & Partial<ModelName>,
  run: (onEvents: OnEvents) => Promise<RESULT>,
): Promise<RESULT> {
  if (!hasSubscribers() || conversationOf(facts.threadId) !== undefined) return run(() => {});
  const message: InvokedMessage = { type: 'invoked', ...facts };
  const onEvents: OnEvents = (events) => {
    const started = events.findLast(({ type }) => type === 'run-started');
    if (started?.type === 'run-started') message.runId = started.runId;
  };
  return traceWork(message, async () => {
    const result = await run(onEvents);
    const { status, finishReason, usage } = result;
    Object.assign(message, { status, finishReason, usage });
    return result;
  });
}

/** Whether the model requests of a thread are traced. */
export function tracesModel(threadId: string): boolean {
  return hasSubscribers() && conversationOf(threadId) === undefined;
}

/** Traces one request to a model. */
export function traceModel<RESULT>(
  facts: Pick<PromptedMessage, 'threadId' | 'step'> & ModelName,
  ask: () => PromiseLike<RESULT>,
  describe: (result: RESULT) => ModelAnswer,
): Promise<RESULT> {
  const message: PromptedMessage = { type: 'prompted', ...facts };
  return traceWork(message, async () => {
    const result = await ask();
    message.answer = describe(result);
    return result;
  });
}

/** Traces one step of a custom agent. */
export function traceStep<RESULT>(
  facts: Omit<SteppedMessage, 'type'>,
  take: () => Promise<RESULT>,
): Promise<RESULT> {
  return hasSubscribers() ? traceWork({ type: 'stepped', ...facts }, take) : take();
}

/** Traces the execution of a tool. */
export function traceCall<RESULT>(
  { threadId, events }: Readonly<ThreadState>,
  { call, description }: { call: ToolCallRecord; description: unknown },
  run: () => Promise<RESULT>,
): Promise<RESULT> {
  if (!hasSubscribers()) return run();
  return traceWork(
    {
      type: 'started',
      ...callFacts(threadId, call),
      description: typeof description === 'string' ? description : undefined,
      follows: traceparentOf('request-answered', call.requestId, [events]),
    },
    run,
  );
}

/** Traces the delivery of an answer to the tool that asked. */
export function traceAnswerDelivery<RESULT>(
  { events }: Readonly<ThreadState>,
  { request }: UnsentAnswer,
  deliver: () => Promise<RESULT>,
): Promise<RESULT> {
  if (!hasSubscribers()) return deliver();
  const follows = traceparentOf('request-answered', request.requestId, [events]);
  return traceWork({ type: 'delivered', ...factsOf(request), follows }, deliver);
}

function hasSubscribers(): boolean {
  return tracingChannel?.hasSubscribers ?? false;
}

/** Traces work as one operation. */
function traceWork<RESULT>(message: TraceMessage, work: () => Promise<RESULT>): Promise<RESULT> {
  const enter = (): Promise<RESULT> => {
    const within = 'within' in message ? message.within : undefined;
    return within === undefined ? work() : beginWithin(within, work);
  };
  return tracingChannel === undefined ? work() : tracingChannel.tracePromise(enter, message);
}

/* A tool must run exactly once, even if the subscriber throws, or calls `begin` twice or never. */
function beginWithin<RESULT>(
  within: (begin: () => void) => void,
  work: () => Promise<RESULT>,
): Promise<RESULT> {
  let begun: Promise<RESULT> | undefined;
  const beginOnce = (): Promise<RESULT> => (begun ??= work());
  try {
    within(() => void beginOnce());
  } catch (error) {
    /* Thrown as an uncaught exception, as Node does with errors of subscribers. */
    queueMicrotask(() => {
      throw error;
    });
  }
  return beginOnce();
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
    const message = traceMessageOf(event, context);
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

function concurrentAppend(): HoldpointError {
  return new HoldpointError('revision-conflict', 'Concurrent append; retrying.');
}
