import type { Tool } from 'ai';
import { askUserQuestion } from './ask-user-question.ts';
import { interactionTools } from './interaction-tools.ts';
import { userChoice } from './user-choice.ts';

export {
  type AskUserQuestionRequest,
  askUserQuestion,
  fromUserQuestionResponse,
  toAskUserQuestionRequest,
  toUserQuestionAnswers,
  type UserQuestion,
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
export {
  type Question,
  type QuestionResult,
  questionTool,
  type QuestionToolOptions,
} from './question-tool.ts';
export { choiceText, type UserChoice, userChoice, type UserChoiceOptions } from './user-choice.ts';

/** Every question tool, under the name its seed gives it. */
export function questionTools(): Record<
  'ask_confirmation' | 'ask_question' | 'AskUserQuestion' | 'user_choice',
  Tool
> {
  return {
    ...interactionTools(),
    AskUserQuestion: askUserQuestion(),
    user_choice: userChoice(),
  };
}
