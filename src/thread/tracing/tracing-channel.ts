import type { TraceMessage } from './trace-message.ts';

/*
 * Both type parameters, the store and the context, are the message: versions of `@types/node` have them in different orders.
 */
/** The tracing channel `holdpoint`; `undefined` on platforms without `node:diagnostics_channel`. */
export const tracingChannel = globalThis.process
  ?.getBuiltinModule?.('node:diagnostics_channel')
  ?.tracingChannel<TraceMessage, TraceMessage>('holdpoint');

/** Publishes the start of an operation, or a message that has no `asyncEnd`. */
export function publishAtOnce(message: TraceMessage): void {
  tracingChannel?.start.publish(message);
  tracingChannel?.end.publish(message);
}
