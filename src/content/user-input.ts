import { z } from 'zod';
import {
  type ApprovalRequestContent,
  approvalRequestSchema,
  approvalResponseSchema,
} from './approval.ts';
import {
  type QuestionRequestContent,
  questionRequestSchema,
  questionResponseSchema,
} from './question.ts';
import type { ToolCall } from './tool-call.ts';

/** Any request to a person. */
export const userInputRequestSchema = z.discriminatedUnion('type', [
  approvalRequestSchema,
  questionRequestSchema,
]);

/** Any answer of a person. */
export const userInputResponseSchema = z.discriminatedUnion('type', [
  approvalResponseSchema,
  questionResponseSchema,
]);

/** An approval or question asked of a person, as plain JSON. */
export type UserInputRequest = z.infer<typeof userInputRequestSchema>;
/** An approval or question asked of a person, as an agent returns it. */
export type UserInputRequestContent<CALL extends ToolCall = ToolCall> =
  | ApprovalRequestContent<CALL>
  | QuestionRequestContent;
/** A person's answer to an approval request or a question. */
export type UserInputResponseContent = z.infer<typeof userInputResponseSchema>;

/** An answer that is to be checked, and its request. */
export interface AskedAnswer {
  /** The sender of the answer, as authenticated by the app. */
  principal: unknown;
  /** The channel it came through. */
  channel: string | undefined;
  /** The request, as stored in the log. */
  request: UserInputRequestContent;
  /** The answer. */
  response: UserInputResponseContent;
}
