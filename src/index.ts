export type { Agent } from './agent/agent.ts';
export type { AgentEvent } from './agent/run/agent-events.ts';
export type { AgentOptions, SharedAgentOptions } from './agent/agent-options.ts';
export type { ImportedHistory } from './agent/input/imported-history.ts';
export type { AnswerOptions, InputItem, RunInput } from './agent/input/run-input.ts';
export type { DeliveredOutcome, SettledOutcome } from './agent/input/accept-outcome.ts';
export type { RunOptions } from './agent/run/run-options.ts';
export type { ToolRecovery } from './agent/run/tool-recovery.ts';
export type { UnrecordedOutcome } from './agent/run/agent-context.ts';
export type { AgentResponse } from './agent/agent-response.ts';
export type { AgentStream, AgentStreamEvent } from './agent/agent-stream.ts';
export { createAgent } from './agent/create-agent.ts';
export { type Later, later, laterWithin, type ToolRunOptions } from './agent/calls/execute-call.ts';
export type { MayAnswer } from './agent/input/run-input.ts';
export type { Question } from './agent/calls/question-call.ts';
export {
  type ApprovalRequest,
  type ApprovalRequestContent,
  type ApprovalResponseContent,
  approve,
  type ApproveOptions,
  reject,
  type RejectOptions,
} from './content/approval.ts';
export type { ApprovalTerms, ExpiryAction, Remember, Risk } from './content/approval-terms.ts';
export type { Grant } from './content/grant.ts';
export { groupRequests, type RequestGroup } from './content/group-requests.ts';
export { hidePrincipals } from './content/hide-principals.ts';
export { inertLine, inertText } from './content/inert-text.ts';
export { lookAlikeWarnings } from './content/look-alikes.ts';
export {
  type QuestionAnswer,
  type QuestionField,
  type QuestionOption,
  type QuestionRequestContent,
  type QuestionResponseContent,
} from './content/question.ts';
export type { RequestDecision } from './content/request-decision.ts';
export { type ToolCall, type ToolCallOutcome, type ToolCallRecord } from './content/tool-call.ts';
export type { SettingFailure } from './content/setting-failure.ts';
export type { UserInputRequestContent, UserInputResponseContent } from './content/user-input.ts';
export { HoldpointError, type HoldpointErrorCode } from './errors.ts';
export type { Authorize } from './http/authorize.ts';
export { createPostHandler, type PostHandlerOptions } from './http/create-post-handler.ts';
export type { UserApproval } from './policy/approval-rule.ts';
export type { ToolApproval, ToolApprovalStatus } from './policy/tool-approval.ts';
export { memoryStore } from './stores/memory.ts';
export type { AgentThread } from './thread/agent-thread.ts';
export {
  type ThreadEvent,
  type ThreadEventOf,
  type ThreadEventType,
} from './thread/thread-event.ts';
export type { Source } from './thread/step-metadata.ts';
export type {
  GrantChange,
  ThreadStoreGrants,
  LogEnd,
  LogEntry,
  StoredGrant,
  ThreadClaim,
  ThreadFilter,
  ThreadNotice,
  ThreadQuery,
  ThreadStatus,
  ThreadStore,
  ThreadSummary,
} from './thread/thread-store.ts';
export type { TraceMessage } from './thread/tracing/trace-message.ts';
