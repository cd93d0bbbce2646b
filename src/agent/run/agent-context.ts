import type { ToolSet } from 'ai';
import type { ToolCallOutcome, ToolCallRecord } from '../../content/tool-call.ts';
import type { ModelName } from '../../thread/tracing/trace-message.ts';
import type { ToolDefinitions } from '../calls/tool-definitions.ts';
import type { MayAnswer } from '../input/run-input.ts';
import type { StepSettings, StepSource } from '../model/model-step.ts';
import type { AgentEvents } from './agent-events.ts';
import type { RetryOptions } from './retry-time.ts';
import type { StepEndEvent, StopCondition } from './run-settings.ts';
import type { TimeLimits } from './run-signal.ts';
import type { ToolRecoveries } from './tool-recovery.ts';

/** An outcome that the store did not accept. */
export interface UnrecordedOutcome {
  threadId: string;
  call: ToolCallRecord;
  outcome: ToolCallOutcome;
  /** Why the store did not accept it. */
  error: unknown;
}

/** An agent's options, checked, with their defaults. */
export interface AgentContext {
  /** The agent's name, which its threads are kept under. */
  name: string | undefined;
  /** The model that makes its steps, for tracing. */
  modelName: ModelName;
  makeStep: StepSource;
  /** What the model steps of one run have instead of the agent's own settings. */
  ownSteps?: StepSettings | undefined;
  allowSystemInMessages: boolean | undefined;
  tools: ToolSet;
  toolsContext: Readonly<Record<string, unknown>>;
  /** Prepares the tools: once, and again after a failure. */
  definedTools: () => Promise<ToolDefinitions>;
  /** Rules are called as given, whatever tools they are typed for. */
  toolApproval: unknown;
  toolRecovery: ToolRecoveries;
  mayAnswer: MayAnswer | undefined;
  onUnrecorded: ((unrecorded: UnrecordedOutcome) => unknown) | undefined;
  limits: TimeLimits;
  retry: Required<RetryOptions>;
  maxSteps: number;
  stopWhen: StopCondition | readonly StopCondition[] | undefined;
  /** How many calls may run at once. */
  toolCallConcurrency: number;
  onStepEnd: ((step: StepEndEvent) => unknown) | undefined;
  leaseMs: number;
  abortGraceMs: number;
  now: () => number;
  generateId: () => string;
  events: AgentEvents;
}
