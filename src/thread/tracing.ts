/* The part of `tracing/` that the rest of the package may use: agents report, OpenTelemetry listens. Nothing in `thread` imports this. */
export {
  type AppendedMessage,
  type InvokedMessage,
  type ModelAnswer,
  type ModelName,
  type PromptedMessage,
  type TraceMessage,
  type TraceSubject,
} from './tracing/trace-message.ts';
export {
  isTraced,
  runInConversation,
  traceAnswerDelivery,
  traceCall,
  traceFailure,
  traceModel,
  traceRun,
  traceStep,
} from './tracing/trace-operations.ts';
export { tracingChannel } from './tracing/tracing-channel.ts';
