import type { JSONValue, Tool, UserModelMessage } from 'ai';
import { z } from 'zod';
import { renderSchemaError } from '../../json/field-fault.ts';
import { readErrorText } from '../../content/app-errors.ts';
import { copyPlain } from '../../json/json-value.ts';
import {
  type QuestionRequestContent,
  questionRequestSchema,
  type QuestionResponseContent,
  whyNotQuestion,
} from '../../content/question.ts';
import { describeRequesters } from '../../content/requesters.ts';
import type { ToolCall, CallPlace, ToolCallRecord } from '../../content/tool-call.ts';
import { HoldpointError } from '../../errors.ts';
import { isEqualJson } from '../../policy/digest.ts';
import { whyNotStrictJson } from '../../json/strict-json.ts';
import { copyAsLogged } from '../../json/tagged-json.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import { isExpired, type OpenRequest, type ThreadHead } from '../../thread/thread-head.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import { callOfId, refuseUnless } from '../../thread/thread-state.ts';
import { makeCloseDuringEvents } from './close-requests.ts';
import type { RequestMaking } from './make-request.ts';
import { listAskedDuring } from '../../thread/open-requests.ts';

/** A question that a call asks, without what the thread adds to it. See ADR 10. */
export interface Question extends Pick<
  QuestionRequestContent,
  'kind' | 'text' | 'fields' | 'allowDismiss' | 'dismissAnswer' | 'metadata'
> {
  /** The time in which it can be answered, in milliseconds from now. Default: no limit. */
  expiresAfterMs?: number | undefined;
}

/** The result of a call that asked a question. */
export type QuestionResult =
  /** `message` is added after the results of the step. */
  | { status: 'succeeded'; output: JSONValue; message?: UserModelMessage }
  /** With `endsTurn` the model is not asked again before the next message. */
  | { status: 'failed'; error: string; endsTurn?: boolean };

/** Makes a tool a question tool: its calls ask a question. */
export interface Asking {
  /** Makes the question. Throws if the input can't be asked: the model gets the error, and no person is asked. */
  toQuestion: (input: unknown) => Question;
  /** Makes the call's result from an answer that was checked against `request`. May be called more than once for an answer. */
  toResult: (response: QuestionResponseContent, request: QuestionRequestContent) => QuestionResult;
}

/** The key under which a tool keeps this. Registered, so that two copies of the package understand each other. */
export const asking: unique symbol = Symbol.for('holdpoint.asking');

/** Reads how a tool asks; `undefined` for a tool that is executed. */
export function readAsking(tool: Tool): Asking | undefined {
  const value: unknown = Reflect.get(tool, asking);
  return isAsking(value) ? value : undefined;
}

function isAsking(value: unknown): value is Asking {
  return typeof value === 'object' && value !== null && 'toQuestion' in value;
}

/** The question of a call, or the error for the model if it can't be asked. */
export function makeCallQuestion(
  making: RequestMaking,
  { toQuestion }: Asking,
  { input }: ToolCall,
): { request: QuestionRequestContent } | { error: string } {
  try {
    return {
      request: makeQuestion(making, refusePromise(toQuestion(copyPlain(input)), 'toQuestion')),
    };
  } catch (error) {
    return { error: readErrorText(error) };
  }
}

/**
 * Checks what one of a tool's two functions returned. Throws for a promise, and handles its rejection, which would otherwise end the
 * process.
 */
export function refusePromise<VALUE>(value: VALUE, made: 'toQuestion' | 'toResult'): VALUE {
  if (!(value instanceof Promise)) return value;
  value.catch(() => {});
  throw new TypeError(`${made} must not be asynchronous.`);
}

/* The fields of a question that a tool may set; the agent sets the others, above all the id. */
const askedSchema = questionRequestSchema.pick({
  kind: true,
  text: true,
  fields: true,
  allowDismiss: true,
  dismissAnswer: true,
  metadata: true,
});

/** Makes the request for a question. Throws if it is invalid. */
export function makeQuestion(
  { threadId, requestedBy, requesters, now, generateId }: RequestMaking,
  { expiresAfterMs, ...question }: Question,
): QuestionRequestContent {
  const createdAt = now();
  const request = questionRequestSchema.parse({
    ...askedSchema.parse(copyAsLogged(question)),
    type: 'question-request',
    requestId: generateId(),
    threadId,
    ...describeRequesters({ requestedBy, requesters }),
    createdAt,
    ...(expiresAfterMs === undefined ? {} : { expiresAt: createdAt + expiresAfterMs }),
  });
  const fault = whyNotQuestion(request);
  if (fault !== undefined) throw new TypeError(`Not a valid question: ${fault}.`);
  return request;
}

