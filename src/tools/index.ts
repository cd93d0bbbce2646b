import type { Tool } from 'ai';
import { askUserQuestion } from './ask-user-question.ts';
import { askQuestion } from './interaction-tools.ts';
import { userChoice } from './user-choice.ts';

export {
  type AskUserQuestionRequest,
  askUserQuestion,
  fromUserQuestionResponse,
  toAskUserQuestionRequest,
  toUserQuestionAnswers,
} from './ask-user-question.ts';
export {
  fromInteractionResponse,
  type InteractionOption,
  type InteractionRequest,
  type InteractionResponse,
  interactionIdOf,
  toInteractionRequest,
  toInteractionResponse,
} from './interaction.ts';
export {
  askConfirmation,
  askQuestion,
  type InteractionOptions,
  interactionTools,
} from './interaction-tools.ts';
export { questionTool, type QuestionToolOptions } from './question-tool.ts';
export { choiceText, type UserChoice, userChoice, type UserChoiceOptions } from './user-choice.ts';

/**
 * The question tools for an agent whose calls ask by themselves, each under its usual name. `ask_confirmation` is not among them: it
 * makes the model ask before every change, and the person would say yes twice for one act. For an agent without approvals add
 * `ask_confirmation: askConfirmation()`.
 */
export function questionTools(): Record<'ask_question' | 'AskUserQuestion' | 'user_choice', Tool> {
  return {
    ask_question: askQuestion(),
    AskUserQuestion: askUserQuestion(),
    user_choice: userChoice(),
  };
}
