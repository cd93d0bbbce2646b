/* What the rest of the package may use of `tracing/`: agents report, OpenTelemetry listens. Nothing in `thread` imports this. */
export {
  type CallFacts,
  type InvokedMessage,
  type ModelAnswer,
  type ModelName,
  readModelName,
  type PromptedMessage,
  type RequestFacts,
  type TraceMessage,
} from './tracing/trace-message.ts';
export {
  isTraced,
  runInConversation,
  traceAnswerDelivery,
  traceCall,
  traceFailure,
  traceModel,
  traceRun,
  tracesModel,
  traceStep,
} from './tracing/trace-operations.ts';
export { tracingChannel } from './tracing/tracing-channel.ts';
