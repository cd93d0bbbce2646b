export { createCustomAgent, type CustomAgentOptions } from './agent/custom/create-custom-agent.ts';
export type {
  CustomRequest,
  CustomStep,
  CustomStepInput,
  NewToolCall,
} from './agent/custom/custom-step.ts';
export {
  answersOf,
  choice,
  type ChoiceSettings,
  confirmation,
  type QuestionSettings,
  type QuestionToAsk,
  textQuestion,
} from './agent/custom/questions.ts';
