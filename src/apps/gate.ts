export { createGate, type Gate } from './gate/create-gate.ts';
export type { AuthorizeCaller, GateCaller, GateOptions, WaitingCall } from './gate/gate-options.ts';
export type { GateProblem } from './gate/gate-problem.ts';
export type { UpstreamOptions } from './gate/upstream-options.ts';
