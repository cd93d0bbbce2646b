import type { JSONValue, Tool, UserModelMessage } from 'ai';
import {
  type QuestionRequestContent,
  questionRequestSchema,
  type QuestionResponseContent,
  whyNotQuestion,
} from '../../content/question.ts';
import { readErrorText } from '../../content/error-text.ts';
import { copyPlain } from '../../content/plain-copy.ts';
import { describeRequesters } from '../../content/requesters.ts';
import type { ToolCall } from '../../content/tool-call.ts';
import { copyAsLogged } from '../../thread/tagged-json.ts';
import type { RequestMaking } from './make-request.ts';

/** A question that a call asks, without what the thread adds to it. */
export interface Question extends Pick<
  QuestionRequestContent,
  'kind' | 'text' | 'fields' | 'allowDismiss' | 'dismissAnswer' | 'metadata'
> {
  /** How long it can be answered, in milliseconds from now. Default: without limit. */
  expiresAfterMs?: number | undefined;
}

/** The result of a call that asked a question. */
export type QuestionResult =
  /** `message` is added after the results of the step. */
  | { status: 'succeeded'; output: JSONValue; message?: UserModelMessage }
  /** With `endsTurn` the model is not asked again before the next message. */
  | { status: 'failed'; error: string; endsTurn?: boolean };

/** How a tool's calls ask a question: this makes it a question tool. */
export interface Asking {
  /** Makes the question. Throws if the input can't be asked: the model gets the error, and nobody is asked. */
  toQuestion: (input: unknown) => Question;
  /** Makes the call's result from an answer that was checked against `request`. May be called more than once for an answer. */
  toResult: (response: QuestionResponseContent, request: QuestionRequestContent) => QuestionResult;
}

/** The key under which a tool keeps this. Registered, so that two copies of the package understand each other. */
export const asking: unique symbol = Symbol.for('holdpoint.asking');

/** How a tool asks; `undefined` for a tool that is executed. */
export function readAsking(tool: Tool): Asking | undefined {
  const value: unknown = Reflect.get(tool, asking);
  return isAsking(value) ? value : undefined;
}

function isAsking(value: unknown): value is Asking {
  return typeof value === 'object' && value !== null && 'toQuestion' in value;
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

/**
 * Checks what one of a tool's two functions returned. Throws for a promise, and handles its rejection, which would otherwise end the
 * process.
 */
export function refusePromise<VALUE>(value: VALUE, made: 'toQuestion' | 'toResult'): VALUE {
  if (!(value instanceof Promise)) return value;
  value.catch(() => {});
  throw new TypeError(`${made} must not be asynchronous.`);
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
