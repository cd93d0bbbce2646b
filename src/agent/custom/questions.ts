import type { FieldSchema } from '../../json/field-schema.ts';
import type { QuestionOption } from '../../content/question.ts';
import type { RequestDecision } from '../../content/user-input.ts';
import type { Question } from '../calls/question-call.ts';
import type { QuestionToAsk } from './custom-step.ts';

/** Settings of every question. */
interface QuestionSettings {
  /** True if the person may dismiss the question. Default `true`. */
  allowDismiss?: boolean;
  /** The time in which it can be answered, in milliseconds from now. Default: no limit. */
  expiresAfterMs?: number;
}

/** Settings of a choice. */
interface ChoiceSettings extends QuestionSettings {
  /** The minimum number of options to pick. Default 1. */
  min?: number;
  /** The maximum number of options to pick. Default 1; above 1, several may be picked. */
  max?: number;
  /** True if a text can be typed instead of the options, or with them. Default `false`. */
  allowText?: boolean;
  /** The ids of options that are selected when the question is first shown. They don't count as an answer. */
  preselected?: readonly string[];
}

/**
 * A question to be answered with yes or no. The answer is `yes` or `no`. It approves nothing: to ask for permission, use an
 * `approval-request`.
 */
export function confirmation(text: string, settings: QuestionSettings = {}): QuestionToAsk {
  const options = [
    { id: 'yes', label: 'Yes' },
    { id: 'no', label: 'No' },
  ];
  return { ...choice(text, options, settings), kind: 'confirmation' };
}

/**
 * A question with options to pick from, given as labels, or with an `id` and a `description`. The answers are the ids of the options that
 * were picked; the id of a label is the label.
 *
 * @example
 * return { requests: { tone: choice('Which tone?', ['Formal', 'Friendly']) } };
 * // and in the next step:
 * const [tone = 'Formal'] = answersOf(decisions.get('tone'));
 */
export function choice(
  text: string,
  options: readonly (string | QuestionOption)[],
  { min = 1, max = 1, allowText = false, preselected, ...settings }: ChoiceSettings = {},
): QuestionToAsk {
  return makeQuestionToAsk(text, settings, {
    options: options.map((option) =>
      typeof option === 'string' ? { id: option, label: option } : option,
    ),
    min,
    max,
    ...(preselected === undefined ? {} : { preselected: [...preselected] }),
    freeText: allowText ? 'optional' : 'never',
  });
}

/** Settings of a question to be answered with a text. */
interface TextSettings extends QuestionSettings {
  /** The schema of the text. Default: any text. */
  schema?: FieldSchema;
}

/**
 * A question to be answered with a text. The answer is the text.
 *
 * @example
 * return { requests: { seats: textQuestion('How many seats?', { schema: { type: 'integer', minimum: 1 } }) } };
 */
export function textQuestion(
  text: string,
  { schema, ...settings }: TextSettings = {},
): QuestionToAsk {
  return makeQuestionToAsk(text, settings, {
    options: [],
    min: 0,
    max: 0,
    freeText: 'only',
    ...(schema && { schema }),
  });
}

function makeQuestionToAsk(
  text: string,
  { allowDismiss = true, expiresAfterMs }: QuestionSettings,
  field: Omit<Question['fields'][number], 'key' | 'label'>,
): QuestionToAsk {
  return {
    type: 'question-request',
    kind: field.freeText === 'only' ? 'question' : 'choice',
    text,
    fields: [{ key: 'answer', label: text, ...field }],
    allowDismiss,
    ...(expiresAfterMs === undefined ? {} : { expiresAfterMs }),
  };
}

/**
 * The answers to a question, in the order of its fields: the ids of the options that were picked, and the text that was typed. Empty unless
 * the question was answered: also if it was dismissed, has expired, or was cancelled.
 */
export function answersOf(decision: RequestDecision | undefined): readonly string[] {
  const { status, response } = decision ?? {};
  if (status !== 'answered' || response?.type !== 'question-response') return [];
  if (response.status !== 'answered') return [];
  return response.answers.flatMap(({ optionIds, text }) => [
    ...optionIds,
    ...(text === undefined ? [] : [text]),
  ]);
}
