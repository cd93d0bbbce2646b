import type { TraceMessage } from './trace-message.ts';

/** The tracing channel `holdpoint`; `undefined` on platforms without `node:diagnostics_channel`. */
export const tracingChannel = globalThis.process
  ?.getBuiltinModule?.('node:diagnostics_channel')
  ?.tracingChannel<unknown, TraceMessage>('holdpoint');

/** Publishes the start of an operation, or a message that has no `asyncEnd`. */
export function publishAtOnce(message: TraceMessage): void {
  tracingChannel?.start.publish(message);
  tracingChannel?.end.publish(message);
}
