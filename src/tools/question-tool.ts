import { tool, type Tool } from 'ai';
import { z } from 'zod';
import { renderSchemaError } from '../json/field-fault.ts';
import { asking, type Question, type QuestionResult } from '../agent.ts';
import type { QuestionRequestContent, QuestionResponseContent } from '../content/question.ts';

export type { Question, QuestionResult } from '../agent.ts';

/** Options of `questionTool`. */
export interface QuestionToolOptions<INPUT> {
  /** The description for the model: what the tool asks and when to use it. */
  description: string;
  /** The model's input: the question that it wants to ask. Don't let the model decide policy (free text, dismissal, expiry) here. */
  inputSchema: z.ZodType<INPUT>;
  /** Makes the question for a person. If it throws, the model gets the error and no person is asked. */
  toQuestion: (input: INPUT) => Question;
  /**
   * Makes the call's result. The response was validated against the request; it may be a dismissal if the question allows one. Must be
   * a pure function: it may be called more than once.
   */
  toResult: (response: QuestionResponseContent, request: QuestionRequestContent) => QuestionResult;
}

/**
 * A tool whose calls are questions. A call is not executed: its question is asked and waits in `thread.activeRequests`, across restarts,
 * like an approval. The answer, passed to `agent.run` or `agent.respond`, becomes the call's result. It never approves another call.
 *
 * @example
 * const askAge = questionTool({
 *   description: 'Asks how old the traveller is.',
 *   inputSchema: z.object({ name: z.string() }),
 *   toQuestion: ({ name }) => ({
 *     kind: 'question',
 *     text: `How old is ${name}?`,
 *     fields: [{ key: 'age', label: 'Age', options: [], min: 0, max: 0, freeText: 'only' }],
 *     allowDismiss: false,
 *   }),
 *   toResult: (response) => ({
 *     status: 'succeeded',
 *     output: response.status === 'answered' ? (response.answers[0]?.text ?? '') : '',
 *   }),
 * });
 */
export function questionTool<INPUT>({
  description,
  inputSchema,
  toQuestion,
  toResult,
}: QuestionToolOptions<INPUT>): Tool {
  const question: Tool = tool({ description, inputSchema });
  return Object.assign(question, {
    [asking]: {
      toQuestion: (input: unknown): Question => {
        const parsed = inputSchema.safeParse(input);
        if (parsed.success) return toQuestion(parsed.data);
        throw new TypeError(`The question can't be asked: ${renderSchemaError(parsed.error)}`);
      },
      toResult,
    },
  });
}

/** The schema of a text from the model, with its description. It must not be blank; JSON Schema can only require that it is not empty. */
export function makeNonBlankText(description: string): z.ZodType<string> {
  return z
    .string()
    .refine((value) => value.trim() !== '', 'must not be blank')
    .meta({ description, minLength: 1 });
}
