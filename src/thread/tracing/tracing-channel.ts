import type { TraceMessage } from './trace-message.ts';

/** The tracing channel `holdpoint`; `undefined` on platforms without `node:diagnostics_channel`. */
export const tracingChannel = globalThis.process
  ?.getBuiltinModule?.('node:diagnostics_channel')
  ?.tracingChannel<unknown, TraceMessage>('holdpoint');
