/*
 * The part of `calls/` that the rest of the package may use: tools, channels, the middleware, the backtest. Nothing in `agent` imports
 * this. See ADR 28.
 */
export {
  type AnswerReceiver,
  type AnswerToTool,
  type CallFailure,
  type DroppedCall,
  receiveAnswers,
  type SendOptions,
} from './calls/answer-receiver.ts';
export { checkRules, checkTools } from './calls/check-rules.ts';
export { callTexts } from './calls/call-text.ts';
export { closeEvents } from './calls/close-requests.ts';
export {
  type CallVerdict,
  decideCalls,
  type DecisionInput,
  makeDecisionInput,
} from './calls/decide-calls.ts';
export {
  type CheckedAnswers,
  type Commit,
  type DelegatedCall,
  makeDelegatedCall,
  type DelegatedWork,
  delegating,
  type Delegation,
  findDelegation,
  type PassedOn,
  type Reassignment,
  readShownRequests,
  type ShownRequests,
  type Undoing,
  type UnstartedApproval,
  type Withdrawal,
  type Execution,
  type Reporting,
} from './calls/delegation.ts';
export { MadeInputs } from './calls/made-input.ts';
export {
  makeFailedExecution,
  readLastOutput,
  makeOutcome,
  type PreliminaryResult,
  type ToolRunOptions,
  type Later,
  later,
  laterWithin,
  UnknownOutcomeError,
} from './calls/execute-call.ts';
export { asking, type Question, type QuestionResult } from './calls/question-call.ts';
export { defineToolsOnce, type ToolDefinitions } from './calls/tool-definitions.ts';
