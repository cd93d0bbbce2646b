export { guardTools } from './guard-tools.ts';
export { heldCall } from './held-call.ts';
export { holdPoint } from './hold-point.ts';
export { inertTools } from './inert-tools.ts';
export { plainMessages } from './plain-messages.ts';
export { listOpenRequests } from './list-open-requests.ts';
export {
  answerMessage,
  approvalRequestsOf,
  resumeMessage,
  userInputRequestsOf,
} from './requests-and-answers.ts';
