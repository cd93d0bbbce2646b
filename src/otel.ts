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
import { attributesAtEnd, type EndOfRequest, waitOf } from './otel/end-of-span.ts';
import { placeOf, traceparentOf } from './otel/place-in-trace.ts';
import { isApproval, type Recording } from './otel/span-beginning.ts';
import { spanOfMessage } from './otel/span-of-message.ts';
import type { TraceMessage } from './thread/tracing/trace-message.ts';
import { tracingChannel } from './thread/tracing/trace-operations.ts';

/** How holdpoint is traced. */
export interface TraceOptions {
  /** Default: the global tracer provider's, named `holdpoint`. */
  tracer?: Tracer;
  /** Default: the global meter provider's, named `holdpoint`. */
  meter?: Meter;
  /** Whether spans hold the inputs of calls. Default `false`. */
  recordInputs?: boolean;
  /** Whether spans hold what tools returned. Default `false`. */
  recordOutputs?: boolean;
  /** Whether spans hold who answered. Default `false`. */
  recordPrincipals?: boolean;
}

/**
 * Makes OpenTelemetry spans for all agents of this process. Each run is an `invoke_agent {agent}` span, which contains `chat {model}`,
 * `execute_tool {tool}`, `approval_request {tool}`, `approval_decision {tool}`, `approval_closed {tool}`, `question_request {tool}`,
 * `question_answer {tool}`, `question_closed {tool}`, `answer_delivery {tool}` and `indeterminate_call {tool}`. With the AI SDK's own
 * OpenTelemetry integration registered, its model spans replace `chat`. Nesting needs a context manager, which every OpenTelemetry SDK
 * sets up.
 *
 * No span stays open while a person is asked. A decision is linked to its request and an execution to its decision, across processes:
 * the thread stores their `traceparent`. When a request ends, `approval_wait {tool}` or `question_wait {tool}` is exported, which lasts
 * from its opening to its end and has the outcome. The histogram `holdpoint.approval.wait` has the time to each decision, in seconds.
 * Texts, reasons, answers and error messages are never recorded.
 *
 * Returns a function that stops tracing; spans that are open then are not exported.
 *
 * @example
 * const stop = traceHoldpoint({ recordInputs: true });
 */
export function traceHoldpoint(options: TraceOptions = {}): () => void {
  const tracing = new Tracing(options);
  const subscribers = {
    start: guarded((message) => tracing.start(message)),
    end: guarded((message) => tracing.end(message)),
    asyncStart: () => {},
    asyncEnd: guarded((message) => tracing.asyncEnd(message)),
    error: () => {},
  };
  tracingChannel?.subscribe(subscribers);
  return () => tracingChannel?.unsubscribe(subscribers);
}

/* A subscriber that throws ends the process. */
function guarded(handle: (message: TraceMessage) => void): (message: TraceMessage) => void {
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
    diag.error('holdpoint/otel could not trace.', error);
  } catch {
    /* The logger throws, too: there is nobody left to tell. */
  }
}

/** The spans of what goes on. */
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
    if (message.type === 'prompted' && !this.#isOurs(trace.getActiveSpan())) return;
    const beginning = spanOfMessage(message, this.#recording);
    if (beginning === undefined) return;
    const span = this.#tracer.startSpan(beginning.name, beginning);
    this.#spans.set(message, span);
    if (message.type === 'invoked') this.#runs.add(span);
    switch (message.type) {
      case 'requested':
      case 'answered':
        message.traceparent = traceparentOf(span.spanContext());
        break;
      case 'invoked':
      case 'prompted':
      case 'started':
      case 'delivered':
        message.within = withinOf(span);
        break;
      default:
    }
  }

  /** `indeterminate` has no `asyncEnd`. */
  end(message: TraceMessage): void {
    const span = this.#spans.get(message);
    if (message.type !== 'indeterminate' || span === undefined) return;
    endAfter(span, () => span.setStatus({ code: SpanStatusCode.ERROR }));
  }

  asyncEnd(message: TraceMessage): void {
    const span = this.#spans.get(message);
    if (span !== undefined) endAfter(span, () => this.#conclude(message, span));
  }

  #conclude(message: TraceMessage, span: Span): void {
    span.setAttributes(attributesAtEnd(message, this.#recording));
    if ('error' in message) {
      span.setAttribute('error.type', typeOf(message.error));
      span.setStatus({ code: SpanStatusCode.ERROR });
    } else if (message.type === 'answered' || (message.type === 'closed' && !message.wasAnswered)) {
      this.#recordWait(message, span);
    }
  }

  /** Exports the span of the time in which the request was open, which began in the past, perhaps in another process. */
  #recordWait(message: EndOfRequest, end: Span): void {
    const { request, follows, waitedMs } = message;
    /* Dates: OpenTelemetry reads a number from before the process began as milliseconds since then. */
    const startTime = new Date(request.createdAt);
    const endTime = new Date(request.createdAt + waitedMs);
    const links = [{ context: end.spanContext() }];
    const place =
      follows === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, placeOf(follows));
    const wait = waitOf(message, this.#recording);
    this.#tracer.startSpan(wait.name, { ...wait, startTime, links }, place).end(endTime);
    if (message.type !== 'answered' || !isApproval(message)) return;
    this.#wait.record(waitedMs / 1000, {
      'holdpoint.decision': message.decision,
      ...(message.toolName === undefined ? {} : { 'gen_ai.tool.name': message.toolName }),
    });
  }

  /** Whether a run's span is the innermost: the AI SDK's own integration makes a span around its model requests. */
  #isOurs(active: Span | undefined): boolean {
    return active !== undefined && this.#runs.has(active);
  }
}

/* Seconds, from a glance to a week. */
const waitBoundaries = [1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400, 604_800];

/** Begins work with a span as the active one. */
function withinOf(span: Span): (begin: () => void) => void {
  const active = trace.setSpan(context.active(), span);
  return (begin) => context.with(active, begin);
}

/* What is said of it last may fail, in a meter say; the span ends all the same, and is exported. */
function endAfter(span: Span, conclude: () => void): void {
  try {
    conclude();
  } finally {
    span.end();
  }
}

/* Never the message: it may quote what was not to be recorded. A tool may throw anything, also what throws when it is looked at. */
function typeOf(error: unknown): string {
  try {
    if (HoldpointError.isInstance(error)) return error.code;
    return error instanceof Error && typeof error.name === 'string' ? error.name : '_OTHER';
  } catch {
    return '_OTHER';
  }
}
