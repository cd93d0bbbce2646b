import type { SettingFailure } from '../../content/check-settings.ts';
import type { ToolCallRecord } from '../../content/tool-call.ts';
import type { UserInputRequest } from '../../content/user-input.ts';
import { freezeDeep } from '../../json/json-value.ts';
import type { ThreadEvent, ThreadEventOf } from '../thread-event.ts';
import type { UnsentAnswer } from '../thread-head.ts';
import type { ThreadState, EventSearch } from '../thread-state.ts';
import type {
  InvokedMessage,
  ModelAnswer,
  ModelName,
  PromptedMessage,
  SteppedMessage,
  TraceMessage,
  CallFacts,
  RequestFacts,
} from './trace-message.ts';
import { publishAtOnce, tracingChannel } from './tracing-channel.ts';

/** Whether anybody receives the trace. */
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

/** The part of a run's result that is traced. */
type RunResult = Pick<InvokedMessage, 'finishReason' | 'usage'> & { status: string };
/** Receives the events that a run appended. */
type OnEvents = (events: readonly ThreadEvent[]) => void;

/** Traces a run, except that of a guarded call, whose agent serves only to record the call. Called only if `isTraced`. */
export function traceRun<RESULT extends RunResult>(
  facts: Pick<InvokedMessage, 'threadId' | 'agentName'> & Partial<ModelName>,
  run: (onEvents: OnEvents) => Promise<RESULT>,
): Promise<RESULT> {
  if (findConversation(facts.threadId) !== undefined) return run(() => {});
  const message: InvokedMessage = { type: 'invoked', ...facts };
  const onEvents: OnEvents = (events) => {
    const started = events.findLast(({ type }) => type === 'run-started');
    if (started?.type !== 'run-started') return;
    const { runId, principal, channel } = started;
    Object.assign(message, { runId, principal: freezeDeep(principal), channel });
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
  return isTraced() && findConversation(threadId) === undefined;
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
      ...callFacts(threadId, call),
      description: typeof description === 'string' ? description : undefined,
      follows: findTraceparent('request-answered', call.requestId, [events]),
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
  if (!isTraced()) return deliver();
  const follows = findTraceparent('request-answered', request.requestId, [events]);
  return traceWork({ type: 'delivered', ...describeRequestFacts(request), follows }, deliver);
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
