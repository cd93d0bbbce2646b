export { createCustomAgent, type CustomAgentOptions } from './agent/custom/create-custom-agent.ts';
export type {
  CustomRequest,
  CustomStep,
  CustomStepInput,
  NewToolCall,
} from './agent/custom/custom-step.ts';
