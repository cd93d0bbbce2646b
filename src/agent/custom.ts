export { createCustomAgent, type CustomAgentOptions } from './custom/create-custom-agent.ts';
export type {
  CustomRequest,
  CustomStep,
  CustomStepInput,
  NewToolCall,
} from './custom/custom-step.ts';
export {
  answersOf,
  choice,
  type ChoiceSettings,
  confirmation,
  type QuestionSettings,
  type QuestionToAsk,
  textQuestion,
} from './custom/questions.ts';
