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
  describeEventSpan,
  describeFaultSpan,
  describeWaitSpan,
  describeWorkSpan,
  listEndAttributes,
  measureDecision,
  type Recording,
  renderTraceparent,
  type SpanStart,
  type WorkMessage,
} from './otel/spans.ts';
import { type AppendedMessage, type TraceMessage, tracingChannel } from './thread/tracing.ts';

/** Options of `traceHoldpoint`. */
interface TraceOptions {
  /** Default: the tracer `holdpoint` of the global tracer provider. */
  tracer?: Tracer;
  /** Default: the meter `holdpoint` of the global meter provider. */
  meter?: Meter;
  /** True if spans contain the inputs of calls. Default `false`. */
  recordInputs?: boolean;
  /** True if spans contain the results of tools. Default `false`. */
  recordOutputs?: boolean;
  /** True if spans contain the principals who answered, and who caused runs. Default `false`. */
  recordPrincipals?: boolean;
}

/**
 * Creates OpenTelemetry spans for all agents in this process. Each run is an `invoke_agent {agent}` span, which contains `chat {model}` or,
 * for a custom agent, `custom_step {agent}`; `execute_tool {tool}`, `approval_request {tool}`, `approval_decision {tool}`,
 * `approval_closed {tool}`, `question_request {tool}`, `question_answer {tool}`, `question_closed {tool}`, `answer_delivery {tool}`,
 * `indeterminate_call {tool}` and `setting_failed {setting}`. With the AI SDK's own OpenTelemetry integration registered, its model spans
 * replace `chat`. Nesting needs a context manager, which every OpenTelemetry SDK sets up.
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
    end: () => {},
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
    switch (message.type) {
      case 'appended':
        this.#startAppend(message);
        break;
      case 'setting-failed':
        this.#exportFault(describeFaultSpan(message));
        break;
      case 'prompted':
        if (this.#isRun(trace.getActiveSpan())) this.#startWork(message);
        break;
      case 'invoked':
      case 'stepped':
      case 'started':
      case 'delivered':
        this.#startWork(message);
        break;
    }
  }

  asyncEnd(message: TraceMessage): void {
    const span = this.#spans.get(message);
    if (message.type === 'setting-failed') return;
    if (message.type === 'appended') this.#endAppend(message, span);
    else if (span !== undefined) {
      endAfter(span, () => {
        span.setAttributes(listEndAttributes(message, this.#recording));
        if ('error' in message) recordError(span, message.error);
      });
    }
  }

  #startWork(message: WorkMessage): void {
    const span = this.#startSpan(message, describeWorkSpan(message, this.#recording));
    if (message.type === 'invoked') this.#runs.add(span);
    message.within = runWithin(span);
  }

  #startAppend(message: AppendedMessage): void {
    /* Reported only once it is durable: several processes may find the same call. */
    if (message.event.type === 'call-lost') return;
    const start = describeEventSpan(message, this.#recording);
    if (start === undefined) return;
    message.traceparent = renderTraceparent(this.#startSpan(message, start).spanContext());
  }

  #endAppend(message: AppendedMessage, span: Span | undefined): void {
    if (span !== undefined) {
      endAfter(span, () => {
        if ('error' in message) recordError(span, message.error);
        else this.#exportWait(message, span);
      });
    } else if (message.event.type === 'call-lost' && !('error' in message)) {
      this.#exportFault(describeEventSpan(message, this.#recording));
    }
  }

  #startSpan(message: TraceMessage, start: SpanStart): Span {
    const span = this.#tracer.startSpan(start.name, start);
    this.#spans.set(message, span);
    return span;
  }

  #exportFault(start: SpanStart | undefined): void {
    if (start === undefined) return;
    const span = this.#tracer.startSpan(start.name, start);
    endAfter(span, () => span.setStatus({ code: SpanStatusCode.ERROR }));
  }

  /** Exports a span for the time during which the request was open, if the event ended it. */
  #exportWait(message: AppendedMessage, end: Span): void {
    const wait = describeWaitSpan(message, this.#recording);
    if (wait === undefined) return;
    const { name, parent, endTime } = wait;
    const links = [{ context: end.spanContext() }];
    const within = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
    this.#tracer.startSpan(name, { ...wait, links }, within).end(endTime);
    const decision = measureDecision(message);
    if (decision !== undefined) this.#wait.record(decision.seconds, decision.attributes);
  }

  /**
   * Checks whether the active span is that of a run. Otherwise the AI SDK's own integration has already created one for the model request.
   */
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

function recordError(span: Span, error: unknown): void {
  span.setAttribute('error.type', classifyError(error));
  span.setStatus({ code: SpanStatusCode.ERROR });
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
