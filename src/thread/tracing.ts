import type { ToolCallRecord } from '../content/tool-call.ts';
import { HoldpointError } from '../errors.ts';
import { conversationOf } from './guarded-conversation.ts';
import { callFacts, factsOf, messageOf, traceparentOf } from './message-of-event.ts';
import type { Proposal } from './proposal.ts';
import type { ThreadEvent } from './thread-event.ts';
import type { UnsentAnswer, ThreadState } from './thread-state.ts';
import type {
  InvokedMessage,
  ModelAnswer,
  ModelName,
  PromptedMessage,
  TraceMessage,
} from './trace-message.ts';
import { traceparentSchema } from './traceparent.ts';

/** The tracing channel `holdpoint`; none where the platform has no `node:diagnostics_channel`. */
export const tracingChannel = globalThis.process
  ?.getBuiltinModule?.('node:diagnostics_channel')
  ?.tracingChannel<unknown, TraceMessage>('holdpoint');

/** Appends the events and gives them as they are stored; nothing when somebody else was faster. */
type Append = (events: readonly ThreadEvent[]) => Promise<readonly ThreadEvent[] | undefined>;

/** Appends a proposal's events, and tells of them: that it is tried, and what came of it. What is decided anew is told anew. */
export function traceAppend(proposal: Proposal, append: Append): ReturnType<Append> {
  return isHeard() ? appendTraced(proposal, append) : append(proposal.events);
}

async function appendTraced(proposal: Proposal, append: Append): ReturnType<Append> {
  const { events, messages, news } = begin(proposal);
  try {
    const stored = await append(events);
    conclude(messages, stored === undefined ? { error: outrun() } : {});
    if (stored !== undefined) for (const each of news) publishStart(each);
    return stored;
  } catch (error) {
    conclude(messages, { error });
    throw error;
  }
}

/** The part of a run's result that is traced. */
type RunResult = Pick<InvokedMessage, 'finishReason' | 'usage'> & { status: string };
/** Takes the events that a run appended. */
type OnEvents = (events: readonly ThreadEvent[]) => void;

/** Traces a run. That of a guarded call is left out: its agent is only the way in which the call is recorded. */
export function traceRun<RESULT extends RunResult>(
  facts: Pick<InvokedMessage, 'threadId' | 'agentName'> & ModelName,
  run: (onEvents: OnEvents) => Promise<RESULT>,
): Promise<RESULT> {
  if (!isHeard() || conversationOf(facts.threadId) !== undefined) return run(() => {});
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
  return isHeard() && conversationOf(threadId) === undefined;
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

/** Traces a tool that runs. */
export function traceCall<RESULT>(
  { threadId, events }: Readonly<ThreadState>,
  { call, description }: { call: ToolCallRecord; description: unknown },
  run: () => Promise<RESULT>,
): Promise<RESULT> {
  if (!isHeard()) return run();
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
  if (!isHeard()) return deliver();
  const follows = traceparentOf('request-answered', request.requestId, [events]);
  return traceWork({ type: 'delivered', ...factsOf(request), follows }, deliver);
}

function isHeard(): boolean {
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

/* A tool must run once, however faulty the subscriber. */
function beginWithin<RESULT>(
  within: (begin: () => void) => void,
  work: () => Promise<RESULT>,
): Promise<RESULT> {
  let begun: Promise<RESULT> | undefined;
  const beginOnce = (): Promise<RESULT> => (begun ??= work());
  try {
    within(() => void beginOnce());
  } catch (error) {
    /* Node, too, makes an uncaught exception of what a subscriber throws. */
    queueMicrotask(() => {
      throw error;
    });
  }
  return beginOnce();
}

/** Tells what is about to be appended. The events are those of the proposal, with the spans that subscribers gave them. */
function begin({ state, head, events: proposed }: Proposal): {
  events: ThreadEvent[];
  messages: TraceMessage[];
  /** Messages that are published only once they are durable. */
  news: TraceMessage[];
} {
  const events: ThreadEvent[] = [];
  const messages: TraceMessage[] = [];
  const news: TraceMessage[] = [];
  const context = { threadId: state.threadId, head, log: [events, state.events] };
  for (const event of proposed) {
    const message = messageOf(event, context);
    if (message?.type === 'indeterminate') news.push(message);
    else if (message !== undefined) {
      publishStart(message);
      messages.push(message);
    }
    events.push(withTraceparent(event, message));
  }
  return { events, messages, news };
}

function publishStart(message: TraceMessage): void {
  tracingChannel?.start.publish(message);
  tracingChannel?.end.publish(message);
}

function conclude(messages: readonly TraceMessage[], failure: { error?: unknown }): void {
  for (const message of messages) {
    Object.assign(message, failure);
    if ('error' in failure) tracingChannel?.error.publish(message);
    tracingChannel?.asyncStart.publish(message);
    tracingChannel?.asyncEnd.publish(message);
  }
}

/* A subscriber may write anything; what the log could not be read with must not get into it. */
function withTraceparent(event: ThreadEvent, message: TraceMessage | undefined): ThreadEvent {
  if (message === undefined || !('traceparent' in message)) return event;
  const { success, data: traceparent } = traceparentSchema.safeParse(message.traceparent);
  const isTraceable = event.type === 'request-opened' || event.type === 'request-answered';
  return success && isTraceable ? { ...event, traceparent } : event;
}

function outrun(): HoldpointError {
  return new HoldpointError(
    'revision-conflict',
    'Somebody appended to the thread first; it is decided again.',
  );
}
