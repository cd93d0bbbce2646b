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

/** Everything a person can be asked. */
export const userInputRequestSchema = z.discriminatedUnion('type', [
  approvalRequestSchema,
  questionRequestSchema,
]);

/** Everything a person can answer. */
export const userInputResponseSchema = z.discriminatedUnion('type', [
  approvalResponseSchema,
  questionResponseSchema,
]);

/** A request as plain JSON. */
export type UserInputRequest = z.infer<typeof userInputRequestSchema>;
/** A request as an agent returns it. */
export type UserInputRequestContent<CALL extends ToolCall = ToolCall> =
  | ApprovalRequestContent<CALL>
  | QuestionRequestContent;
/** An answer. */
export type UserInputResponseContent = z.infer<typeof userInputResponseSchema>;
