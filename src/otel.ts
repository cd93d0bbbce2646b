import {
  context,
  diag,
  type Meter,
  metrics,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { HoldpointError } from './errors.ts';
import {
  listEndAttributes,
  type EndOfRequest,
  describeSpan,
  waitSpan,
  isApproval,
  type Recording,
  parseTraceparent,
  renderTraceparent,
} from './otel/spans.ts';
import { type TraceMessage, tracingChannel } from './thread/tracing.ts';

/** Options of `traceHoldpoint`. */
export interface TraceOptions {
  /** Default: the tracer `holdpoint` of the global tracer provider. */
  tracer?: Tracer;
  /** Default: the meter `holdpoint` of the global meter provider. */
  meter?: Meter;
  /** Whether spans contain the inputs of calls. Default `false`. */
  recordInputs?: boolean;
  /** Whether spans contain the results of tools. Default `false`. */
  recordOutputs?: boolean;
  /** Whether spans contain the principals who answered, and who caused runs. Default `false`. */
  recordPrincipals?: boolean;
}

/**
 * Creates OpenTelemetry spans for all agents in this process. Each run is an `invoke_agent {agent}` span, which contains `chat {model}` or,
 * for a custom agent, `custom_step {agent}`; `execute_tool {tool}`, `approval_request {tool}`, `approval_decision {tool}`,
 * `approval_closed {tool}`, `question_request {tool}`,
 * `question_answer {tool}`, `question_closed {tool}`, `answer_delivery {tool}`, `indeterminate_call {tool}` and `setting_failed {setting}`. With the AI SDK's own
 * OpenTelemetry integration registered, its model spans replace `chat`. Nesting needs a context manager, which every OpenTelemetry SDK
 * sets up.
 *
 * No span stays open while a request is open. A decision is linked to its request and an execution to its decision, across processes: the
 * thread stores their `traceparent`. When a request ends, an `approval_wait {tool}` or `question_wait {tool}` span is exported that lasts
 * from the opening of the request to its end and has the outcome. The histogram `holdpoint.approval.wait` records the time to each
 * decision, in seconds. Texts, reasons, answers and error messages are never recorded.
 *
 * Returns a function that stops tracing; spans that are open at that moment are not exported.
 *
 * @example
 * const stop = traceHoldpoint({ recordInputs: true });
 */
export function traceHoldpoint(options: TraceOptions = {}): () => void {
  const tracing = new Tracing(options);
  const subscribers = {
    start: guardSubscriber((message) => tracing.start(message)),
    end: guardSubscriber((message) => tracing.end(message)),
    asyncStart: () => {},
    asyncEnd: guardSubscriber((message) => tracing.asyncEnd(message)),
    error: () => {},
  };
  tracingChannel?.subscribe(subscribers);
  return () => tracingChannel?.unsubscribe(subscribers);
}

/* A subscriber that throws ends the process. */
function guardSubscriber(handle: (message: TraceMessage) => void): (message: TraceMessage) => void {
  return (message) => {
    try {
      handle(message);
    } catch (error) {
      report(error);
    }
  };
}

function report(error: unknown): void {
  try {
    diag.error('holdpoint/otel could not trace a message.', error);
  } catch {
    /* The diagnostics logger throws too: the error can't be reported. */
  }
}

/** Creates the spans for trace messages. */
class Tracing {
  readonly #tracer: Tracer;
  readonly #recording: Recording;
  readonly #wait;
  readonly #spans = new WeakMap<TraceMessage, Span>();
  readonly #runs = new WeakSet<Span>();

  constructor(options: TraceOptions) {
    const { recordInputs = false, recordOutputs = false, recordPrincipals = false } = options;
    this.#recording = { recordInputs, recordOutputs, recordPrincipals };
    this.#tracer = options.tracer ?? trace.getTracer('holdpoint');
    const meter = options.meter ?? metrics.getMeter('holdpoint');
    this.#wait = meter.createHistogram('holdpoint.approval.wait', {
      unit: 's',
      description: 'From the request for an approval to the decision.',
      advice: { explicitBucketBoundaries: waitBoundaries },
    });
  }

  start(message: TraceMessage): void {
    if (message.type === 'prompted' && !this.#isRun(trace.getActiveSpan())) return;
    const start = describeSpan(message, this.#recording);
    if (start === undefined) return;
    const span = this.#tracer.startSpan(start.name, start);
    this.#spans.set(message, span);
    if (message.type === 'invoked') this.#runs.add(span);
    switch (message.type) {
      case 'requested':
      case 'answered':
        message.traceparent = renderTraceparent(span.spanContext());
        break;
      case 'invoked':
      case 'prompted':
      case 'stepped':
      case 'started':
      case 'delivered':
        message.within = runWithin(span);
        break;
      case 'closed':
      case 'finished':
      case 'indeterminate':
      case 'setting-failed':
        break;
    }
  }

  /** Ends spans of messages that have no `asyncEnd`. */
  end(message: TraceMessage): void {
    const span = this.#spans.get(message);
    if (message.type !== 'indeterminate' && message.type !== 'setting-failed') return;
    if (span === undefined) return;
    endAfter(span, () => span.setStatus({ code: SpanStatusCode.ERROR }));
  }

  asyncEnd(message: TraceMessage): void {
    const span = this.#spans.get(message);
    if (span !== undefined) endAfter(span, () => this.#recordEnd(message, span));
  }

  #recordEnd(message: TraceMessage, span: Span): void {
    span.setAttributes(listEndAttributes(message, this.#recording));
    if ('error' in message) {
      span.setAttribute('error.type', classifyError(message.error));
      span.setStatus({ code: SpanStatusCode.ERROR });
    } else if (message.type === 'answered' || (message.type === 'closed' && !message.wasAnswered)) {
      this.#recordWait(message, span);
    }
  }

  /** Exports a span for the time during which the request was open. It starts in the past, possibly in another process. */
  #recordWait(message: EndOfRequest, end: Span): void {
    const { request, follows, waitedMs } = message;
    /* Dates, because OpenTelemetry takes a number from before the process started for milliseconds since that start. */
    const startTime = new Date(request.createdAt);
    const endTime = new Date(request.createdAt + waitedMs);
    const links = [{ context: end.spanContext() }];
    const parent =
      follows === undefined
        ? ROOT_CONTEXT
        : trace.setSpanContext(ROOT_CONTEXT, parseTraceparent(follows));
    const wait = waitSpan(message, this.#recording);
    this.#tracer.startSpan(wait.name, { ...wait, startTime, links }, parent).end(endTime);
    if (message.type !== 'answered' || !isApproval(message)) return;
    /* A sub-agent's request is measured in the child thread. */
    if (request.path !== undefined) return;
    this.#wait.record(waitedMs / 1000, {
      'holdpoint.decision': message.decision,
      ...(message.toolName === undefined ? {} : { 'gen_ai.tool.name': message.toolName }),
    });
  }

  /** Whether the active span is that of a run. Otherwise the AI SDK's own integration has already created one for the model request. */
  #isRun(active: Span | undefined): boolean {
    return active !== undefined && this.#runs.has(active);
  }
}

/* In seconds, from one second to a week. */
const waitBoundaries = [1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400, 604_800];

/** Starts work with the span as the active one. */
function runWithin(span: Span): (begin: () => void) => void {
  const active = trace.setSpan(context.active(), span);
  return (begin) => context.with(active, begin);
}

/* Recording the end may fail, for example in a meter; the span must still end, so that it is exported. */
function endAfter(span: Span, recordEnd: () => void): void {
  try {
    recordEnd();
  } finally {
    span.end();
  }
}

/* Not the message: it may quote content that must not be recorded. A tool may throw anything, even an object whose getters throw. */
function classifyError(error: unknown): string {
  try {
    if (HoldpointError.isInstance(error)) return error.code;
    return error instanceof Error && typeof error.name === 'string' ? error.name : '_OTHER';
  } catch {
    return '_OTHER';
  }
}
