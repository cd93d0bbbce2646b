export {
  type Agent,
  type AgentOptions,
  type AnswerOptions,
  type InputItem,
  type MayAnswer,
  type RunInput,
  type SettledOutcome,
  type AgentResponse,
  type AgentStream,
  type AgentStreamEvent,
  createAgent,
  type Later,
  later,
  laterWithin,
  UnknownOutcomeError,
  type Question,
  type ToolRunOptions,
  type RunOptions,
} from './agent.ts';
export {
  type ApprovalRequest,
  type ApprovalRequestContent,
  type ApprovalResponseContent,
  approve,
  reject,
} from './content/approval.ts';
export type { Grant } from './content/grant.ts';
export { groupRequests } from './view/group-requests.ts';
export {
  hidePrincipals,
  type UserInputRequestContent,
  type UserInputResponseContent,
} from './content/user-input.ts';
export { inertLine, inertText } from './content/inert-text.ts';
export { lookAlikeWarnings } from './content/look-alikes.ts';
export type {
  AnswerableQuestion,
  QuestionRequestContent,
  QuestionResponseContent,
} from './content/question.ts';
export type { FieldSchema } from './json/field-schema.ts';
export type { PlainToolCall, ToolCall, ToolCallRecord } from './content/tool-call.ts';
export type { SettingFailure } from './content/check-settings.ts';
export { HoldpointError, type HoldpointErrorCode } from './errors.ts';
export type { Authorize } from './http/receive-request.ts';
export { createPostHandler } from './http/create-post-handler.ts';
export { mayAnswerByRole } from './policy/may-answer-by-role.ts';
export type { ToolApproval, ToolApprovalStatus } from './policy/tool-approval.ts';
export type { UserApproval } from './policy/user-approval.ts';
export { memoryStore } from './stores/memory.ts';
export type { AgentThread } from './thread/agent-thread.ts';
export type { ThreadEvent } from './thread/thread-event.ts';
export type {
  RequestPlace,
  StoredRequest,
  ThreadStoreRequests,
} from './thread/thread-store-requests.ts';
export type {
  LogEntry,
  StoreNotice,
  ThreadStatus,
  ThreadStore,
  ThreadSummary,
} from './thread/thread-store.ts';
export type { TraceMessage } from './thread/tracing.ts';