/** A question that a tool asks during its call. */
interface AskedDuringCall {
  toolCallId: string;
  question: Question;
  replyTo: unknown;
}

/**
 * Asks a question on behalf of a call. The same question again changes nothing; another replaces it, as a tool waits for one answer at a
 * time.
 */
export async function askDuringCall(
  log: ThreadLog,
  making: Omit<RequestMaking, 'threadId'>,
  { toolCallId, question, replyTo }: AskedDuringCall,
): Promise<QuestionRequestContent> {
  const { threadId } = log.state;
  const { requestedBy, requesters } = log.state.head;
  const asked = makeAsked({ ...making, threadId, requestedBy, requesters }, question, replyTo);
  let standing = asked.request;
  await log.commit((proposal) => {
    const at = making.now();
    const call = callOfId(proposal.state, toolCallId, at);
    refuseUnless(call, ['deferred', 'started', 'indeterminate'], 'a person can be asked');
    refuseOverdue(call, at);
    const open = findRequestDuring(proposal.head, call);
    const isOpen =
      open !== undefined && isSameQuestion(open, asked) && !isExpired(open.request, at);
    if (!isOpen) proposal.add(...makeAskEvents(proposal.head, call, asked));
    standing = readQuestionRequest(findRequestDuring(proposal.head, call)) ?? standing;
  });
  return structuredClone(standing);
}

function findRequestDuring(head: ThreadHead, call: CallPlace): OpenRequest | undefined {
  return listAskedDuring(head, call)[0];
}

function readQuestionRequest(open: OpenRequest | undefined): QuestionRequestContent | undefined {
  return open?.request.type === 'question-request' ? open.request : undefined;
}

/* The next run ends it. */
function refuseOverdue({ toolCallId, expiresAt = Infinity }: ToolCallRecord, now: number): void {
  if (now < expiresAt) return;
  throw new HoldpointError(
    'not-allowed',
    `Call ${toolCallId} expired at ${new Date(expiresAt).toISOString()}; it can no longer ask.`,
  );
}

function makeAskEvents(
  head: ThreadHead,
  { step, index, expiresAt = Infinity }: ToolCallRecord,
  { request: asked, replyTo }: OpenRequest,
): ThreadEvent[] {
  const { createdAt: at } = asked;
  /* An answer after the call's deadline could not be sent. */
  const until = Math.min(asked.expiresAt ?? Infinity, expiresAt);
  const request = until === Infinity ? asked : { ...asked, expiresAt: until };
  const reply = replyTo === undefined ? {} : { replyTo };
  const replaced = { reason: 'The tool has asked another question.', at };
  return [
    ...makeCloseDuringEvents(head, { step, index }, replaced),
    { type: 'request-opened', at, beside: { step, index }, ...reply, request },
  ];
}

function makeAsked(making: RequestMaking, question: Question, replyTo: unknown) {
  const fault = replyTo === undefined ? undefined : whyNotStrictJson(replyTo);
  if (fault !== undefined) throw makeQuestionError(`replyTo must be JSON: ${fault}.`);
  try {
    return { request: makeQuestion(making, question), replyTo: copyPlain(replyTo) };
  } catch (error) {
    throw makeQuestionError(
      error instanceof z.ZodError ? renderSchemaError(error) : readErrorText(error),
      error,
    );
  }
}

function makeQuestionError(why: string, cause?: unknown): HoldpointError {
  return new HoldpointError('invalid-input', `Invalid question: ${why}`, { cause });
}

function isSameQuestion(standing: OpenRequest, asked: OpenRequest): boolean {
  return isEqualJson(pickQuestionContent(standing), pickQuestionContent(asked));
}

/* The stored question has its call; ids and times are ours. */
function pickQuestionContent({ request, replyTo }: OpenRequest): unknown {
  const {
    requestId: _id,
    requestedBy: _asker,
    requesters: _askers,
    createdAt: _at,
    expiresAt: _until,
    toolCall: _call,
    ...content
  } = request;
  return { content, replyTo: replyTo ?? null };
}
