import type { Commit } from '../calls/delegation.ts';
import type { SettingFailure } from '../../content/check-settings.ts';
import type { ToolCallOutcome, ToolCallRecord } from '../../content/tool-call.ts';
import type { PrincipalId } from '../../policy/same-person.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import type { ThreadStoreGrants } from '../../thread/thread-store.ts';
import type { ThreadStoreRequests } from '../../thread/thread-store-requests.ts';
import type { readModelName } from '../model/streaming-model.ts';
import type { MayStand } from '../calls/find-grant.ts';
import type { ToolDefinitions } from '../calls/tool-definitions.ts';
import type { MayAnswer } from '../input/parse-input.ts';
import type { StepSettings, StepSource } from '../model/model-step.ts';
import type { OutputParser } from '../model/parsed-output.ts';
import type { AgentEmitter } from './agent-events.ts';
import type { RetryOptions } from './retry-time.ts';
import type { StepEndEvent, StopCondition } from './run-options.ts';
import type { TimeLimits } from './time-limits.ts';
import type { ToolRecoveries } from './tool-recovery.ts';
import type { ToolSet } from 'ai';

/** An outcome that the store did not accept. */
export interface UnrecordedOutcome {
  /** The thread of the call. */
  threadId: string;
  /** The call, as it was when it started. */
  call: ToolCallRecord;
  /** What came of it. */
  outcome: ToolCallOutcome;
  /** The error of the store. */
  error: unknown;
}

/** Makes an agent's steps: with a language model, or a function of the app. */
export interface StepMaking {
  /** The name of the model; `undefined` for a custom agent. */
  modelName: ReturnType<typeof readModelName> | undefined;
  makeStep: StepSource;
  /** The settings of one run's model steps instead of the agent's own. */
  ownSteps?: StepSettings | undefined;
  /** The events to record before a step is made. */
  beforeStep?: ((state: Readonly<ThreadState>) => Promise<ThreadEvent[]>) | undefined;
  /** True if a language model makes the steps: its streamed text is recorded as the reply when a person stops it. */
  hasModel: boolean;
  allowSystemInMessages: boolean | undefined;
  /** Parses the model's replies. */
  output?: OutputParser | undefined;
}

/* A method, because the type of responses belongs to the room around this one. */
interface RunEndListener {
  onEnd(response: object): unknown;
}

/** An agent's options, checked, with their defaults. */
export interface AgentContext extends StepMaking {
  /** The agent's name, which its threads are kept under. */
  name: string | undefined;
  tools: ToolSet;
  /** True if any of the tools is an agent. */
  hasAgentTools: boolean;
  /** Commits input, and first cancels the sub-agents of the calls that it ends. */
  commitCancelled: Commit;
  toolsContext: Readonly<Record<string, unknown>>;
  /** Prepares the tools: once, and again after a failure. */
  definedTools: () => ToolDefinitions | Promise<ToolDefinitions>;
  /** The rules, called as given, without the types of their tools. */
  toolApproval: unknown;
  /** The reason why rules can't rely on `calls`; `undefined` where they see all calls of a conversation. */
  callsApart: string | undefined;
  toolRecovery: ToolRecoveries;
  mayAnswer: MayAnswer | undefined;
  /** Checks whether the answers behind a standing approval may still be given; absent if anybody may answer. */
  mayStand: MayStand | undefined;
  principalId: PrincipalId;
  /** The store's standing approvals; `undefined` if the store keeps none. */
  grants: ThreadStoreGrants | undefined;
  /** The store's rows of requests; `undefined` if the store keeps none. */
  requests: ThreadStoreRequests | undefined;
  onUnrecorded: ((unrecorded: UnrecordedOutcome) => unknown) | undefined;
  limits: TimeLimits;
  retry: Required<RetryOptions>;
  maxSteps: number;
  stopWhen: StopCondition | readonly StopCondition[] | undefined;
  /** The number of calls that may run at once. */
  toolCallConcurrency: number;
  onStepEnd: ((step: StepEndEvent) => unknown) | undefined;
  /** Receives the response of each run. */
  onEnd: RunEndListener['onEnd'] | undefined;
  onError: ((failed: { error: unknown; threadId: string }) => unknown) | undefined;
  leaseMs: number;
  abortGraceMs: number;
  now: () => number;
  generateId: () => string;
  events: AgentEmitter;
  /** Reports a fault of a setting. */
  report: (failure: SettingFailure) => void;
}
