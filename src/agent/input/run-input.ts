import type { ModelMessage } from 'ai';
import type { AskedAnswer, UserInputResponseContent } from '../../content/user-input.ts';

/** The input of a run: text, messages, answers, or several of these. `[]` resumes the thread. */
export type RunInput = InputItem | readonly InputItem[];

/** One item of a run's input. */
export type InputItem = string | ModelMessage | AnswerMessage | UserInputResponseContent;

/** A user message that contains answers: the same as the answers alone. */
interface AnswerMessage {
  role: 'user';
  content: readonly UserInputResponseContent[];
}

/** Who sends a message or an answer, and through which channel. */
export interface AnswerOptions {
  /**
   * The sender, as authenticated by the app: any JSON. It is recorded with each message and answer. Requests that a message leads to show
   * it to the people who are asked (`requestedBy`, `requesters`), so leave out what they may not see.
   */
  principal?: unknown;
  /** The channel, in the app's words (`'slack'`, `'web'`), 1 to 100 characters. It is recorded too. */
  channel?: string;
}

/**
 * Decides whether somebody may answer a request; only `true` allows it. Everybody with access to a thread can send messages to it; this
 * decides whose answers count.
 *
 * @example
 * mayAnswer: ({ principal, request }) => isOwner(principal) || request.type === 'question-request'
 */
export type MayAnswer = (asked: AskedAnswer) => boolean | PromiseLike<boolean>;
