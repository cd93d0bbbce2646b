import { jsonSchema, type Tool } from 'ai';
import { z } from 'zod';
import type { QuestionRequestContent, QuestionResponseContent } from '../content/question.ts';
import { textOf } from './input-text.ts';
import { type Question, type QuestionResult, questionTool } from './question-tool.ts';

const inputSchema = z.object({
  question: textOf('What the user is asked; not blank.'),
  options: z.union([z.string(), z.array(z.string())]),
});

/** What came of a choice, told apart where a string can't: an option can be called `cancelled`. */
export type UserChoice =
  | { status: 'selected'; option: string }
  | { status: 'typed'; text: string }
  | { status: 'cancelled' };

/** How a choice is told to the model. */
export interface UserChoiceOptions {
  /**
   * What the result is: `text` (the option's, the user's own, or `cancelled`; the default), or a `UserChoice` as JSON,
   * in which an option called `cancelled` is not a cancellation.
   */
  output?: 'text' | 'json';
}

/**
 * `user_choice`: one of several options, or what the user types instead. `options` is a JSON array in a string, and
 * an array is taken as well.
 */
export function userChoice({ output = 'text' }: UserChoiceOptions = {}): Tool {
  const choice = questionTool({
    description:
      'Use this to let the user pick one of a clear set of options, or say something else. It serves to confirm before a ' +
      'significant step that is no tool call (a call that needs a yes is asked about by itself), where the way on branches on ' +
      'what they prefer, or where what they mean could be read in several ways. Give at least one option. Do not use it when a free answer is expected (ask in your text), for yes or no (ask directly), ' +
      'or with more than seven or eight options. Gives the exact text of the option, their own text, or "cancelled".',
    inputSchema,
    toQuestion,
    toResult: (response, request): QuestionResult => {
      const chosen = chosenIn(response, request);
      return { status: 'succeeded', output: output === 'json' ? chosen : choiceText(chosen) };
    },
  });
  return Object.assign(choice, { inputSchema: advertised });
}

/** A choice as text. */
export function choiceText(choice: UserChoice): string {
  if (choice.status === 'cancelled') return 'cancelled';
  return choice.status === 'selected' ? choice.option : choice.text;
}

/* The model is told of the string alone; an array is what many models send all the same. */
const advertised = jsonSchema<z.infer<typeof inputSchema>>(
  {
    type: 'object',
    properties: {
      question: { type: 'string', description: 'What the user is asked; not blank.', minLength: 1 },
      options: { type: 'string', description: 'A JSON array of option strings.' },
    },
    required: ['question', 'options'],
    additionalProperties: false,
  },
  {
    validate: (value) => {
      const parsed = inputSchema.safeParse(value);
      return parsed.success
        ? { success: true, value: parsed.data }
        : { success: false, error: new Error(z.prettifyError(parsed.error)) };
    },
  },
);

function toQuestion({ question, options }: z.infer<typeof inputSchema>): Question {
  return {
    kind: 'choice',
    text: question,
    fields: [
      {
        key: 'choice',
        label: question,
        options: labelsOf(options).map((label, index) => ({ id: String(index + 1), label })),
        min: 1,
        max: 1,
        freeText: 'optional',
      },
    ],
    allowDismiss: true,
  };
}

function labelsOf(options: string | readonly string[]): readonly string[] {
  const list: unknown = typeof options === 'string' ? parsedJson(options) : options;
  if (!Array.isArray(list)) throw new Error('Error: options must be a JSON array of strings');
  if (list.length === 0) throw new Error('Error: at least one option must be provided');
  const labels = z.array(z.string()).safeParse(list);
  if (!labels.success) throw new Error('Error: all options must be strings');
  return labels.data;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const { message } = cause instanceof Error ? cause : { message: 'it is not JSON' };
    throw new Error(`Error parsing options JSON: ${message}`, { cause });
  }
}

function chosenIn(
  response: QuestionResponseContent,
  { fields }: QuestionRequestContent,
): UserChoice {
  if (response.status === 'dismissed') return { status: 'cancelled' };
  const [answer] = response.answers;
  const [id] = answer?.optionIds ?? [];
  const picked = fields[0]?.options.find((option) => option.id === id);
  if (picked !== undefined && (answer?.text ?? '') !== '') {
    throw new Error('pick an option or say something else, not both.');
  }
  if (picked !== undefined) return { status: 'selected', option: picked.label };
  return { status: 'typed', text: answer?.text ?? '' };
}
