import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { traceHoldpoint } from 'holdpoint/otel';
import { afterEach, beforeAll } from 'vitest';
import { exporting } from './exported.ts';

const stops: (() => void)[] = [];

/** Gives the tests of a file a context manager, and ends what they trace. */
export function tracingTests(): void {
  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  });
  afterEach(() => {
    for (const stop of stops.splice(0)) stop();
  });
}

/** Traces until the end of the test, or until `stop`. */
export function traced(
  options: NonNullable<Parameters<typeof traceHoldpoint>[0]> = {},
  exported = exporting(),
) {
  const stop = traceHoldpoint({ tracer: exported.tracer, ...options });
  stops.push(stop);
  return { ...exported, stop };
}
