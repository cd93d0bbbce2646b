export { createGate, type Gate, type ServeStdioOptions } from './mcp/create-gate.ts';
export type { AuthorizeCaller, GateCaller, GateOptions, WaitingCall } from './mcp/gate-options.ts';
export type { GateProblem } from './mcp/gate-problem.ts';
export type {
  HttpUpstream,
  StdioUpstream,
  TransportUpstream,
  UpstreamOptions,
} from './mcp/upstream-options.ts';
