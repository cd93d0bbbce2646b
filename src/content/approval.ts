import { z } from 'zod';
import { plainCopy } from './plain-copy.ts';
import { requestPathSchema, type ToolCall, toolCallSchema } from './tool-call.ts';

/** A request for a person's approval, as plain JSON: the form in which it is logged and sent. */
export const approvalRequestSchema = z.strictObject({
  type: z.literal('approval-request'),
  /** Made by holdpoint from at least 128 random bits; never the model's tool call id. */
  requestId: z.string().min(1),
  threadId: z.string().min(1),
  /** The app's key of the request, if it gave one. */
  key: z.string().optional(),
  /** The question, for people. */
  text: z.string(),
  /** Why approval is needed: the `reason` of the rule. */
  reason: z.string().optional(),
  /** The call that will run, with exactly this input. Absent if the request is not about a call. */
  toolCall: toolCallSchema.optional(),
  /**
   * Set for the request of a sub-agent: the delegated calls that lead to it, outermost first. `toolCall` is then the sub-agent's own
   * call.
   */
  path: requestPathSchema.optional(),
  /** Who the agent is working for: the `principal` of the latest message. Any JSON, as the app passed it. */
  requestedBy: z.unknown().optional(),
  /** SHA-256 of everything that the request shows, as base64url. It is checked again before the call runs. */
  digest: z.string().min(1),
  /** When the request was made, in milliseconds since 1970. */
  createdAt: z.number(),
  /** When the request expires, in milliseconds since 1970. Absent: never. */
  expiresAt: z.number().optional(),
});

/** A request for a person's approval, as plain JSON. */
export type ApprovalRequest = z.infer<typeof approvalRequestSchema>;

/**
 * A person's answer to an approval request. `toolCall` and `digest` may repeat what the person was shown; if they differ from the
 * stored request, the answer is refused. The call that runs is always the stored one.
 */
export const approvalResponseSchema = z.strictObject({
  type: z.literal('approval-response'),
  requestId: z.string().min(1),
  approved: z.boolean(),
  /** Why. If the call was rejected, the model receives it. */
  reason: z.string().optional(),
  toolCall: toolCallSchema.optional(),
  digest: z.string().optional(),
});

/** A person's answer to an approval request. */
export type ApprovalResponseContent = z.infer<typeof approvalResponseSchema>;

/**
 * An approval request as an agent returns it: the plain data, and methods that make its two answers. `JSON.stringify` writes the plain
 * data alone.
 */
export interface ApprovalRequestContent<CALL extends ToolCall = ToolCall> extends Omit<
  ApprovalRequest,
  'toolCall'
> {
  /** The call that will run, with exactly this input. Absent if the request is not about a call. */
  toolCall?: CALL | undefined;
  /** Makes the answer that approves, for `agent.run` or `agent.respond`. */
  approve(options?: { reason?: string }): ApprovalResponseContent;
  /** Makes the answer that rejects, for `agent.run` or `agent.respond`. The model receives `reason`. */
  reject(reason?: string): ApprovalResponseContent;
}

/** The parts of a request that an answer repeats. */
interface Approvable {
  requestId: string;
  digest?: string;
  toolCall?: ToolCall | undefined;
}

/**
 * Makes the answer that approves a request, for requests that arrived as plain data from a queue or a page. It repeats the digest, so
 * that it is refused if the stored request differs from the one that was shown.
 *
 * @example
 * await agent.run(approve(request), thread);
 */
export function approve(
  request: Approvable,
  options: { reason?: string } = {},
): ApprovalResponseContent {
  return answer(request, true, options.reason);
}

/** Makes the answer that rejects a request, for requests that arrived as plain data. The model receives `reason`. */
export function reject(request: Approvable, reason?: string): ApprovalResponseContent {
  return answer(request, false, reason);
}

function answer(
  request: Approvable,
  approved: boolean,
  reason: string | undefined,
): ApprovalResponseContent {
  return {
    type: 'approval-response',
    requestId: request.requestId,
    approved,
    ...(reason === undefined ? {} : { reason }),
    ...(request.toolCall === undefined ? {} : { toolCall: request.toolCall }),
    ...(request.digest === undefined ? {} : { digest: request.digest }),
  };
}

/** Copies a request and gives it its two methods, which `JSON.stringify` and spreading leave out. */
export function withAnswers<CALL extends ToolCall = ToolCall>(
  request: ApprovalRequest,
): ApprovalRequestContent<CALL>;
export function withAnswers(request: ApprovalRequest): ApprovalRequestContent {
  const { toolCall } = request;
  const copy = toolCall && { toolCall: { ...toolCall, input: plainCopy(toolCall.input) } };
  return Object.assign(new Answers(), request, copy);
}

class Answers {
  approve(this: ApprovalRequest, options?: { reason?: string }): ApprovalResponseContent {
    return approve(this, options);
  }

  reject(this: ApprovalRequest, reason?: string): ApprovalResponseContent {
    return reject(this, reason);
  }
}
