import { z } from 'zod';
import {
  type ApprovalRequest,
  type ApprovalRequestContent,
  type ApprovalResponseContent,
  approvalRequestSchema,
  approvalResponseSchema,
} from './approval.ts';
import {
  type AnswerableQuestion,
  type QuestionRequestContent,
  type QuestionResponseContent,
  questionRequestSchema,
  questionResponseSchema,
} from './question.ts';
import { hideHistory } from './request-history.ts';
import type { requestStates } from './request-state.ts';
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
export type UserInputRequest = ApprovalRequest | QuestionRequestContent;
/** An approval or question asked of a person, as an agent returns it. */
export type UserInputRequestContent<CALL extends ToolCall = ToolCall> =
  | ApprovalRequestContent<CALL>
  | AnswerableQuestion;
/** A person's answer to an approval request or a question. */
export type UserInputResponseContent = ApprovalResponseContent | QuestionResponseContent;

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

/** A person who ended a request without an answer. */
export interface ClosedBy {
  /** The person, as authenticated by the app. */
  principal?: unknown;
  /** The channel that they used. */
  channel?: string | undefined;
  /** The person, as text. */
  person?: string | undefined;
}

/** The decision of a request: see `status`. */
export interface RequestDecision {
  /**
   * `approved`, `rejected`: the answer to an approval request. `answered`, `dismissed`: the answer to a question. For the others
   * no answer counts: the request `expired`, was `cancelled`, or was `invalidated` because what it showed has changed.
   */
  status: Exclude<(typeof requestStates)[number], 'open' | 'settled'>;
  /** The request, as plain data. */
  request: UserInputRequest;
  /** The answer, if there is one: with the reason, or the answers to a question. */
  response?: UserInputResponseContent | undefined;
  /** The person who answered, as authenticated by the app. */
  principal?: unknown;
  /** The channel that the answer came through. */
  channel?: string | undefined;
  /** The person who cancelled the request, or an approval that had not been used, if one did and is known. */
  closedBy?: ClosedBy | undefined;
}

/**
 * Makes a request plain JSON for a browser: it names the people who voted, reassigned and edited as text (`person`, `from`), without their
 * `principal`, which may hold private data, such as a token, and omits the fields that only `mayAnswer` needs. Pages and AG-UI clients get
 * requests this way; do the same in routes of your own.
 *
 * @example
 * return Response.json(thread.activeRequests.map(hidePrincipals));
 */
export function hidePrincipals(request: UserInputRequest): UserInputRequest {
  if (request.type !== 'approval-request') return { ...request };
  const { inputNames: _names, ...shown } = request;
  return { ...shown, ...hideHistory(shown) };
}
