export {
  answersOf,
  choice,
  confirmation,
  createCustomAgent,
  textQuestion,
} from './custom/create-custom-agent.ts';
export type { CustomStep, QuestionToAsk } from './custom/custom-step.ts';
export type { CustomStepInput } from './custom/take-custom-step.ts';
