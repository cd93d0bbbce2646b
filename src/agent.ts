/*
 * What the rest of the package may use of `agent/`: entries, channels, apps, the middleware, tools, workers, the backtest. Nothing in
 * `agent` imports this. See ADR 28.
 */
export {
  type AgentDoor,
  type InputSchemas,
  type KnownPeople,
  couldAnswer,
  findDoor,
  noteCaller,
} from './agent/agent-door.ts';
export type { AgentOptions, SharedAgentOptions } from './agent/agent-options.ts';
export type { AgentResponse } from './agent/agent-response.ts';
export type { AgentStream, AgentStreamEvent } from './agent/agent-stream.ts';
export type { Agent } from './agent/agent.ts';
export { makeAnsweringAgent } from './agent/answering-agent.ts';
export { type CallsApartOptions, callsApart } from './agent/calls-apart.ts';
export {
  type AnswerReceiver,
  type AnswerToTool,
  type CallFailure,
  type DroppedCall,
  type SendOptions,
  receiveAnswers,
} from './agent/calls/answer-receiver.ts';
export { callTexts } from './agent/calls/call-text.ts';
export { checkRules, checkTools } from './agent/calls/check-tools.ts';
export { closeEvents } from './agent/calls/close-requests.ts';
export {
  type CallVerdict,
  type DecisionInput,
  decideCalls,
  makeDecisionInput,
} from './agent/calls/decide-calls.ts';
export {
  type Cancellation,
  type CheckedAnswers,
  type Commit,
  type DelegatedCall,
  type DelegatedWork,
  type Delegation,
  type Execution,
  type PassedOn,
  type PassedChange,
  type Reporting,
  type ShownRequests,
  type UnstartedApproval,
  delegating,
  findDelegation,
  makeDelegatedCall,
  readShownRequests,
} from './agent/calls/delegation.ts';
export type { DeliveredOutcome, SettledOutcome } from './agent/calls/delivered-outcome.ts';
export {
  type Later,
  type PreliminaryResult,
  type ToolRunOptions,
  UnknownOutcomeError,
  later,
  laterWithin,
  makeFailedExecution,
  makeOutcome,
  readLastOutput,
} from './agent/calls/execute-call.ts';
export { MadeInputs } from './agent/calls/made-input.ts';
export { type Question, type QuestionResult, asking } from './agent/calls/question-call.ts';
export { type ToolDefinitions, defineToolsOnce } from './agent/calls/tool-definitions.ts';
export { changingTools } from './agent/changing-tools.ts';
export type { ChildThread } from './agent/child-agent.ts';
export { createAgent } from './agent/create-agent.ts';
export { type PollingOptions, checkPolling, followThread } from './agent/follow-thread.ts';
export { readInputSchemas } from './agent/input-schemas.ts';
export { type ImportedHistory, makeImportError } from './agent/input/import-history.ts';
export type { AnswerOptions, InputItem, MayAnswer, RunInput } from './agent/input/parse-input.ts';
export { refuseUnknownRecovery } from './agent/known-settings.ts';
export { type SeenRequest, pickPlace } from './agent/list-requests.ts';
export { carriesApproval } from './agent/model/provider-requests.ts';
export {
  CollectedResponse,
  type ModelDelta,
  type ProviderPart,
  type ProviderResponse,
  type ProviderStream,
} from './agent/model/streaming-model.ts';
export { findNamedTools, nameTools } from './agent/named-tools.ts';
export { type ResumedThread, resumeThread, runRecorded, soonestMs } from './agent/resume-thread.ts';
export type { RunOptions } from './agent/run/run-options.ts';
export { type ToolRecovery, checkRecovery } from './agent/run/tool-recovery.ts';
export { digestViewer, isSignedIn } from './agent/viewer.ts';
export { subscribeIfPossible, watchThread } from './agent/watch-thread.ts';
