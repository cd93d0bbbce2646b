import type { QuestionAnswer, QuestionField, QuestionRequestContent } from 'holdpoint';
import { typedText } from './typed-text.ts';

type Kind = QuestionRequestContent['kind'];

/** The value of the option that stands for a text of the person's own; no option of a question has it as its id. */
export const otherValue = '';

/** The names of the inputs of a field. A prefix each, as keys come from a model. */
export const inputNames = {
  option: ({ key }: QuestionField): string => `option:${key}`,
  text: ({ key }: QuestionField): string => `text:${key}`,
};

/** Where text of the person's own goes: in place of the options, beside what is picked, or alone. */
export function textPlace({ options, max, freeText }: QuestionField, kind: Kind) {
  if (freeText === 'never') return 'nowhere';
  if (freeText === 'only' || options.length === 0) return 'alone';
  return max > 1 || kind === 'confirmation' ? 'beside' : 'instead';
}

/** What was answered to a field. */
export function readAnswer(field: QuestionField, data: FormData, kind: Kind): QuestionAnswer {
  const picked = data.getAll(inputNames.option(field)).map(String);
  const optionIds = picked.filter((value) => value !== otherValue);
  const isUnused = textPlace(field, kind) === 'instead' && optionIds.length > 0;
  const typed = isUnused ? '' : typedText(data, inputNames.text(field));
  return { key: field.key, optionIds, ...(typed === '' ? {} : { text: typed }) };
}

/** What is missing in an answer, in words for the person. The server checks it all again. */
export function whyIncomplete(
  { options, min, max, freeText }: QuestionField,
  { optionIds, text }: QuestionAnswer,
): string | undefined {
  if (optionIds.length > max) return `Pick ${max} at the most.`;
  if (text !== undefined) return undefined;
  if (freeText === 'only') return 'Type an answer.';
  if (optionIds.length >= min) return undefined;
  if (options.length === 0) return 'Type an answer.';
  return min === 1 ? 'Pick one, please.' : `Pick ${min} at least.`;
}
