export { createGate, type Gate } from './gate/create-gate.ts';
export type { GateOptions } from './gate/gate-options.ts';
