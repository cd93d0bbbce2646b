import { tool, type Tool } from 'ai';
import { z } from 'zod';
import { asking, type Question, type QuestionResult } from '../agent/calls/question-call.ts';
import type { QuestionRequestContent, QuestionResponseContent } from '../content/question.ts';

export type { Question, QuestionResult } from '../agent/calls/question-call.ts';

/** What a question tool is made of. */
export interface QuestionToolOptions<INPUT> {
  /** Tells the model what the tool asks, and when to use it. */
  description: string;
  /** What the model gives: what it wants to ask. Policy (free text, dismissal, expiry) is never in it. */
  inputSchema: z.ZodType<INPUT>;
  /** What a person is asked. Throws what the model is told when the input can't be asked; nobody is asked then. */
  toQuestion: (input: INPUT) => Question;
  /**
   * The call's result. The response was checked against the request; it may be a dismissal where the question allows one. It may
   * be asked for more than once, and must depend on nothing else.
   */
  toResult: (response: QuestionResponseContent, request: QuestionRequestContent) => QuestionResult;
}

/**
 * A tool whose call is a question: it is not run but asked, and waits among `thread.activeRequests`, through restarts, like an
 * approval. The answer, by `agent.run` or `agent.respond`, becomes its result. Its answer never approves another call.
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
  const asked: Tool = tool({ description, inputSchema });
  return Object.assign(asked, {
    [asking]: {
      toQuestion: (input: unknown): Question => {
        const parsed = inputSchema.safeParse(input);
        if (parsed.success) return toQuestion(parsed.data);
        throw new TypeError(`This can't be asked: ${z.prettifyError(parsed.error)}`);
      },
      toResult,
    },
  });
}
