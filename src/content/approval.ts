import { z } from 'zod';
import { plainCopy } from './plain-copy.ts';
import { type ToolCall, toolCallSchema } from './tool-call.ts';

/**
 * A request for a person's word, as it stands in the log and as it travels: plain JSON.
 */
export const approvalRequestSchema = z.strictObject({
  type: z.literal('approval-request'),
  /** Ours, 128 random bits or more; never the model's tool call id. */
  requestId: z.string().min(1),
  threadId: z.string().min(1),
  /** What is asked, for people. */
  text: z.string(),
  /** Why it is asked: the `reason` of the rule. */
  reason: z.string().optional(),
  /** The call that will run, exactly so. Absent when no call is asked about. */
  toolCall: toolCallSchema.optional(),
  /** Who asked for it: the principal of the message that the agent is at work on. Any JSON, as the app gave it. */
  requestedBy: z.unknown().optional(),
  /** SHA-256 over what is asked, base64url; recomputed before the call runs. */
  digest: z.string().min(1),
  /** Milliseconds since 1970. */
  createdAt: z.number(),
  /** Milliseconds since 1970; from then on it can't be approved. Absent: never. */
  expiresAt: z.number().optional(),
});

/** A request for a person's word, as plain JSON. */
export type ApprovalRequest = z.infer<typeof approvalRequestSchema>;

/**
 * A person's word. Only `approved: true` approves. `toolCall` and `digest` may repeat what was shown; they
 * must then equal what is stored, which alone is ever run.
 */
export const approvalResponseSchema = z.strictObject({
  type: z.literal('approval-response'),
  requestId: z.string().min(1),
  approved: z.boolean(),
  /** Said to the model when rejected. */
  reason: z.string().optional(),
  toolCall: toolCallSchema.optional(),
  digest: z.string().optional(),
});

/** A person's word on an approval request. */
export type ApprovalResponseContent = z.infer<typeof approvalResponseSchema>;

/**
 * An approval request as an agent returns it: the plain data, and the two answers to it.
 * `JSON.stringify` gives the plain data alone.
 */
export interface ApprovalRequestContent<CALL extends ToolCall = ToolCall> extends Omit<
  ApprovalRequest,
  'toolCall'
> {
  /** The call that will run, exactly so. Absent when no call is asked about. */
  toolCall?: CALL | undefined;
  /** The answer yes, for `agent.run` or `agent.respond`. */
  approve(options?: { reason?: string }): ApprovalResponseContent;
  /** The answer no; the model is told `reason`. */
  reject(reason?: string): ApprovalResponseContent;
}

/** What an answer needs of a request. */
interface Approvable {
  requestId: string;
  digest?: string;
  toolCall?: ToolCall | undefined;
}

/**
 * The answer yes to a request that came as plain data, from a queue or a page.
 * It carries the digest of what was shown, so that an answer to anything else is refused.
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

/** The answer no; the model is told `reason`. */
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

/** A copy of the request with its two answers as methods, which `JSON.stringify` and spreading leave out. */
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
