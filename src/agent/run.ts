/* What the rest of the package may use of `run/`: channels, the middleware. Nothing in `agent` imports this. */
export type { AgentEvent } from './run/agent-events.ts';
export type { RunOptions } from './run/run-options.ts';
export { checkRecovery, type ToolRecovery } from './run/tool-recovery.ts';
