export { type GuardOptions, guardTools } from './guard-tools.ts';
export { holdPoint, type HoldPointOptions } from './hold-point.ts';
export { inertTools } from './inert-tools.ts';
export { answerMessage, approvalRequestsOf, userInputRequestsOf } from './requests-and-answers.ts';
