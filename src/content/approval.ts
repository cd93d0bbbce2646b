import { isDraft, isModified, produce } from 'immer';
import { z } from 'zod';
import {
  type ApprovalTerms,
  approvalTermsSchema,
  type Remember,
  rememberSchema,
} from './approval-terms.ts';
import { type DeadlineAction, deadlineActionSchema } from './deadline-action.ts';
import { copyPlain } from '../json/json-value.ts';
import { historySchemas, omitHistory, type RequestHistory } from './request-history.ts';
import { requestedFields } from './requesters.ts';
import {
  type PlainToolCall,
  type RequestPath,
  requestPathSchema,
  type ToolCall,
  toolCallSchema,
} from './tool-call.ts';

/** A request for a person's approval, as plain JSON: the form in which it is logged and sent. See ADR 1. */
export interface ApprovalRequest extends ApprovalTerms, RequestHistory {
  /** Distinguishes an approval from a question. */
  type: 'approval-request';
  /** Made by holdpoint from at least 128 random bits; never the model's tool call id. */
  requestId: string;
  /** The thread that waits for the answer. */
  threadId: string;
  /** The app's key of the request, if it gave one. */
  key?: string | undefined;
  /** The question, for people. Of an edited call, the question about the edited input. */
  text: string;
  /** The reason why approval is needed: the `reason` of the rule. */
  reason?: string | undefined;
  /** The call that will run, with exactly this input. Absent if the request is not about a call. */
  toolCall?: PlainToolCall | undefined;
  /**
   * The JSON Schema of the tool's input, in a request that may be edited: a process that does not have the tool checks edits with it.
   * Absent if it is longer than 256 Ki characters.
   */
  inputSchema?: unknown;
  /**
   * The fields that the tool's input schema lists, as a JSON Schema of nothing else: all that `mayAnswer` may read of the input. Absent if
   * the schema lists none, `null` if they are longer than 32 Ki characters. Not covered by the digest.
   */
  inputNames?: unknown;
  /**
   * Set for the request of a sub-agent: the delegated calls that lead to it, outermost first. `toolCall` is then the sub-agent's own
   * call.
   */
  path?: RequestPath | undefined;
  /** The `principal` of the latest message. */
  requestedBy?: unknown;
  /**
   * Everybody whose unanswered message led to the request, in order, each once. `null` stands for an unknown person: a message without a
   * principal, or from an imported conversation. Absent if nobody is known.
   */
  requesters?: unknown[] | undefined;
  /** SHA-256 of everything that the request shows, as base64url. It is checked again before the call runs. */
  digest: string;
  /** The time when the request was made, in milliseconds since 1970. */
  createdAt: number;
  /** The time when the request expires, in milliseconds since 1970. Absent: never. */
  expiresAt?: number | undefined;
  /** The action at that time. Absent: the call is denied. */
  onExpiry?: DeadlineAction | undefined;
  /** The time when `request-reminded` is recorded if the request is still open, in milliseconds since 1970. */
  remindAt?: number | undefined;
  /** The id of the expired request that this one follows. */
  follows?: string | undefined;
}

/** The schema of `ApprovalRequest`. */
export const approvalRequestSchema = approvalTermsSchema.extend({
  type: z.literal('approval-request'),
  requestId: z.string().min(1),
  threadId: z.string().min(1),
  key: z.string().optional(),
  text: z.string(),
  reason: z.string().optional(),
  toolCall: toolCallSchema.optional(),
  inputSchema: z.unknown().optional(),
  inputNames: z.unknown().optional(),
  path: requestPathSchema.optional(),
  ...requestedFields,
  digest: z.string().min(1),
  createdAt: z.number(),
  expiresAt: z.number().optional(),
  onExpiry: deadlineActionSchema.optional(),
  remindAt: z.number().optional(),
  follows: z.string().optional(),
  ...historySchemas,
});

/**
 * A person's answer to an approval request. `toolCall` and `digest` may repeat what the person was shown; if they differ from the
 * stored request, the answer is refused. The call that runs is always the stored one.
 */
