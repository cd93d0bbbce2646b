export { type GuardOptions, guardTools } from './guard-tools.ts';
export { holdPoint, type HoldPointOptions } from './hold-point.ts';
export { inertTools } from './inert-tools.ts';
export { listOpenRequests, type OpenRequestsOptions } from './list-open-requests.ts';
export {
  answerMessage,
  approvalRequestsOf,
  resumeMessage,
  userInputRequestsOf,
} from './requests-and-answers.ts';
