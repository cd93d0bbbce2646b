import type { SettingFailure } from '../../content/check-settings.ts';
import type { ToolCallRecord } from '../../content/tool-call.ts';
import type { UserInputRequest } from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import { freezeDeep } from '../../json/json-value.ts';
import { traceparentSchema } from '../events/fields.ts';
import { findOpenRequest } from '../open-requests.ts';
import type { Proposal } from '../proposal.ts';
import { findEventRequestId } from '../request-events.ts';
import type { ThreadEvent, ThreadEventOf } from '../thread-event.ts';
import { callAt, isSamePlace, type ThreadHead, type UnsentAnswer } from '../thread-head.ts';
import type { ThreadState, EventSearch } from '../thread-state.ts';
import type {
  AppendedMessage,
  InvokedMessage,
  ModelAnswer,
  ModelName,
  PromptedMessage,
  SteppedMessage,
  TraceMessage,
  TraceSubject,
} from './trace-message.ts';
import { publishAtOnce, tracingChannel } from './tracing-channel.ts';

/** Checks whether anybody receives the trace. */
export function isTraced(): boolean {
  return tracingChannel?.hasSubscribers ?? false;
}

interface GuardedLog {
  /** The thread that records the call. */
  threadId: string;
  /** The conversation that the call belongs to. */
  conversationId: string;
}

/* An async context rather than a parameter, because other code treats the thread of a guarded call like any thread. */
const hooks = globalThis.process?.getBuiltinModule?.('node:async_hooks');
const guardedLog = hooks && new hooks.AsyncLocalStorage<GuardedLog>();

/** Runs the work of a guarded call, so that its trace messages name the conversation. */
export function runInConversation<RESULT>(log: GuardedLog, work: () => RESULT): RESULT {
  return guardedLog === undefined ? work() : guardedLog.run(log, work);
}

/** The conversation of a guarded call, for the thread that records the call. */
function findConversation(threadId: string): string | undefined {
  const log = guardedLog?.getStore();
  return log?.threadId === threadId ? log.conversationId : undefined;
}

/* The append is many calls deeper, and knows no run. */
const currentRun = hooks && new hooks.AsyncLocalStorage<InvokedMessage>();

/** Traces a run, except that of a guarded call, whose agent serves only to record the call. Called only if `isTraced`. */
export function traceRun<
  RESULT extends Pick<InvokedMessage, 'finishReason' | 'usage'> & { status: string },
>(
  facts: Pick<InvokedMessage, 'threadId' | 'agentName'> & Partial<ModelName>,
  run: () => Promise<RESULT>,
): Promise<RESULT> {
  if (findConversation(facts.threadId) !== undefined) return run();
  const message: InvokedMessage = { type: 'invoked', ...facts };
  const work = async (): Promise<RESULT> => {
    const result = await run();
    const { status, finishReason, usage } = result;
    Object.assign(message, { status, finishReason, usage });
    return result;
  };
  const trace = async (): Promise<RESULT> => traceWork(message, work);
  return currentRun === undefined ? trace() : currentRun.run(message, trace);
}

/** Notes what the log says of the run that holds a thread, in the run's message. */
function noteRun(threadId: string, event: ThreadEventOf<'run-started'>): void {
  const message = currentRun?.getStore();
  if (message?.threadId !== threadId) return;
  const { runId, principal, channel } = event;
  Object.assign(message, { runId, principal: freezeDeep(principal), channel });
}

/**
 * Appends the events of a proposal, and publishes each of them as an operation. `append` returns the events as they are stored; `undefined`
 * after a concurrent append.
 */
export async function appendTraced(
  proposal: Proposal,
  append: (events: readonly ThreadEvent[]) => Promise<readonly ThreadEvent[] | undefined>,
): Promise<readonly ThreadEvent[] | undefined> {
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

/** Traces one request to a model, except that of a guarded call, whose model only repeats the call. */
export function traceModel<RESULT>(
  facts: Pick<PromptedMessage, 'threadId' | 'step'> & ModelName,
  ask: () => PromiseLike<RESULT>,
  describe: (result: RESULT) => ModelAnswer,
): PromiseLike<RESULT> {
  if (findConversation(facts.threadId) !== undefined) return ask();
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
  return isTraced() ? traceWork({ type: 'stepped', ...facts }, take) : take();
}

/** Traces the execution of a tool. Called only if `isTraced`. */
export function traceCall<RESULT>(
  { threadId, events }: Readonly<ThreadState>,
  { call, description }: { call: ToolCallRecord; description: unknown },
  run: () => Promise<RESULT>,
): Promise<RESULT> {
  return traceWork(
    {
      type: 'started',
      ...describeTraceSubject(threadId, { call }, [events]),
      description: typeof description === 'string' ? description : undefined,
    },
    run,
  );
}

/** Traces the delivery of an answer to the tool that asked. */
export function traceAnswerDelivery<RESULT>(
  { threadId, events }: Readonly<ThreadState>,
  { request }: UnsentAnswer,
  deliver: () => Promise<RESULT>,
): Promise<RESULT> {
  if (!isTraced()) return deliver();
  const subject = describeTraceSubject(threadId, { request }, [events]);
  return traceWork({ type: 'delivered', ...subject }, deliver);
}

/** Publishes a fault of a setting. */
export function traceFailure(agentName: string | undefined, failure: SettingFailure): void {
  if (!isTraced()) return;
  const { threadId, setting, kind, problem, error, toolCall } = failure;
  const conversationId = threadId === undefined ? undefined : findConversation(threadId);
  const about = { threadId, conversationId, agentName, setting, kind, problem, ...toolCall };
  publishAtOnce({ type: 'setting-failed', ...about, ...(error === undefined ? {} : { error }) });
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

/** The call, or the request, that a message is about. */
interface Subject {
  call?: ToolCallRecord | undefined;
  request?: UserInputRequest | undefined;
}

/** Describes the subject of a message. `log` has the events before it, the newest list first. */
function describeTraceSubject(
  threadId: string,
  { call, request }: Subject,
  log: readonly EventSearch[],
): TraceSubject {
  const { toolCallId, toolName, input } = call ?? request?.toolCall ?? {};
  const requestId = request?.requestId ?? call?.requestId;
  return {
    threadId,
    conversationId: findConversation(threadId),
    toolCallId,
    toolName,
    attempt: call?.attempts,
    input: freezeDeep(input),
    requestId,
    request: freezeDeep(request),
    follows: requestId === undefined ? undefined : findTraceparent(requestId, log),
  };
}

/** The `traceparent` that is stored with the answer to a request, or else with the request. */
function findTraceparent(requestId: string, log: readonly EventSearch[]): string | undefined {
  for (const events of log) {
    const found = events.findLast(
      (event): event is TraceableEvent =>
        isTraceable(event) &&
        findEventRequestId(event) === requestId &&
        (event.traceparent !== undefined || event.type === 'request-opened'),
    );
    if (found !== undefined) return found.traceparent;
  }
  return undefined;
}

type TraceableEvent = ThreadEventOf<'request-opened' | 'request-answered'>;

/** Checks whether an event can store the `traceparent` of its span. */
function isTraceable(event: ThreadEvent): event is TraceableEvent {
  return event.type === 'request-opened' || event.type === 'request-answered';
}