export interface ApprovalResponseContent {
  /** Distinguishes the answer to an approval from the answer to a question. */
  type: 'approval-response';
  /** The request that it answers. */
  requestId: string;
  /** Only `true` approves. */
  approved: boolean;
  /** The reason. If the call was rejected, the model receives it. */
  reason?: string | undefined;
  /** The call that the person was shown. */
  toolCall?: PlainToolCall | undefined;
  /** The digest of what the person was shown. */
  digest?: string | undefined;
  /** The input to run instead, if the request allows edits. */
  input?: unknown;
  /** Decides later calls too, within what the request allows. */
  remember?: Remember | undefined;
}

/** The schema of `ApprovalResponseContent`. */
export const approvalResponseSchema = z.strictObject({
  type: z.literal('approval-response'),
  requestId: z.string().min(1),
  approved: z.boolean(),
  reason: z.string().optional(),
  toolCall: toolCallSchema.optional(),
  digest: z.string().optional(),
  input: z.unknown().optional(),
  remember: rememberSchema.optional(),
});

/**
 * An approval request as an agent returns it: the plain data, and methods that make its two answers. `JSON.stringify` writes only the plain
 * data.
 */
export interface ApprovalRequestContent<CALL extends ToolCall = ToolCall> extends Omit<
  ApprovalRequest,
  'toolCall'
> {
  /** The call that will run, with exactly this input. Absent if the request is not about a call. */
  toolCall?: CALL | undefined;
  /**
   * Makes the answer that approves, for `agent.run` or `agent.respond`. Throws a `TypeError` for options that the request doesn't allow.
   */
  approve(options?: ApproveOptions<CALL['input']>): ApprovalResponseContent;
  /** Makes the answer that rejects, for `agent.run` or `agent.respond`. The model receives the reason. */
  reject(reason?: string | RejectOptions): ApprovalResponseContent;
}

/** The standing approval to ask for; `true` for the widest that the request allows. Omitted fields are taken from the request. */
type RememberOptions = true | Partial<Remember>;

/** Options of an approval. */
export interface ApproveOptions<INPUT = unknown> {
  /** The reason. It is recorded; some requests demand it. */
  reason?: string;
  /** The whole input to run instead of the shown one. The request's `editable` says which fields it may change, if any. */
  input?: INPUT;
  /**
   * Changes an immer draft of the input that is shown, or returns the new input; not both. It can't be async: it must be done when it
   * returns.
   */
  edit?(draft: INPUT): unknown;
  /** Decides later calls too. The request's `remember` says how widely it may. */
  remember?: RememberOptions;
}

/** Options of a rejection. */
export interface RejectOptions {
  /** The reason. The model receives it. */
  reason?: string;
  /** Decides later calls too. */
  remember?: RememberOptions;
}

/** The parts of a request that an answer repeats, or is made from. */
type Approvable = Pick<ApprovalRequest, 'requestId'> &
  Partial<Pick<ApprovalRequest, 'digest' | 'remember' | 'toolCall'>>;

/**
 * Makes the answer that approves a request, for requests that arrived as plain data from a queue or a page. It repeats the digest, so
 * that it is refused if the stored request differs from the one that was shown. Throws a `TypeError` for options that the request doesn't
 * allow.
 *
 * @example
 * await agent.run(approve(request), thread);
 */
export function approve(
  request: Approvable,
  { reason, remember, ...edited }: ApproveOptions = {},
): ApprovalResponseContent {
  const input = applyInputEdit(request, edited);
  return {
    ...answer(request, true, { reason, remember }),
    ...(input === undefined ? {} : { input }),
  };
}

/** Makes the answer that rejects a request, for requests that arrived as plain data. The model receives the reason. */
export function reject(
  request: Approvable,
  reason?: string | RejectOptions,
): ApprovalResponseContent {
  return answer(request, false, typeof reason === 'object' ? reason : { reason });
}

function answer(
  request: Approvable,
  approved: boolean,
  { reason, remember }: { reason?: string | undefined; remember?: RememberOptions | undefined },
): ApprovalResponseContent {
  return {
    type: 'approval-response',
    requestId: request.requestId,
    approved,
    ...(reason === undefined ? {} : { reason }),
    ...(request.toolCall === undefined ? {} : { toolCall: request.toolCall }),
    ...(request.digest === undefined ? {} : { digest: request.digest }),
    ...(remember === undefined ? {} : { remember: resolveRemember(request, remember) }),
  };
}

