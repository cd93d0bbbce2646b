export { createCustomAgent, type CustomAgentOptions } from './custom/create-custom-agent.ts';
export type { CustomRequest, CustomStep, QuestionToAsk } from './custom/custom-step.ts';
export { answersOf, choice, confirmation, textQuestion } from './custom/create-custom-agent.ts';
export type { CustomStepInput } from './custom/take-custom-step.ts';
