/* The part of `run/` that the rest of the package may use: channels, the middleware. Nothing in `agent` imports this. */
export type { AgentEvent } from './run/agent-events.ts';
export type { RunOptions } from './run/run-options.ts';
export { checkRecovery, type ToolRecovery } from './run/tool-recovery.ts';
