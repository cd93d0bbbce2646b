export type { Agent } from './agent/agent.ts';
export type { AgentEvent, AgentListener } from './agent/run/agent-events.ts';
export type { AgentOptions } from './agent/agent-options.ts';
export type { AnswerMessage, AnswerOptions, InputItem, RunInput } from './agent/input/run-input.ts';
export type { DeliveredOutcome, SettledOutcome } from './agent/input/accept-outcome.ts';
export type { RunOptions } from './agent/run/run-options.ts';
export type { ToolRecovery } from './agent/run/tool-recovery.ts';
export type { UnrecordedOutcome } from './agent/run/agent-context.ts';
export type { AgentResponse } from './agent/agent-response.ts';
export type { AgentStream, AgentStreamEvent } from './agent/agent-stream.ts';
export { createAgent } from './agent/create-agent.ts';
export type { PreliminaryResult, ToolRunOptions } from './agent/calls/execute-call.ts';
export { type Later, later, laterWithin } from './agent/calls/execute-call.ts';
export type { MayAnswer } from './agent/input/run-input.ts';
export type { Question } from './agent/calls/question-call.ts';
export {
  type ApprovalRequest,
  type ApprovalRequestContent,
  approvalRequestSchema,
  type ApprovalResponseContent,
  approvalResponseSchema,
  approve,
  reject,
} from './content/approval.ts';
export type { ModelDelta } from './agent/model/streaming-model.ts';
export { inertLine, inertText } from './content/inert-text.ts';
export {
  type QuestionAnswer,
  type QuestionField,
  type QuestionOption,
  type QuestionRequestContent,
  questionRequestSchema,
  type QuestionResponseContent,
  questionResponseSchema,
} from './content/question.ts';
export {
  type CallPlace,
  type ToolCall,
  type ToolCallOutcome,
  toolCallOutcomeSchema,
  type ToolCallRecord,
  toolCallRecordSchema,
  toolCallSchema,
  type ToolCallStatus,
} from './content/tool-call.ts';
export type {
  UserInputRequest,
  UserInputRequestContent,
  UserInputResponseContent,
} from './content/user-input.ts';
export { HoldpointError, type HoldpointErrorCode } from './errors.ts';
export type { ToolApproval, ToolApprovalStatus } from './policy/tool-approval.ts';
export { memoryStore } from './stores/memory.ts';
export type { AgentThread } from './thread/agent-thread.ts';
export { eventsOf } from './thread/log-entry.ts';
export {
  type Source,
  type StepMetadata,
  type ThreadEvent,
  type ThreadEventOf,
  threadEventSchema,
  type ThreadEventType,
} from './thread/thread-event.ts';
export type { ThreadJson } from './thread/thread-json.ts';
export type { RunFailure, ThreadStatus } from './thread/thread-state.ts';
export type {
  LogEnd,
  LogEntry,
  ThreadClaim,
  ThreadFilter,
  ThreadNotice,
  ThreadQuery,
  ThreadStore,
  ThreadSummary,
} from './thread/thread-store.ts';
export type { TraceMessage } from './thread/trace-message.ts';
