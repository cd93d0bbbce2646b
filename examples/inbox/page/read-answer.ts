import type { QuestionAnswer, QuestionField, QuestionRequestContent } from 'holdpoint';

type Kind = QuestionRequestContent['kind'];

/** The value of the option for a typed text; no option of a question has it as its id. */
export const otherValue = '';

/** The names of the inputs of a field. Each has a prefix, as keys come from a model. */
export const inputNames = {
  option: ({ key }: QuestionField): string => `option:${key}`,
  text: ({ key }: QuestionField): string => `text:${key}`,
};

/** Where a text is typed: instead of the options, beside them, or alone. */
export function textPlace({ options, max, freeText }: QuestionField, kind: Kind) {
  if (freeText === 'never') return 'nowhere';
  if (freeText === 'only' || options.length === 0) return 'alone';
  return max > 1 || kind === 'confirmation' ? 'beside' : 'instead';
}

/** Reads the answer to a field. */
export function readAnswer(field: QuestionField, data: FormData, kind: Kind): QuestionAnswer {
  const picked = data.getAll(inputNames.option(field)).map(String);
  const optionIds = picked.filter((value) => value !== otherValue);
  const isUnused = textPlace(field, kind) === 'instead' && optionIds.length > 0;
  const typed = isUnused ? '' : typedText(data, inputNames.text(field));
  return { key: field.key, optionIds, ...(typed === '' ? {} : { text: typed }) };
}

/** What is missing in an answer, in words for the person. The server validates it again. */
export function whyIncomplete(
  { options, min, max, freeText }: QuestionField,
  { optionIds, text }: QuestionAnswer,
): string | undefined {
  if (optionIds.length > max) return `Pick at most ${max}.`;
  if (text !== undefined) return undefined;
  if (freeText === 'only') return 'Type an answer.';
  if (optionIds.length >= min) return undefined;
  if (options.length === 0) return 'Type an answer.';
  return min === 1 ? 'Pick one, please.' : `Pick at least ${min}.`;
}

/** The text in a field of a form, without the space around it; `''` if there is no such field. */
export function typedText(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value.trim() : '';
}
