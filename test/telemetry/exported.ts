import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { ReadableSpan, Sampler } from '@opentelemetry/sdk-trace';
import type { HrTime, Tracer } from '@opentelemetry/api';

/** A span in the form that tests compare. */
export interface ExportedSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  links: { traceId: string; spanId: string }[];
  attributes: Record<string, unknown>;
  status: number;
  /** In milliseconds since 1970. */
  startedAt: number;
  endedAt: number;
}

/** A separate tracer and the spans that it has exported. */
export function exporting(sampler?: Sampler): {
  tracer: Tracer;
  spans: () => ExportedSpan[];
  raw: () => ReadableSpan[];
  /** Forgets what was exported. */
  reset: () => void;
} {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
    ...(sampler === undefined ? {} : { sampler }),
  });
  const raw = () => exporter.getFinishedSpans();
  return {
    tracer: provider.getTracer('test'),
    raw,
    reset: () => exporter.reset(),
    spans: () => raw().map(seen),
  };
}

function seen(span: ReadableSpan): ExportedSpan {
  const { traceId, spanId } = span.spanContext();
  return {
    name: span.name,
    traceId,
    spanId,
    parentSpanId: span.parentSpanContext?.spanId,
    links: span.links.map(({ context }) => ({ traceId: context.traceId, spanId: context.spanId })),
    attributes: span.attributes,
    status: span.status.code,
    startedAt: milliseconds(span.startTime),
    endedAt: milliseconds(span.endTime),
  };
}

function milliseconds([seconds, nanoseconds]: HrTime): number {
  return seconds * 1_000 + nanoseconds / 1_000_000;
}
