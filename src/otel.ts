import {
  context,
  diag,
  type Meter,
  metrics,
  type Span,
  type SpanContext,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { HoldpointError } from './errors.ts';
import { isApproval, jsonOf, type Recording, spanOfMessage } from './otel/span-of-message.ts';
import type { TraceMessage } from './thread/trace-message.ts';
import { tracingChannel } from './thread/tracing.ts';

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
 * Makes OpenTelemetry spans of what all agents of this process do: `approval_request {tool}`, `approval_decision {tool}`,
 * `question_request {tool}`, `question_answer {tool}`, `execute_tool {tool}`, `answer_delivery {tool}` and `indeterminate_call {tool}`.
 * Each is short. None is open while a person is waited for: what follows is linked to what it follows, in another process too, as the
 * thread keeps their `traceparent`. How long people took is in the histogram `holdpoint.approval.wait`, in seconds. Texts, reasons, answers and the messages of errors are never
 * recorded. Gives back what ends it; spans that are open then are not exported.
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
  readonly #leave = new WeakMap<TraceMessage, () => void>();

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
    const beginning = spanOfMessage(message, this.#recording);
    if (beginning === undefined) return;
    const { name, attributes, links } = beginning;
    const span = this.#tracer.startSpan(name, { attributes, links });
    this.#spans.set(message, span);
    if (message.type === 'started') this.#enter(message, span);
    if (message.type !== 'requested' && message.type !== 'answered') return;
    message.traceparent = traceparentOf(span.spanContext());
  }

  /** The synchronous part is over: whatever the tool goes on with has its context by now. */
  end(message: TraceMessage): void {
    this.#leave.get(message)?.();
    const span = this.#spans.get(message);
    if (message.type !== 'indeterminate' || span === undefined) return;
    endAfter(span, () => span.setStatus({ code: SpanStatusCode.ERROR }));
  }

  asyncEnd(message: TraceMessage): void {
    const span = this.#spans.get(message);
    if (span !== undefined) endAfter(span, () => this.#conclude(message, span));
  }

  #conclude(message: TraceMessage, span: Span): void {
    if ('error' in message) {
      span.setAttribute('error.type', typeOf(message.error));
      span.setStatus({ code: SpanStatusCode.ERROR });
    } else if (message.type === 'started' && this.#recording.recordOutputs) {
      const result = jsonOf(message.result);
      if (result !== undefined) span.setAttribute('gen_ai.tool.call.result', result);
    } else if (message.type === 'answered' && isApproval(message)) {
      const { waitedMs, decision, toolName } = message;
      this.#wait.record(waitedMs / 1000, {
        'holdpoint.decision': decision,
        ...(toolName === undefined ? {} : { 'gen_ai.tool.name': toolName }),
      });
    }
  }

  /** Makes a span the active one until the message's `end`. A tool can't be wrapped from here, so `context.with` would not do. */
  #enter(message: TraceMessage, span: Span): void {
    /* The API has it from 1.10 on; before, the tool's spans stand beside this one. */
    if (!('attach' in context)) return;
    const token = context.attach(trace.setSpan(context.active(), span));
    this.#leave.set(message, () => token.dispose());
  }
}

/* Seconds, from a glance to a week. */
const waitBoundaries = [1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400, 604_800];

/* Without an SDK it is all zeros, which the thread does not keep. */
function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
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
