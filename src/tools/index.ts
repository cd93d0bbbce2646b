import type { Tool } from 'ai';
import { askUserQuestion } from './ask-user-question.ts';
import { askQuestion } from './interaction-tools.ts';
import { userChoice } from './user-choice.ts';

export { receiveAnswers } from '../agent.ts';
export { agentTool } from './agent-tool.ts';
export { answerElicitations } from './answer-elicitations.ts';
export {
  askUserQuestion,
  fromUserQuestionResponse,
  toAskUserQuestionRequest,
  toUserQuestionAnswers,
} from './ask-user-question.ts';
export {
  fromInteractionResponse,
  type InteractionRequest,
  type InteractionResponse,
  interactionIdOf,
  toInteractionRequest,
  toInteractionResponse,
} from './interaction.ts';
export { askConfirmation, askQuestion, interactionTools } from './interaction-tools.ts';
export { mcpToolApproval } from './mcp-tool-approval.ts';
export { questionTool } from './question-tool.ts';
export { type UserChoice, userChoice } from './user-choice.ts';

/**
 * The question tools under their usual names, for an agent that uses approvals. `ask_confirmation` is not included: it makes the model
 * ask before every change, so that people would have to confirm each change twice. For an agent without approvals, add
 * `ask_confirmation: askConfirmation()`.
 */
export function questionTools(): Record<'ask_question' | 'AskUserQuestion' | 'user_choice', Tool> {
  return {
    ask_question: askQuestion(),
    AskUserQuestion: askUserQuestion(),
    user_choice: userChoice(),
  };
}
