export {
  type Agent,
  type AgentOptions,
  type AnswerOptions,
  type InputItem,
  type MayAnswer,
  type RespondOptions,
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
  type ListedRequest,
  type RequestList,
  type RequestListQuery,
  type AgentEvent,
  type RunOptions,
  type ToolRecovery,
} from './agent.ts';
export {
  type ApprovalRequest,
  type ApprovalRequestContent,
  type ApprovalResponseContent,
  approve,
  type ApproveOptions,
  reject,
} from './content/approval.ts';
export type { Grant } from './content/grant.ts';
export { groupRequests, type RequestGroup } from './view/group-requests.ts';
export {
  hidePrincipals,
  type RequestDecision,
  type UserInputRequestContent,
  type UserInputResponseContent,
} from './content/user-input.ts';
export { inertLine, inertText } from './content/inert-text.ts';
export { lookAlikeWarnings } from './content/look-alikes.ts';
export type {
  AnswerableQuestion,
  QuestionAnswer,
  QuestionField,
  QuestionOption,
  QuestionRequestContent,
  QuestionResponseContent,
} from './content/question.ts';
export type { FieldSchema } from './json/field-schema.ts';
export type { AnswerRefusal } from './content/refusal-words.ts';
export type { RequestRights } from './content/request-rights.ts';
export type { ToolCall, ToolCallOutcome, ToolCallRecord } from './content/tool-call.ts';
export type { SettingFailure } from './content/check-settings.ts';
export { HoldpointError, type HoldpointErrorCode, type RefusedAnswer } from './errors.ts';
export type { Authorize } from './http/receive-request.ts';
export { createPostHandler } from './http/create-post-handler.ts';
export { mayAnswerByRole } from './policy/may-answer-by-role.ts';
export type { ToolApproval, ToolApprovalStatus } from './policy/tool-approval.ts';
export type { UserApproval } from './policy/user-approval.ts';
export { memoryStore } from './stores/memory.ts';
export type { AgentThread } from './thread/agent-thread.ts';
export type { ThreadEvent, ThreadEventOf } from './thread/thread-event.ts';
export type {
  FeedChange,
  RequestChange,
  RequestFilter,
  RequestKind,
  RequestPlace,
  RequestQuery,
  RequestState,
  StoredRequest,
  ThreadStoreRequests,
} from './thread/thread-store-requests.ts';
export type {
  AppendedBeside,
  ClaimNotice,
  GrantChange,
  LogEnd,
  LogEntry,
  StoredGrant,
  ThreadClaim,
  ThreadFilter,
  StoreNotice,
  ThreadNotice,
  ThreadQuery,
  ThreadStatus,
  ThreadStore,
  ThreadSummary,
} from './thread/thread-store.ts';
export type { TraceMessage } from './thread/tracing.ts';
