import type { JSONValue, Tool, UserModelMessage } from 'ai';
import { whyNotQuestion } from '../../content/check-answer.ts';
import { errorText } from '../../content/error-text.ts';
import { plainCopy } from '../../content/plain-copy.ts';
import {
  type QuestionRequestContent,
  questionRequestSchema,
  type QuestionResponseContent,
} from '../../content/question.ts';
import type { ToolCall } from '../../content/tool-call.ts';
import { jsonCopy } from '../../thread/tagged-json.ts';
import type { RequestMaking } from './make-request.ts';

/** What a call asks a person: a question without what the thread adds to it. */
export interface Question extends Pick<
  QuestionRequestContent,
  'kind' | 'text' | 'fields' | 'allowDismiss' | 'dismissAnswer' | 'metadata'
> {
  /** For how long it can be answered, in milliseconds from now. Default: for ever. */
  expiresAfterMs?: number | undefined;
}

/** What an answer makes of the call that asked. */
export type QuestionResult =
  /** `message` is said to the model after the results of the step. */
  | { status: 'succeeded'; output: JSONValue; message?: UserModelMessage }
  /** With `endsTurn` the model is not asked again before a new message. */
  | { status: 'failed'; error: string; endsTurn?: boolean };

/** How a tool asks: what makes it a question tool. */
export interface Asking {
  /** What is asked. Throws what the model is told, where the input can't be asked; nobody is asked then. */
  toQuestion: (input: unknown) => Question;
  /** The call's result. `response` is an answer to `request`: it was checked against it. Asked more than once for an answer. */
  toResult: (response: QuestionResponseContent, request: QuestionRequestContent) => QuestionResult;
}

/** Where a tool keeps how it asks. Registered, so that two copies of the package understand each other. */
export const asking: unique symbol = Symbol.for('holdpoint.asking');

/** How a tool asks; `undefined` for one that is run. */
export function askingOf(tool: Tool): Asking | undefined {
  const value: unknown = Reflect.get(tool, asking);
  return isAsking(value) ? value : undefined;
}

function isAsking(value: unknown): value is Asking {
  return typeof value === 'object' && value !== null && 'toQuestion' in value;
}

/* What a tool may say of a question; the rest is ours, the id first of all (rule 3). */
const askedSchema = questionRequestSchema.pick({
  kind: true,
  text: true,
  fields: true,
  allowDismiss: true,
  dismissAnswer: true,
  metadata: true,
});

/** What one of a tool's two functions gave. Throws for a promise, and takes it up, as its failure would end the process. */
export function settled<VALUE>(value: VALUE, made: 'toQuestion' | 'toResult'): VALUE {
  if (!(value instanceof Promise)) return value;
  value.catch(() => {});
  throw new TypeError(`${made} must not be asynchronous.`);
}

/** The request of a call that asks, or what the model is told where it can't be asked. */
export function questionOf(
  making: RequestMaking,
  { toQuestion }: Asking,
  { input }: ToolCall,
): { request: QuestionRequestContent } | { error: string } {
  try {
    return { request: makeQuestion(making, settled(toQuestion(plainCopy(input)), 'toQuestion')) };
  } catch (error) {
    return { error: errorText(error) };
  }
}

/** The request that asks a question. Throws where it can't be asked. */
export function makeQuestion(
  { threadId, requestedBy, now, generateId }: RequestMaking,
  { expiresAfterMs, ...question }: Question,
): QuestionRequestContent {
  const createdAt = now();
  const request = questionRequestSchema.parse({
    ...askedSchema.parse(jsonCopy(question)),
    type: 'question-request',
    requestId: generateId(),
    threadId,
    ...(requestedBy === undefined ? {} : { requestedBy }),
    createdAt,
    ...(expiresAfterMs === undefined ? {} : { expiresAt: createdAt + expiresAfterMs }),
  });
  const fault = whyNotQuestion(request);
  if (fault !== undefined) throw new TypeError(`The question can't be asked: ${fault}.`);
  return request;
}
