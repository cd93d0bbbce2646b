import type { ModelMessage } from 'ai';
import type {
  UserInputRequestContent,
  UserInputResponseContent,
} from '../../content/user-input.ts';

/** What a run may be given: text, messages, answers, or several of these. `[]` resumes the thread where it stands. */
export type RunInput = InputItem | readonly InputItem[];

/** One item of a run's input. */
export type InputItem = string | ModelMessage | AnswerMessage | UserInputResponseContent;

/** A user message that carries answers: the same as the answers alone. */
export interface AnswerMessage {
  role: 'user';
  content: readonly UserInputResponseContent[];
}

/** Who sends a message or an answer, and through what. */
export interface AnswerOptions {
  /**
   * Who sends it, as the app authenticated them: any JSON. It is kept in the log with each message and each answer; and the requests that
   * a message leads to show it to the people who are asked (`requestedBy`), so leave out what they may not see.
   */
  principal?: unknown;
  /** Through what it came, in the app's words (`'slack'`, `'web'`): 1 to 100 characters; kept in the log likewise. */
  channel?: string;
}

/**
 * Says whether somebody may answer a request: only `true` is yes. Whoever may use a thread can send messages to it; this decides whose
 * word counts.
 *
 * @example
 * mayAnswer: ({ principal, request }) => isOwner(principal) || request.type === 'question-request'
 */
export type MayAnswer = (asked: {
  /** As given with the answer: who sends it, as the app authenticated them. */
  principal: unknown;
  /** Through what it came. */
  channel: string | undefined;
  /** What is asked, as the log has it. */
  request: UserInputRequestContent;
  /** What they answer. */
  response: UserInputResponseContent;
}) => boolean | PromiseLike<boolean>;
