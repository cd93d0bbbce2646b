import type { AgentEvents } from './agent-events.ts';
import type { AgentOptions, ToolRecovery } from './agent-options.ts';
import type { ModelSettings } from './model-step.ts';

/** An agent's options, with their defaults. */
export interface AgentContext {
  /** Rules are called as they are given, whatever tools they are typed for. */
  options: Omit<AgentOptions, 'toolApproval' | 'toolsContext' | 'toolRecovery'> & {
    toolApproval?: unknown;
    toolsContext?: Readonly<Record<string, unknown>> | undefined;
    toolRecovery?: Readonly<Record<string, ToolRecovery | undefined>> | undefined;
  };
  settings: ModelSettings;
  maxSteps: number;
  leaseMs: number;
  abortGraceMs: number;
  now: () => number;
  generateId: () => string;
  events: AgentEvents;
  /** The lost attempts of calls that tracing has told of. */
  toldLost: Set<string>;
}
