import type { AgentEvents } from './agent-events.ts';
import type { AgentOptions, RetryOptions, ToolRecovery } from '../agent-options.ts';
import type { ModelSettings } from '../model/model-step.ts';
import type { TimeLimits } from './time-limits.ts';

/** An agent's options, with their defaults. */
export interface AgentContext {
  /** Rules are called as they are given, whatever tools they are typed for. */
  options: Omit<AgentOptions, 'toolApproval' | 'toolsContext' | 'toolRecovery'> & {
    toolApproval?: unknown;
    toolsContext?: Readonly<Record<string, unknown>> | undefined;
    toolRecovery?: Readonly<Record<string, ToolRecovery | undefined>> | undefined;
  };
  /** The agent's own name, which its threads are kept under. */
  name: string | undefined;
  settings: ModelSettings;
  limits: TimeLimits;
  retry: Required<RetryOptions>;
  maxSteps: number;
  leaseMs: number;
  abortGraceMs: number;
  now: () => number;
  generateId: () => string;
  events: AgentEvents;
}
