export { holdPoint, type HoldPointOptions } from './hold-point.ts';
export { inertTools } from './inert-tools.ts';
