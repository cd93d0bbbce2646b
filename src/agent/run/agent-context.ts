import type { ToolSet } from 'ai';
import type { ToolCallOutcome, ToolCallRecord } from '../../content/tool-call.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import type { ModelName } from '../../thread/tracing/trace-message.ts';
import type { ToolDefinitions } from '../calls/tool-definitions.ts';
import type { MayAnswer } from '../input/run-input.ts';
import type { StepSource } from '../model/model-step.ts';
import type { AgentEvents } from './agent-events.ts';
import type { RetryOptions } from './retry-time.ts';
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

/** How an agent's steps are made: by a language model, or by a function of the app. */
export interface StepMaking {
  /** The model, for tracing; `undefined` for a custom agent. */
  modelName: ModelName | undefined;
  makeStep: StepSource;
  /** The events to record before a step is made. */
  beforeStep?: (state: Readonly<ThreadState>, at: number) => ThreadEvent[];
  /** Whether the text that was streamed is recorded as the reply when a person stops the step. */
  keepsPartialText: boolean;
  allowSystemInMessages: boolean | undefined;
}

/** An agent's options, checked, with their defaults. */
export interface AgentContext extends StepMaking {
  /** The agent's name, which its threads are kept under. */
  name: string | undefined;
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
  leaseMs: number;
  abortGraceMs: number;
  now: () => number;
  generateId: () => string;
  events: AgentEvents;
}