function resolveRemember(
  { requestId, remember: allowed }: Approvable,
  asked: RememberOptions,
): Remember {
  if (allowed === undefined) {
    throw new TypeError(`Request ${requestId} doesn't allow 'remember': its rule must allow it.`);
  }
  return { ...allowed, ...(asked === true ? {} : asked) };
}

const day = 24 * 60 * 60 * 1000;

/**
 * Reads the time in which a call may start after approval, in milliseconds: as its rule says, or as long as the request could be answered,
 * at least a day.
 */
export function readStartWithinMs({
  startWithinMs,
  createdAt,
  expiresAt = createdAt,
}: Pick<ApprovalRequest, 'startWithinMs' | 'createdAt' | 'expiresAt'>): number {
  return startWithinMs ?? Math.max(expiresAt - createdAt, day);
}

/** The request as it was when it was opened: without what people have done to it since. */
export function restoreOpened(request: ApprovalRequest): ApprovalRequest {
  return omitHistory(undoEdit(request));
}

/** The request as it was before anybody edited it. */
export function undoEdit(request: ApprovalRequest): ApprovalRequest {
  const { edit, toolCall, ...asked } = request;
  if (edit === undefined) return request;
  const { input, text, digest } = edit.original;
  return { ...asked, ...(toolCall && { toolCall: { ...toolCall, input } }), text, digest };
}

/** Copies a request and gives it its two methods, which `JSON.stringify` and spreading leave out. */
export function withAnswers<CALL extends ToolCall = ToolCall>(
  request: ApprovalRequest,
): ApprovalRequestContent<CALL>;
export function withAnswers(request: ApprovalRequest): ApprovalRequestContent {
  const { toolCall } = request;
  const copy = toolCall && { toolCall: { ...toolCall, input: copyPlain(toolCall.input) } };
  return Object.assign(new Answers(), request, copy);
}

class Answers {
  approve(this: ApprovalRequest, options?: ApproveOptions): ApprovalResponseContent {
    return approve(this, options);
  }

  reject(this: ApprovalRequest, reason?: string | RejectOptions): ApprovalResponseContent {
    return reject(this, reason);
  }
}

/** Finds the input of an approval: as given, or as `edit` makes it from the shown one; `undefined` for neither. */
function applyInputEdit(
  { requestId, toolCall }: { requestId: string; toolCall?: ToolCall | undefined },
  { input, edit }: { input?: unknown; edit?: ((draft: unknown) => unknown) | undefined },
): unknown {
  if (edit === undefined) return input;
  const shown = toolCall?.input;
  if (input !== undefined || typeof shown !== 'object' || shown === null) {
    throw new TypeError(
      `Request ${requestId} can't be approved with 'edit': ${
        input === undefined ? "its input is not an object; pass 'input'" : "pass 'input' or 'edit'"
      }.`,
    );
  }
  /* A copy, as the shown input belongs to the app: immer would freeze parts of it, and share the rest with the answer. */
  return produce(copyPlain(shown), (draft: unknown) => {
    const made = edit(draft);
    const fault = whyNotEdited(draft, made);
    if (fault !== undefined) throw new TypeError(`Request ${requestId}: 'edit' ${fault}.`);
    return typeof made === 'object' && made !== null ? made : undefined;
  });
}

/**
 * Finds the reason why an edit that returned `made` doesn't say what the new input is; `undefined` if it does. An assignment returns its
 * value.
 */
function whyNotEdited(draft: unknown, made: unknown): string | undefined {
  if (typeof made === 'function')
    return 'returned a function; change the draft, or return the new input';
  if (typeof made !== 'object' || made === null || made === draft) return undefined;
  if ('then' in made && typeof made.then === 'function') {
    /* It continues, and fails once the draft is finished. */
    void Promise.resolve(made).catch(() => undefined);
    return "can't be async: prepare the values before, and change the draft without await";
  }
  if (!isModified(draft) && !isDraft(made)) return undefined;
  return 'must either change the draft or return the new input; if it only changes the draft, give it a body in braces';
}
