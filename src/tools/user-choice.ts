import { jsonSchema, type Tool } from 'ai';
import { z } from 'zod';
import { renderSchemaError } from '../json/field-fault.ts';
import {
  makeChoice,
  type QuestionRequestContent,
  type QuestionResponseContent,
} from '../content/question.ts';
import {
  makeNonBlankText,
  type Question,
  type QuestionResult,
  questionTool,
} from './question-tool.ts';

const inputSchema = z.object({
  question: makeNonBlankText('What the user is asked; not blank.'),
  options: z.union([z.string(), z.array(z.string())]),
});

/** The result of a choice. Unlike a string, it distinguishes a cancellation from an option labelled `cancelled`. */
export type UserChoice =
  | {
      /** The user picked an option. */
      status: 'selected';
      /** The option. */
      option: string;
    }
  | {
      /** The user typed something else. */
      status: 'typed';
      /** The text that they typed. */
      text: string;
    }
  | {
      /** The user gave no answer. */
      status: 'cancelled';
    };

/** Options of `userChoice`. */
export interface UserChoiceOptions {
  /**
   * The format of the result for the model: `text` (the option, the text that the user typed, or `cancelled`; the default), or `json` (a
   * `UserChoice`).
   */
  output?: 'text' | 'json';
}

/**
 * `user_choice`: one of several options, or a text that the user types instead. `options` is a JSON array in a string; an array is
 * accepted too.
 */
export function userChoice({ output = 'text' }: UserChoiceOptions = {}): Tool {
  const choice = questionTool({
    description:
      'Use this to let the user select one of a clear set of options or type something else: to confirm a significant action that is ' +
      'not a tool call (tool calls that need an approval ask for it automatically), when how to continue depends on the preferences of ' +
      'the user, or when a request can be understood in several ways. Give at least one option. Do not use it when you expect a free answer (ask in your text), for yes or no (ask directly), ' +
      'or with more than seven or eight options. Returns the exact text of the option, the text that the user typed, or "cancelled".',
    inputSchema,
    toQuestion,
    toResult: (response, request): QuestionResult => {
      const chosen = toUserChoice(response, request);
      return { status: 'succeeded', output: output === 'json' ? chosen : choiceText(chosen) };
    },
  });
  return Object.assign(choice, { inputSchema: modelSchema });
}

/** Converts a choice to text: the option, the typed text, or `cancelled`. */
function choiceText(choice: UserChoice): string {
  if (choice.status === 'cancelled') return 'cancelled';
  return choice.status === 'selected' ? choice.option : choice.text;
}

/* The schema for the model allows only a string; arrays are accepted because many models send them anyway. */
const modelSchema = jsonSchema<z.infer<typeof inputSchema>>(
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
        : { success: false, error: new Error(renderSchemaError(parsed.error)) };
    },
  },
);

function toQuestion({ question, options }: z.infer<typeof inputSchema>): Question {
  return makeChoice({
    kind: 'choice',
    text: question,
    key: 'choice',
    options: parseLabels(options).map((label, index) => ({ id: String(index + 1), label })),
    freeText: 'optional',
  });
}

function parseLabels(options: string | readonly string[]): readonly string[] {
  const list: unknown = typeof options === 'string' ? parseOptionsJson(options) : options;
  if (!Array.isArray(list)) throw new Error('Error: options must be a JSON array of strings');
  if (list.length === 0) throw new Error('Error: at least one option must be provided');
  const labels = z.array(z.string()).safeParse(list);
  if (!labels.success) throw new Error('Error: all options must be strings');
  return labels.data;
}

function parseOptionsJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const { message } = cause instanceof Error ? cause : { message: 'it is not JSON' };
    throw new Error(`Error parsing options JSON: ${message}`, { cause });
  }
}

function toUserChoice(
  response: QuestionResponseContent,
  { fields }: QuestionRequestContent,
): UserChoice {
  if (response.status === 'dismissed') return { status: 'cancelled' };
  const [answer] = response.answers;
  const [id] = answer?.optionIds ?? [];
  const selected = fields[0]?.options.find((option) => option.id === id);
  if (selected !== undefined && (answer?.text ?? '') !== '') {
    throw new Error('select an option or type an answer, not both.');
  }
  if (selected !== undefined) return { status: 'selected', option: selected.label };
  return { status: 'typed', text: answer?.text ?? '' };
}
